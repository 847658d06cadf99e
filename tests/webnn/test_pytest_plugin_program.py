"""Tests of a program, as somebody writes them who uses the fixtures of the pytest plugin: docs/testing.md shows them."""

from __future__ import annotations

import numpy as np
import pytest

import webnn
from webnn.pytest_plugin import ProfileChooser


def double(value: float) -> tuple[str, float]:
    """The program: return the best device that takes the graph, and what it computes."""
    for deviceType in ("npu", "gpu", "cpu"):
        try:
            context = webnn.navigator.ml.createContextSync({"deviceType": deviceType})
            builder = webnn.MLGraphBuilder(context)
            x = builder.input("x", dataType="float32", shape=[1])
            graph = builder.buildSync({"y": builder.add(x, x)})
            result = context.computeSync(graph, {"x": np.array([value], np.float32)}, {"y": np.empty(1, np.float32)})
        except (webnn.NotSupportedError, webnn.OperationError):
            continue
        return deviceType, float(result["outputs"]["y"][0])
    raise RuntimeError("no device takes the graph")


@pytest.mark.webnn(profile="coreml", fallback="deny")
def test_the_best_device() -> None:
    assert double(3) == ("npu", 6)


@pytest.mark.webnn_profile("coreml")
def test_without_an_npu(webnn_faults: webnn.Faults) -> None:
    webnn_faults.refuse = "npu"
    assert double(3) == ("gpu", 6)


@pytest.mark.webnn_profile("coreml")
@pytest.mark.parametrize("fault", [{"failBuild": 1}, {"failCompute": 1}])
def test_a_driver_that_fails_once(webnn_faults: webnn.Faults, fault: dict[str, int]) -> None:
    for parameter, number in fault.items():
        setattr(webnn_faults, parameter, number)
    assert double(3) == ("gpu", 6)
    assert webnn_faults.contexts == 2


@pytest.mark.webnn_profile("coreml")
def test_too_little_memory(webnn_faults: webnn.Faults) -> None:
    webnn_faults.memoryLimit = 7
    with pytest.raises(RuntimeError, match="no device takes the graph"):
        double(3)


@pytest.mark.parametrize("webnn_profile", ["coreml", "dml", "ort"], indirect=True)
def test_in_several_browsers(webnn_profile: ProfileChooser) -> None:
    assert double(3) == ("npu", 6)


def test_an_old_windows(webnn_profile: ProfileChooser) -> None:
    profile = webnn_profile("dml-fl4_0")
    assert profile.devices["npu"] == "gpu"
    with webnn.emulate(fallback="deny"):
        assert double(3) == ("gpu", 6)
