"""Attention: a sequence beside the engine's own operator, and a decoder's steps, whose keys and values stay in the engine's memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import onnxruntime

from benchmarks.measure import Array
from benchmarks.sides import CURRENT, LOOPS, MICROSOFT, OnnxGraph, Program, Session, TensorProgram, float32, make_session
from webnn import ML, MLGraphBuilder, MLOperand

__all__ = ["BoundSteps", "Heads", "TensorSteps", "onnx_side", "webnn_side"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Heads:
    """The sizes of attention, with seeded random inputs.

    Attributes:
        sequence: The length of the sequence, or the number of keys and values that a decoder keeps.
        heads: The number of heads.
        size: The size of a head.
        columns: A decoder keeps keys as columns, as their product with the queries takes them, and not as rows.
    """

    sequence: int = 128
    heads: int = 12
    size: int = 64
    columns: bool = True

    @property
    def hidden(self) -> int:
        """The size of a token: all heads."""
        return self.heads * self.size

    @property
    def scale(self) -> float:
        """The factor of the scores."""
        return float(self.size**-0.5)

    def inputs(self, shapes: Mapping[str, Sequence[int]]) -> dict[str, Array]:
        """Return random inputs of some shapes, by name."""
        rng = np.random.default_rng(0)
        return {name: rng.standard_normal(tuple(shape), np.float32) for name, shape in shapes.items()}


def webnn_side(heads: Heads) -> Program | TensorProgram:
    """Build attention of operations."""
    context = ML(revision="2024-06").createContextSync()
    builder = MLGraphBuilder(context)
    shape = [1, heads.sequence, heads.hidden]
    inputs = heads.inputs(dict.fromkeys("qkv", shape))
    q, k, v = (builder.reshape(builder.input(name, float32(shape)), [1, heads.sequence, heads.heads, heads.size]) for name in inputs)

    def turn(value: MLOperand, *permutation: int) -> MLOperand:
        return builder.transpose(value, {"permutation": list(permutation)})

    scores = builder.matmul(turn(q, 0, 2, 1, 3), turn(k, 0, 2, 3, 1))
    weights = builder.softmax(builder.mul(scores, builder.constant("float32", heads.scale)), 3)
    mixed = turn(builder.matmul(weights, turn(v, 0, 2, 1, 3)), 0, 2, 1, 3)
    graph = builder.buildSync({"y": builder.reshape(mixed, shape)})
    return LOOPS["2024-06"](context, graph, inputs, {"y": shape})


def onnx_side(heads: Heads) -> Session:
    """Make a session of one ``MultiHeadAttention``."""
    graph = OnnxGraph()
    shape = [1, heads.sequence, heads.hidden]
    inputs = heads.inputs(dict.fromkeys("qkv", shape))
    graph.node("MultiHeadAttention", [graph.input(name, shape) for name in inputs], "y", domain=MICROSOFT, num_heads=heads.heads)
    graph.output("y", shape)
    return Session(graph, inputs)


class TensorSteps:
    """A decoder's attention step in tensors: the newest token's keys and values take the place of the oldest ones.

    The step reads them from two tensors and writes them to two others, and the next step swaps these: nothing is copied between steps.
    """

    def __init__(self, heads: Heads) -> None:
        context = self._context = ML(revision=CURRENT).createContextSync()
        builder = MLGraphBuilder(context)
        shapes = _shapes(heads)
        k, v, q, newK, newV = (builder.input(name, float32(shape)) for name, shape in shapes.items())

        def advance(value: MLOperand, new: MLOperand, axis: int) -> MLOperand:
            start = [int(each == axis) for each in range(4)]
            later = builder.slice(value, start, [size - first for size, first in zip(value.shape, start, strict=True)])
            return builder.concat([later, new], axis)

        keys, values = advance(k, newK, 3 if heads.columns else 2), advance(v, newV, 2)
        columns = keys if heads.columns else builder.transpose(keys, permutation=[0, 1, 3, 2])
        weights = builder.softmax(builder.mul(builder.matmul(q, columns), builder.constant("float32", heads.scale)), 3)
        self._graph = builder.buildSync({"y": builder.matmul(weights, values), "keys": keys, "values": values})
        self._given = {name: context.createTensorSync(float32(shapes[name]) | {"writable": True}) for name in _GIVEN}
        data = heads.inputs(shapes)
        self._data = {name: data[name] for name in _GIVEN}
        self._kept = [[context.createTensorSync(float32(shapes[name]) | {"writable": True}) for name in _KEPT] for _ in range(2)]
        for tensor, name in zip(self._kept[0], _KEPT, strict=True):
            context.writeTensor(tensor, data[name])
        self._output = context.createTensorSync(float32(shapes["q"]) | {"readable": True})

    def __call__(self, repeats: int = 1) -> Array:
        """Take a number of steps; return the last one's output."""
        context, given = self._context, self._given
        written = list(zip(given.values(), self._data.values(), strict=True))
        for _ in range(repeats):
            for tensor, data in written:
                context.writeTensor(tensor, data)
            before, after = self._kept
            inputs = {**given, **dict(zip(_KEPT, before, strict=True))}
            context.dispatch(self._graph, inputs, {"y": self._output, "keys": after[0], "values": after[1]})
            result = context.readTensorSync(self._output)
            self._kept = [after, before]
        return result


class BoundSteps:
    """The same steps in a session, over values of the engine."""

    def __init__(self, heads: Heads) -> None:
        graph = OnnxGraph()
        shapes = _shapes(heads)
        k, v, q, newK, newV = (graph.input(name, shape) for name, shape in shapes.items())
        first, last = (graph.weight(np.array([number])) for number in (1, heads.sequence))

        def advance(value: str, new: str, axis: int, output: str) -> str:
            later = graph.node("Slice", [value, first, last, graph.weight(np.array([axis]))])
            graph.output(output, shapes[value])
            return graph.node("Concat", [later, new], output, axis=axis)

        graph.output("y", shapes["q"])
        keys, values = advance(k, newK, 3 if heads.columns else 2, "keys"), advance(v, newV, 2, "values")
        columns = keys if heads.columns else graph.node("Transpose", [keys], perm=[0, 1, 3, 2])
        scaled = graph.node("Mul", [graph.node("MatMul", [q, columns]), graph.weight(np.array(heads.scale, np.float32))])
        graph.node("MatMul", [graph.node("Softmax", [scaled], axis=3), values], "y")
        self._session = make_session(graph)
        made, data = onnxruntime.OrtValue.ortvalue_from_numpy, heads.inputs(shapes)
        self._written = [(made(data[name].copy()), data[name]) for name in _GIVEN]
        # A binding does not keep the memory of its values alive.
        places = self._places = [[made(data[name]) for name in _KEPT], [made(np.zeros_like(data[name])) for name in _KEPT]]
        self._output = made(np.zeros_like(data["q"]))
        self._bindings = []
        for before, after in (places, places[::-1]):
            binding = self._session.io_binding()
            for name, value in zip((*_KEPT, *_GIVEN), (*before, *(value for value, _ in self._written)), strict=True):
                binding.bind_ortvalue_input(name, value)
            for name, value in zip(("y", "keys", "values"), (self._output, *after), strict=True):
                binding.bind_ortvalue_output(name, value)
            self._bindings.append(binding)

    def __call__(self, repeats: int = 1) -> Array:
        """Take a number of steps; return the last one's output."""
        for _ in range(repeats):
            for value, data in self._written:
                value.update_inplace(data)
            self._session.run_with_iobinding(self._bindings[0])
            result: Array = self._output.numpy()
            self._bindings.reverse()
        return result


#: The names of what is kept, and of what each step gets.
_KEPT, _GIVEN = ("k", "v"), ("q", "newK", "newV")


def _shapes(heads: Heads) -> dict[str, list[int]]:
    """Return the shapes of a step's inputs."""
    count, kept, size = heads.heads, heads.sequence, heads.size
    return {
        "k": [1, count, size, kept] if heads.columns else [1, count, kept, size],
        "v": [1, count, kept, size],
        "q": [1, count, 1, size],
        "newK": [1, count, size, 1] if heads.columns else [1, count, 1, size],
        "newV": [1, count, 1, size],
    }
