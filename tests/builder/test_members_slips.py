"""Slips that Python programs make and that would pass silently: methods that are not called, promises that are not awaited."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.support import CURRENT, make_context, refused
from webnn import ML, MLGraphBuilder, WebNNTypeError

UNCALLED: dict[str, tuple[str, Callable[[Any], object]]] = {
    "dataType ==": ("dataType", lambda operand: operand.dataType == "float32"),
    "dataType !=": ("dataType", lambda operand: operand.dataType != "float32"),
    "in": ("dataType", lambda operand: operand.dataType in ["float32", "float16"]),
    "a key": ("dataType", lambda operand: {"float32": np.float32}[operand.dataType]),
    "shape ==": ("shape", lambda operand: operand.shape == [2, 3]),
    "len": ("shape", lambda operand: len(operand.shape)),
    "an element": ("shape", lambda operand: operand.shape[0]),
    "unpacked": ("shape", lambda operand: [*operand.shape]),
    "truth": ("shape", lambda operand: bool(operand.shape)),
}


@pytest.mark.parametrize("use", UNCALLED)
def test_a_method_that_is_not_called(use: str) -> None:
    name, call = UNCALLED[use]
    operand = MLGraphBuilder(make_context()).input("x", dataType="float32", dimensions=[2, 3])
    with pytest.raises(
        WebNNTypeError, match=rf"{name}: it is a method .*: write operand\.{name}\(\); ML\(revision=.2026-06.\) has"
    ) as caught:
        call(operand)
    assert caught.value.operation == name


def test_a_method_as_an_argument() -> None:
    builder = MLGraphBuilder(make_context())
    operand: Any = builder.input("x", dataType="float32", dimensions=[2, 3])
    with pytest.raises(WebNNTypeError, match=r"^reshape: newShape must be a sequence, got <method .*: write operand\.shape\(\)>"):
        builder.reshape(operand, operand.shape)


def test_what_a_method_shows() -> None:
    operand = MLGraphBuilder(make_context()).input("x", dataType="float32", dimensions=[2, 3])
    assert f"{operand.dataType} {operand.shape!r}" == (
        "<method dataType of MLOperand: write operand.dataType()> <method shape of MLOperand: write operand.shape()>"
    )
    assert (operand.dataType(), operand.shape()) == ("float32", [2, 3])
    assert callable(operand.shape)
    assert operand.shape() is not operand.shape()
    with pytest.raises(WebNNTypeError, match="got <method dataType of MLOperand"):
        operand._builder.cast(operand, operand.dataType)  # type: ignore[attr-defined]


def test_attributes_are_values() -> None:
    operand = MLGraphBuilder(make_context(CURRENT)).input("x", dataType="float32", shape=[2, 3])
    assert f"{operand.dataType} {operand.shape}" == "float32 (2, 3)"
    assert operand.dataType in {"float32"}
    assert (*operand.shape,) == operand.shape == (2, 3)


async def test_promises_that_are_not_awaited() -> None:
    former, latest = make_context(), make_context(CURRENT)
    builder = MLGraphBuilder(former)
    x: Any = builder.input("x", dataType="float32", dimensions=[2])
    context = ML(revision="2024-06").createContext()
    graph = builder.build({"y": builder.neg(x)})
    tensor = latest.createTensor(dataType="float32", shape=[2], writable=True)
    built: Any = await graph

    async def make_array() -> None: ...

    array: Any = make_array()
    slips: list[tuple[Callable[[], object], str]] = [
        (lambda: MLGraphBuilder(context), "MLGraphBuilder: context must be an MLContext, got a Future: await it"),
        (lambda: former.computeSync(graph, {}, {}), "compute: graph must be an MLGraph, got a Future: await it"),
        (
            lambda: former.computeSync(built, {"x": array}, {}),
            "compute: inputs['x'] must be a NumPy array or an object with a buffer, got a coroutine: await",
        ),
        (lambda: former.computeSync(built, context, {}), "compute: inputs must be a mapping from names to arrays, got a Future: await it"),
        (lambda: latest.writeTensor(tensor, np.zeros(2)), "writeTensor: tensor must be an MLTensor, got a Future: await it"),
        (lambda: latest.dispatch(graph, {}, {}), "dispatch: graph must be an MLGraph, got a Future: await it"),
        (lambda: builder.relu(context), "relu: input must be an MLOperand, got a Future: await it"),
        (lambda: builder.constant(x, 1), "constant: type must be one of"),
    ]
    for call, message in slips:
        with pytest.raises(WebNNTypeError, match=f"^{re.escape(message)}"):
            call()
    await asyncio.gather(context, tensor, array)


def test_parts_of_an_array_that_was_transferred() -> None:
    context = make_context()
    builder = MLGraphBuilder(context)
    descriptor: Any = {"dataType": "float32", "dimensions": [2]}
    graph = builder.buildSync({"y": builder.neg(builder.input("x", descriptor))})
    batch = np.zeros((3, 2), np.float32)
    result = context.computeSync(graph, {"x": batch[0]}, {"y": np.empty((1, 2), np.float32)})
    with refused(rule="detached", operation="compute", argument="inputs['x']", said="array[i].copy()"):
        context.computeSync(graph, {"x": batch[1]}, {})
    with refused(rule="detached", operation="constant", argument="bufferView", said="array[i].copy()"):
        builder.constant(descriptor, batch[2])
    # The advice helps.
    context.computeSync(graph, {"x": batch[1].copy()}, {})
    # The same array once more is not a part of it.
    with refused(rule="detached", operation="constant", argument="bufferView"):
        builder.constant({"dataType": "float32", "dimensions": [3, 2]}, batch)
    # A result's parts are told the same way.
    y = result["outputs"]["y"]
    context.computeSync(graph, {"x": y[0]}, {})
    with refused(rule="detached", operation="compute", argument="inputs['x']", said="array[i].copy()"):
        context.computeSync(graph, {"x": y[0]}, {})
