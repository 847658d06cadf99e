"""``webnn devices`` and ``webnn profiles`` for machines."""

from __future__ import annotations

import json
from typing import Any

import pytest
from typer.testing import CliRunner

from tests.context.devices import inventories
from tests.context.devices.inventories import CUDA_GPU, make_inventory
from webnn.commands import main as cli
from webnn.context.profiles import PROFILES


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
