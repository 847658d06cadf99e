"""How two graphs differ."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.support import make_context
from webnn import GraphDescription, MLGraphBuilder, describe
from webnn.formats.difference import Change, compare


def network(
    filters: Any = 1.0,
    *,
    size: int = 3,
    label: str = "first",
    slope: float = 0.1,
    doubled: bool = False,
    swapped: bool = False,
    input: str = "x",
    output: str = "y",
    shape: tuple[int, ...] = (1, 2, 8, 8),
    dataType: str = "float32",
) -> GraphDescription:
    builder = MLGraphBuilder(make_context("2026-06"))
    x = builder.input(input, {"dataType": dataType, "shape": shape})  # type: ignore[typeddict-item]
    elements = np.full((2, 2, size, size), 1.0, dataType)
    elements[0, 0, 0, 0] = filters
    weights = builder.constant({"dataType": dataType, "shape": elements.shape}, elements)  # type: ignore[typeddict-item]
    value = builder.conv2d(x, weights, padding=[size // 2] * 4, label=label)
    value = builder.leakyRelu(value, alpha=slope)
    if doubled:
        value = builder.relu(value, label="second")
    return describe({output: builder.sub(x, value) if swapped else builder.sub(value, x)})


def test_another_operator_makes_an_output() -> None:
    """Its name is the same in both graphs, so it says nothing."""

    def make(operation: str) -> GraphDescription:
        builder = MLGraphBuilder(make_context("2026-06"))
        return describe({"y": getattr(builder, operation)(builder.input("x", dataType="float32", shape=[2]))})

    assert Change("changed", "output 'y': 'y' comes from another operator") in compare(make("relu"), make("tanh")).structure


def test_no_difference() -> None:
    one = network()
    assert not compare(one, network())
    # The names of values do not count.
    described = replace(one, name="other", constants={"w": next(iter(one.constants.values()))})
    renamed = replace(described, operators=(replace(one.operators[0], inputs={"input": "x", "filter": "w"}), *one.operators[1:]))
    assert not compare(one, renamed)
    # Nor do the digits behind single precision, which files leave out.
    assert not compare(one, network(slope=float(np.float32(0.1))))
    assert compare(one, renamed).to_dict() == {"structure": (), "weights": ()}


STRUCTURE: dict[str, tuple[GraphDescription, list[tuple[str, str]]]] = {
    "an operator more": (
        network(doubled=True),
        [("added", "relu 'second': (leakyRelu) -> float32 [1, 2, 8, 8]"), ("changed", "sub (y): a: 'leakyRelu' became 'second'")],
    ),
    "an option": (
        network(slope=0.2),
        [("changed", "leakyRelu (leakyRelu): alpha 0.1 became 0.2")],
    ),
    "a label": (network(label=""), [("changed", "conv2d 'first': label first became (none)")]),
    "operands": (
        network(swapped=True),
        [("changed", "sub (y): a: 'leakyRelu' became 'x'"), ("changed", "sub (y): b: 'x' became 'leakyRelu'")],
    ),
    "an input": (
        network(input="z"),
        [
            ("removed", "input 'x': float32 [1, 2, 8, 8]"),
            ("added", "input 'z': float32 [1, 2, 8, 8]"),
            ("changed", "conv2d 'first': input: 'x' became 'z'"),
            ("changed", "sub (y): b: 'x' became 'z'"),
        ],
    ),
    "an output": (network(output="z"), [("removed", "output 'y': float32 [1, 2, 8, 8]"), ("added", "output 'z': float32 [1, 2, 8, 8]")]),
}


@pytest.mark.parametrize("name", STRUCTURE)
def test_structure(name: str) -> None:
    other, changes = STRUCTURE[name]
    found = compare(network(), other)
    assert found.structure == tuple(Change(kind, text) for kind, text in changes)  # type: ignore[arg-type]
    assert found.weights == ()


def test_types() -> None:
    found = compare(network(), network(dataType="float16"))
    assert Change("changed", "input 'x': float32 [1, 2, 8, 8] became float16 [1, 2, 8, 8]") in found.structure
    assert Change("changed", "output 'y': float32 [1, 2, 8, 8] became float16 [1, 2, 8, 8]") in found.structure
    assert Change("changed", "conv2d 'first': float32 [1, 2, 8, 8] became float16 [1, 2, 8, 8]") in found.structure


WEIGHTS: list[tuple[Any, Any, int, float]] = [(1.0, 1.5, 1, 0.5), (0.0, -0.0, 1, 0.0), (1.0, np.nan, 1, np.nan), (1.0, np.inf, 1, np.inf)]


@pytest.mark.parametrize(("one", "other", "count", "largest"), WEIGHTS)
def test_weights(one: float, other: float, count: int, largest: float) -> None:
    found = compare(network(one), network(other))
    assert found.structure == ()
    (weight,) = found.weights
    assert (weight.operator, weight.argument, weight.dataType, weight.shape) == ("conv2d 'first'", "filter", "float32", (2, 2, 3, 3))
    assert weight.count == count
    np.testing.assert_equal(weight.largest, largest)
    assert str(weight).startswith(f"conv2d 'first': filter: {count} of 36 elements differ, by at most ")


def test_weights_of_small_integers() -> None:
    def small(number: int) -> GraphDescription:
        builder = MLGraphBuilder(make_context("2026-06+browsers"))
        x = builder.constant({"dataType": "int4", "shape": [3]}, np.array([number | 0x70, 1], np.uint8))
        scale = builder.constant({"dataType": "float32", "shape": [3]}, np.ones(3, np.float32))
        zero = builder.constant({"dataType": "int4", "shape": [3]}, np.zeros(2, np.uint8))
        return describe({"y": builder.dequantizeLinear(x, scale, zero)})

    (weight,) = compare(small(1), small(0xF)).weights
    assert (weight.count, weight.largest) == (1, 2.0)  # 1 and -1


def test_a_constant_of_another_shape() -> None:
    found = compare(network(size=3), network(size=1))
    assert [change.text for change in found.structure] == [
        "conv2d 'first': padding [1, 1, 1, 1] became [0, 0, 0, 0]",
        "conv2d 'first': filter: constant float32 [2, 2, 3, 3] became float32 [2, 2, 1, 1]",
    ]
    build: Callable[[Any], Any] = lambda b: b.add(  # noqa: E731
        b.input("x", dataType="float32", shape=[2, 2]), b.constant({"dataType": "float32", "shape": [1]}, np.ones(1, np.float32))
    )
    other: Callable[[Any], Any] = lambda b: b.add(  # noqa: E731
        b.input("x", dataType="float32", shape=[2, 2]), b.constant("float32", 1)
    )
    one, two = (describe({"y": each(MLGraphBuilder(make_context("2026-06")))}) for each in (build, other))
    assert [str(change.text) for change in compare(one, two).structure] == ["add (y): b: constant float32 [1] became float32 []"]


def test_a_long_chain() -> None:
    """The common ends of two graphs are not searched."""

    def chain(length: int, odd: int) -> GraphDescription:
        builder = MLGraphBuilder(make_context("2026-06"))
        x = builder.input("x", dataType="float32", shape=[2])
        for number in range(length):
            x = builder.abs(x) if number == odd else builder.neg(x)
        return describe({"y": x})

    found = compare(chain(2000, -1), chain(2000, 1000))
    assert [change.kind for change in found.structure] == ["removed", "added", "changed"]
