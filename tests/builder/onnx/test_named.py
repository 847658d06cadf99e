"""Sizes of dimensions with names in a model: which are computed in each run."""

from __future__ import annotations

from typing import Any

import numpy as np

from webnn.builder.onnx.emitter import Emitter
from webnn.builder.onnx.named import emit_sizes, infer_one
from webnn.proposals.dynamic_shapes.recording import Recording
from webnn.validation.descriptor import OperandDescriptor


def _emitter() -> tuple[Emitter, Any, Recording]:
    recording = Recording({"n": 5})
    size: Any = recording.named("n", 1, 100)
    emitter = Emitter()
    emitter.declare_input("x", OperandDescriptor("float32", (size, 4)))
    return emitter, size, recording


def _nodes(emitter: Emitter) -> list[str]:
    return [node.op_type for node in emitter.finish().graph.node]


def test_known_sizes_are_one_initializer() -> None:
    emitter, _, _ = _emitter()
    assert emit_sizes(emitter, [2, 3]) == emitter.literal(np.array([2, 3], np.int64))
    assert _nodes(emitter) == []


def test_a_polynomial_is_computed_of_the_shape_of_an_input() -> None:
    emitter, size, recording = _emitter()
    emit_sizes(emitter, [2, 3 * size * size + 1])
    assert _nodes(emitter) == ["Shape", "Shape", "Mul", "Mul", "Add", "Concat"]
    assert not recording.facts()


def test_a_quotient_is_a_number() -> None:
    emitter, size, recording = _emitter()
    assert emit_sizes(emitter, [size // 2]) == emitter.literal(np.array([2], np.int64))
    assert _nodes(emitter) == []
    assert len(recording.facts()) == 1


def test_a_reshape_leaves_one_size_open() -> None:
    _, size, recording = _emitter()
    assert infer_one((2, size)) == [2, -1]
    assert infer_one((2, 3)) == (2, 3)
    # The engine would not find them.
    for shape in ((0, size), (size, size)):
        assert infer_one(shape) is shape
    assert not recording.facts()
