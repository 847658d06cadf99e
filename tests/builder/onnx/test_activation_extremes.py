"""Extreme operands: no operation overflows where its result does not."""

from __future__ import annotations

import pytest

from tests.extremes import FUNCTIONS, NUMBERS, ROW_FUNCTIONS, ROWS, Array, assert_near, cast
from tests.support import compute_directly
from webnn import ML, MLGraphBuilder, reference
from webnn.builder.numerics import Numerics

TYPES = ("float32", "float16")


def computed(name: str, x: Array, numerics: Numerics) -> tuple[Array, Array]:
    """Compute by the engine and by the reference."""
    builder = MLGraphBuilder(ML(revision="2026-06", numerics=numerics).createContextSync())
    operand = builder.input("x", {"dataType": x.dtype.name, "shape": x.shape})  # type: ignore[typeddict-item]
    options = {"axes": [x.ndim - 1]} if name.startswith(("reduce", "layer")) else {}
    arguments = [x.ndim - 1] if name == "softmax" else []
    graph = builder.buildSync({"y": getattr(builder, name)(operand, *arguments, **options)})
    return compute_directly(graph, {"x": x})[0], reference.compute(graph.description, {"x": x})["y"]


@pytest.mark.parametrize("numerics", ["exact", "fast"])
@pytest.mark.parametrize("dataType", TYPES)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_elements(name: str, dataType: str, numerics: Numerics) -> None:
    x = cast(NUMBERS, dataType)
    for found in computed(name, x, numerics):
        assert_near(found, FUNCTIONS[name], x)


@pytest.mark.parametrize("numerics", ["exact", "fast"])
@pytest.mark.parametrize("dataType", TYPES)
@pytest.mark.parametrize("name", ROW_FUNCTIONS)
def test_rows(name: str, dataType: str, numerics: Numerics) -> None:
    x = cast(ROWS, dataType)
    for found in computed(name, x, numerics):
        assert_near(found, ROW_FUNCTIONS[name], x)
