"""The engine's failures in our words."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from tests.support import make_context
from webnn import MLContext, MLGraphBuilder, NotSupportedError, OperationError
from webnn.builder.onnx import translate
from webnn.builder.onnx.emitter import Emitter, Op, Translation
from webnn.context import engine


def compute(context: MLContext) -> Any:
    builder = MLGraphBuilder(context)
    x = builder.input("x", dataType="float32", dimensions=[2, 3])
    graph = builder.buildSync({"y": builder.relu(builder.add(x, x), label="mine")})
    return context.computeSync(graph, {"x": np.ones((2, 3), np.float32)}, {"y": np.zeros((2, 3), np.float32)})["outputs"]["y"]


FAILURES: list[tuple[str, Callable[[Emitter, Op], str], str]] = [
    ("unknown operator", lambda e, op: e.node("NoSuchOperator", [op["input"]]), "build: the engine refused the graph at relu"),
    ("wrong type", lambda e, op: e.node("Relu", [e.cast(op["input"], "int64")]), "build: the engine refused the graph at relu"),
    ("wrong attribute", lambda e, op: e.node("Relu", [op["input"]], axis=1), "build: the engine refused the graph at relu"),
    ("run time", lambda e, op: e.node("Reshape", [op["input"], e.ints([7])]), "compute: the engine failed in the graph at relu"),
]


@pytest.mark.parametrize(("emit", "message"), [case[1:] for case in FAILURES], ids=[case[0] for case in FAILURES])
def test_failures_name_the_operator(monkeypatch: pytest.MonkeyPatch, emit: Callable[[Emitter, Op], str], message: str) -> None:
    context = make_context()
    with monkeypatch.context() as patch:
        patch.setattr(translate, "TRANSLATIONS", {**translate.TRANSLATIONS, "relu": Translation(emit=emit)})
        with pytest.raises(OperationError) as caught:
            compute(context)
    assert str(caught.value).startswith(f"[mine] {message}: ")
    assert (caught.value.name, caught.value.operation, caught.value.label) == ("OperationError", "relu", "mine")
    assert caught.value.__cause__ is not None
    # The context goes on.
    assert compute(context).tolist() == [[2.0] * 3] * 2


async def test_failures_reject_the_future(monkeypatch: pytest.MonkeyPatch) -> None:
    context = make_context()
    bad = Translation(emit=lambda e, op: e.node("NoSuchOperator", [op["input"]]))
    monkeypatch.setattr(translate, "TRANSLATIONS", {**translate.TRANSLATIONS, "relu": bad})
    builder = MLGraphBuilder(context)
    future = builder.build({"y": builder.relu(builder.input("x", dataType="float32"))})
    with pytest.raises(OperationError, match="refused the graph at relu"):
        await future


def test_the_engine_reports_itself() -> None:
    assert engine.version()
    assert "CPUExecutionProvider" in engine.available_providers()


@pytest.mark.parametrize("module", [None, ModuleType("onnxruntime")], ids=["not installed", "an empty folder"])
def test_no_engine(monkeypatch: pytest.MonkeyPatch, module: ModuleType | None) -> None:
    engine._runtime.cache_clear()
    monkeypatch.setitem(sys.modules, "onnxruntime", module)
    try:
        with pytest.raises(NotSupportedError, match="install one of onnxruntime"):
            engine.version()
    finally:
        engine._runtime.cache_clear()
