"""``webnn devices`` and ``webnn profiles`` for machines."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from tests.context.devices import inventories
from tests.context.devices.inventories import CUDA_GPU, make_inventory
from webnn.commands import main as cli
from webnn.context.profiles import PROFILES
from webnn.context.profiles.profile import operand_names


def told(*arguments: str) -> Any:
    result = CliRunner().invoke(cli.app, [*arguments, "--json"])
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_devices(monkeypatch: pytest.MonkeyPatch) -> None:
    inventories.install(monkeypatch, make_inventory(CUDA_GPU))
    found = told("devices")
    assert {"webnn", "python", "numpy", "onnx"} <= found["packages"].keys()
    assert [each["type"] for each in found["providers"]["CUDAExecutionProvider"]["devices"]] == ["gpu"]
    assert found["deviceTypes"]["gpu"]["device"] == "gpu"
    assert found["deviceTypes"]["gpu"]["providers"] == ["CUDAExecutionProvider", "CPUExecutionProvider"]
    assert found["deviceTypes"]["npu"]["device"] == "gpu"
    assert found["deviceTypes"]["npu"]["reasons"]


def test_profiles() -> None:
    assert list(told("profiles")) == list(PROFILES)
    (profile,) = told("profiles", "coreml").values()
    assert profile["devices"] == {"cpu": "cpu", "gpu": "gpu", "npu": "npu"}
    assert profile["maxTensorByteLength"] == 2**31 - 1


def shown(*arguments: str) -> list[str]:
    """Return the lines that a person sees, with single spaces."""
    result = CliRunner().invoke(cli.app, ["profiles", *arguments])
    assert result.exit_code == 0, result.output
    return [" ".join(line.split()) for line in result.stdout.splitlines()]


@pytest.mark.parametrize("show", [(), ("show",)], ids=["profiles", "profiles show"])
def test_the_limits_of_a_profile(show: tuple[str, ...]) -> None:
    lines = shown(*show, "coreml")
    assert lines[0].startswith("coreml Core ML in Chromium, ")
    assert {"input 0 to 5-D float32, float16, int32", "relu input, output: 0 to 5-D float32, float16"} <= set(lines)
    conv = lines.index("conv2d input, filter, output: 4-D float32, float16")
    assert lines[conv + 1] == "bias: 1-D float32, float16"
    assert "source: certainty transcribed from source, never compared with a running browser" in lines
    assert not [line for line in lines if "build():" in line]


def test_the_rules_of_a_profile() -> None:
    lines = shown("tflite")
    assert "build(): groups must be 1 (split the input and the filter into their groups, and concat the results)" in lines
    for profile in PROFILES:
        text = "\n".join(shown(profile))
        assert [each for each in operand_names() if each not in text] == []


def test_the_limits_of_a_file(tmp_path: Path) -> None:
    file = tmp_path / "mine.json"
    rows = {"input": {"dataTypes": ["float32"], "rankRange": {"min": 4, "max": 4}}}
    file.write_text(json.dumps({"_extends": "coreml", "_native": {"conv2d": rows}, "gelu": None}))
    lines = shown(str(file))
    assert "native conv2d the rest runs on the CPU" in lines
    # The browser of the profile does not have the operations of a later draft either.
    assert any(line.startswith("lacks ") and "gelu" in line.removeprefix("lacks ").split(", ") for line in lines)
    # Without a name, one line is enough for each.
    assert len(shown()) == len(PROFILES)
    assert {"coreml:", "mine.json:"} <= set(shown("coreml", str(file)))
