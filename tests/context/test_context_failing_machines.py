"""Steps that fail only where a device, an engine or the memory does: a machine, a profile, an engine or a fault makes each of them fail.

No file of web-platform-tests can ask for these failures; `tools/upstream/reasons.toml` names the tests of this module.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest

from tests.context.devices.inventories import INVENTORIES, install
from tests.support import refused
from webnn import ML, GPUDevice, MLContext, MLGraphBuilder, MLOperand, NotSupportedError, OperationError, UnknownError
from webnn.builder.onnx import translate
from webnn.builder.onnx.emitter import Emitter, Op, Translation
from webnn.context.faults import Faults

FORMER, CURRENT = "2024-06", "2026-06"
DRAFTS = pytest.mark.parametrize("draft", [FORMER, CURRENT])
#: How a program of each draft asks for a device that is not the CPU.
ASKS: Mapping[str, Any] = MappingProxyType({FORMER: {"deviceType": "gpu"}, CURRENT: {"accelerated": True}})


def double(context: MLContext, draft: str) -> tuple[MLGraphBuilder, dict[str, MLOperand]]:
    """Describe a graph that adds its input to itself."""
    builder, size = MLGraphBuilder(context), "dimensions" if draft == FORMER else "shape"
    x = builder.input("x", {"dataType": "float32", size: [2]})
    return builder, {"y": builder.add(x, x)}


@DRAFTS
async def test_a_machine_without_the_device(monkeypatch: pytest.MonkeyPatch, draft: Any) -> None:
    install(monkeypatch, INVENTORIES["none"])
    ml = ML(revision=draft, fallback="deny")
    with refused(NotSupportedError, rule="device", operation="createContext"):
        ml.createContextSync({"deviceType": "gpu"})
    future = ml.createContext({"deviceType": "npu"})
    with refused(NotSupportedError, rule="device", operation="createContext"):
        await future
    assert ml.createContextSync({"deviceType": "cpu"})._state.selection.device == "cpu"


@DRAFTS
async def test_a_machine_without_a_device_of_webgpu(draft: Any) -> None:
    ml, device = ML(revision=draft, faults=Faults(refuse="gpu")), GPUDevice()
    with refused(NotSupportedError, rule="fault", operation="createContext"):
        ml.createContextSync(device)
    future = ml.createContext(device)
    with refused(NotSupportedError, rule="fault", operation="createContext"):
        await future


@DRAFTS
async def test_an_implementation_that_refuses_the_graph(draft: Any, tmp_path: Path) -> None:
    profile = tmp_path / "small.json"
    profile.write_text('{"_extends": "coreml", "_native": ["mul"]}', encoding="utf-8")
    context = ML(revision=draft, profile=profile, fallback="deny").createContextSync(ASKS[draft])
    builder, outputs = double(context, draft)
    with refused(OperationError, rule="device", operation="add"):
        builder.buildSync(outputs)
    builder, outputs = double(context, draft)
    future = builder.build(outputs)
    with refused(OperationError, rule="device", operation="add"):
        await future


async def test_a_computation_that_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    def emit(e: Emitter, op: Op) -> str:
        return e.node("Reshape", [op["a"], e.ints([7])])

    monkeypatch.setattr(translate, "TRANSLATIONS", {**translate.TRANSLATIONS, "add": Translation(emit=emit)})
    context = ML(revision=FORMER).createContextSync()
    builder, outputs = double(context, FORMER)
    graph = builder.buildSync(outputs)
    with refused(OperationError, rule="engine", operation="add"):
        context.computeSync(graph, {"x": np.ones(2, np.float32)}, {"y": np.zeros(2, np.float32)})
    future = context.compute(graph, {"x": np.ones(2, np.float32)}, {"y": np.zeros(2, np.float32)})
    with refused(OperationError, rule="engine", operation="add"):
        await future


DESCRIPTOR: Any = MappingProxyType({"dataType": "int8", "shape": [3]})
#: The methods that make tensors, and the allocation of each.
TENSORS: Mapping[str, tuple[str, Callable[[MLContext], Any], Callable[[MLContext], asyncio.Future[Any]]]] = MappingProxyType(
    {
        "createTensor": (
            "webnn.context.engine.memory.np.zeros",
            lambda context: context.createTensorSync(DESCRIPTOR),
            lambda context: context.createTensor(DESCRIPTOR),
        ),
        "createConstantTensor": (
            "webnn.context.tensor_steps.np.empty",
            lambda context: context.createConstantTensorSync(DESCRIPTOR, b"abc"),
            lambda context: context.createConstantTensor(DESCRIPTOR, b"abc"),
        ),
    }
)


async def check_no_memory(monkeypatch: pytest.MonkeyPatch, method: str) -> None:
    allocation, make, promise = TENSORS[method]
    context = ML(revision=CURRENT).createContextSync()
    with monkeypatch.context() as patch:
        patch.setattr(allocation, Mock(side_effect=MemoryError("none left")))
        with refused(UnknownError, rule="memory", operation=method, said="none left"):
            make(context)
        future = promise(context)
        with refused(UnknownError, rule="memory", operation=method, said="none left"):
            await future
    assert make(context).shape == (3,)


async def test_no_memory_for_a_tensor(monkeypatch: pytest.MonkeyPatch) -> None:
    await check_no_memory(monkeypatch, "createTensor")


async def test_no_memory_for_a_constant_tensor(monkeypatch: pytest.MonkeyPatch) -> None:
    await check_no_memory(monkeypatch, "createConstantTensor")
