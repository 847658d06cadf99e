"""``computePolicy``."""

from __future__ import annotations

import pytest

import webnn
from tests.support import each_row

REVISION = "2026-06+compute-policy"

DEVICES = [
    # the policy, the device that Core ML gives, and the power preference that it is asked for
    ("default", "gpu", "default"),
    ("high-performance", "gpu", "high-performance"),
    ("low-power", "npu", "low-power"),
    ("fallback", "cpu", "default"),
]


@each_row(("policy", "device", "power"), DEVICES)
def test_the_device(policy: str, device: str, power: str) -> None:
    context = webnn.ML(revision=REVISION, profile="coreml").createContextSync({"computePolicy": policy})
    builder = webnn.MLGraphBuilder(context)
    graph = builder.buildSync({"y": builder.relu(builder.input("x", {"dataType": "float32", "shape": [2]}))})
    assert (graph.devices, context._state.powerPreference) == ([device], power)


def test_the_default() -> None:
    ml = webnn.ML(revision=REVISION, profile="coreml")
    assert repr(ml.createContextSync()) == repr(ml.createContextSync({"computePolicy": "default"}))
    # Browsers take a device in every draft.
    assert ml.createContextSync({"deviceType": "npu", "computePolicy": "fallback"})._state.selection.device == "npu"


WRONG = [
    (
        {"computePolicy": "fast"},
        r"computePolicy must be one of \['default', 'high-performance', 'low-power', 'fallback'\] \(MLComputePolicy\)",
    ),
    ({"computePolicy": 1}, "computePolicy must be one of"),
    ({"powerPreference": "low-power"}, "powerPreference is not a member in the draft 2026-06.compute-policy, which has computePolicy"),
    ({"accelerated": True}, "accelerated is not a member in the draft 2026-06.compute-policy, which has computePolicy"),
]


@each_row(("options", "message"), WRONG)
def test_options_that_are_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(webnn.WebNNTypeError, match=f"^createContext: options.{message}"):
        webnn.ML(revision=REVISION).createContextSync(options)  # type: ignore[arg-type]


def test_members() -> None:
    assert not hasattr(webnn.ML(revision=REVISION).createContextSync(), "accelerated")
    context = webnn.ML(revision="2026-06").createContextSync()
    assert hasattr(context, "accelerated")
    with pytest.warns(webnn.WebNNWarning, match="computePolicy is ignored: it is not a member"):
        webnn.ML(revision="2026-06").createContextSync({"computePolicy": "fallback"})  # type: ignore[typeddict-unknown-key]
