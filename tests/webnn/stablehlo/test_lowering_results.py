"""The results of programs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import webnn.stablehlo
from tests.support import CURRENT, make_context
from webnn.context import once
from webnn.hlo import Function, Module, RegionBuilder
from webnn.hlo.attributes import DotDimensionNumbers
from webnn.hlo.ir import Value
from webnn.hlo.types import TensorType, TokenType, TupleType, Type


def test_a_program_must_return_a_tensor() -> None:
    types: list[Type] = [TokenType(), TupleType((TokenType(),))]
    for returned in (types, types[:1], []):
        main = RegionBuilder(returned)
        main.append("func.return", main.arguments)
        description, report = webnn.stablehlo.survey(
            Module(functions=(Function(name="main", body=main.build()),)), webnn.stablehlo.Settings()
        )
        assert description is None
        assert [(each.place, each.reason) for each in report.refusals] == [("results", "the function must return a tensor")]


ROW = TensorType(shape=(2,), element="f32")


def _main(*names: str) -> RegionBuilder:
    return RegionBuilder([ROW] * len(names))


def _load(main: RegionBuilder, names: Sequence[str], results: Sequence[Value], **options: Any) -> webnn.stablehlo.Imported:
    main.append("func.return", results)
    function = Function(name="main", body=main.build(), argument_names=tuple(names))
    return webnn.stablehlo.load(Module(functions=(function,)), **options)


@pytest.mark.parametrize("int32", [False, True])
def test_inputs_are_in_the_order_of_the_program(int32: bool) -> None:
    """`zip` with the names feeds the right ones, whatever the order of use."""
    names = ("b", "a", "c")
    main = _main(*names)
    (difference,) = main.append("stablehlo.subtract", [main.arguments[2], main.arguments[1]], [ROW])
    (total,) = main.append("stablehlo.subtract", [difference, main.arguments[0]], [ROW])
    imported = _load(main, names, [total], int32=int32)
    assert tuple(imported.description.inputs) == tuple(imported.inputs) == names
    assert imported.report.notes == ()
    arrays = [np.array([1, 10], np.float32), np.array([2, 20], np.float32), np.array([100, 1000], np.float32)]
    context = make_context(CURRENT)
    builder = webnn.MLGraphBuilder(context)
    graph = builder.buildSync(imported.description.build(builder))
    (found,) = once.compute(context, graph, dict(zip(imported.inputs, arrays, strict=True))).values()
    np.testing.assert_array_equal(found, arrays[2] - arrays[1] - arrays[0])


def test_an_unused_parameter_is_no_input() -> None:
    """No graph of WebNN has an input that its outputs do not need. The report names it."""
    names = ("unused", "x", "idle")
    main = _main(*names)
    (result,) = main.append("stablehlo.tanh", [main.arguments[1]], [ROW])
    imported = _load(main, names, [result])
    assert list(imported.inputs) == ["x"]
    (note,) = imported.report.notes
    assert "'unused', 'idle'" in note


@pytest.mark.parametrize(("element", "wider"), [("i16", "i32"), ("ui16", "i32"), ("bf16", "f32")])
def test_a_parameter_of_16_bits(element: str, wider: str) -> None:
    """It is refused by its name, with the type that has its numbers."""
    main = RegionBuilder([TensorType(shape=(2,), element=element)])
    (row,) = main.append("stablehlo.convert", main.arguments, [ROW])
    with pytest.raises(webnn.stablehlo.RefusedModelError) as caught:
        _load(main, ["samples"], [row])
    (refusal,) = caught.value.report.refusals
    assert refusal.place == "arguments['samples']"
    assert element in refusal.reason
    assert wider in refusal.advice


def test_weights_of_8_bits_stay_integers() -> None:
    integers = np.arange(-1024, 1024).astype(np.int8).reshape(64, 32)
    scale = np.linspace(1e-3, 1, 32, dtype=np.float32)
    main = RegionBuilder([TensorType(shape=(2, 64), element="f32")])
    wide = TensorType(shape=(64, 32), element="f32")
    (stored,) = main.append("stablehlo.constant", [], [TensorType(shape=(64, 32), element="i8")], {"value": integers})
    (scales,) = main.append("stablehlo.constant", [], [TensorType(shape=(32,), element="f32")], {"value": scale})
    (spread,) = main.append("stablehlo.broadcast_in_dim", [scales], [wide], {"broadcast_dimensions": (1,)})
    (numbers,) = main.append("stablehlo.convert", [stored], [wide])
    (weights,) = main.append("stablehlo.multiply", [numbers, spread], [wide])
    dimensions = DotDimensionNumbers(lhs_contracting_dimensions=(1,), rhs_contracting_dimensions=(0,))
    results = main.append(
        "stablehlo.dot_general",
        [main.arguments[0], weights],
        [TensorType(shape=(2, 32), element="f32")],
        {"dot_dimension_numbers": dimensions},
    )
    imported = _load(main, ["x"], results)
    assert [each.operation for each in imported.description.operators] == ["dequantizeLinear", "matmul"]
    assert max(each.descriptor.byte_length for each in imported.description.constants.values()) == integers.nbytes
    x = np.eye(64, dtype=np.float32)[:2]
    context = make_context(CURRENT)
    builder = webnn.MLGraphBuilder(context)
    graph = builder.buildSync(imported.description.build(builder))
    [actual] = once.compute(context, graph, {"x": x}).values()
    assert np.array_equal(actual, integers[:2].astype(np.float32) * scale)
