"""Sizes of dimensions with names in a model: which are computed in each run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from webnn.builder.onnx.emitter import Emitter
from webnn.builder.onnx.named import emit_sizes, infer_one
from webnn.validation.descriptor import OperandDescriptor


class Sum:
    """A sum of products of names, which is 5 if somebody asks."""

    def __init__(self, terms: Mapping[tuple[object, ...], int]) -> None:
        self.terms = terms
        self.name = next(iter(terms))[0] if len(terms) == 1 else None
        self.asked = False

    def __index__(self) -> int:
        self.asked = True
        return 5


def _emitter(size: Any) -> Emitter:
    emitter = Emitter()
    emitter.declare_input("x", OperandDescriptor("float32", (size, 4)))
    return emitter


def _nodes(emitter: Emitter) -> list[str]:
    return [node.op_type for node in emitter.finish().graph.node]


def test_known_sizes_are_one_initializer() -> None:
    emitter = _emitter(Sum({("n",): 1}))
    assert emit_sizes(emitter, [2, 3]) == emitter.literal(np.array([2, 3], np.int64))
    assert _nodes(emitter) == []


def test_a_sum_is_computed_of_the_shape_of_an_input() -> None:
    emitter = _emitter(Sum({("n",): 1}))
    total: Any = Sum({("n", "n"): 3, (): 1})
    emit_sizes(emitter, [2, total])
    assert _nodes(emitter) == ["Shape", "Shape", "Mul", "Mul", "Add", "Concat"]
    assert not total.asked


def test_a_name_that_no_input_has_is_a_number() -> None:
    emitter = _emitter(Sum({("n",): 1}))
    other: Any = Sum({(("//", "n"),): 1, ("n",): 1})
    assert emit_sizes(emitter, [other]) == emitter.literal(np.array([5], np.int64))
    assert _nodes(emitter) == []
    assert other.asked


def test_a_reshape_leaves_one_size_open() -> None:
    size: Any = Sum({("n",): 1})
    assert infer_one((2, size)) == [2, -1]
    assert infer_one((2, 3)) == (2, 3)
    # The engine would not find them.
    for shape in ((0, size), (size, size)):
        assert infer_one(shape) is shape
    assert not size.asked
