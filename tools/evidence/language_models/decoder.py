"""A decoder with made-up weights, as exporters write today's small language models: an ONNX model with a cache that grows.

Its architecture is that of Llama: rotary embeddings, queries that share keys and values, RMS normalization and a gated MLP. The names of
inputs, outputs and dimensions are those of Hugging Face's Optimum.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from onnx import ModelProto, TensorProto, helper

from benchmarks.sides import MICROSOFT, OnnxGraph

__all__ = ["FORMS", "Shape", "make_decoder"]

Array = np.ndarray[Any, np.dtype[Any]]
#: The score of a place that a token does not see: far below any other, and finite in float16.
_HIDDEN = -1e4
_EPSILON = 1e-6


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """The sizes of a decoder.

    Attributes:
        layers: The layers.
        width: The features of a token.
        heads: The heads of the queries.
        shared: The heads of keys and values.
        inner: The features inside the MLP.
        words: The vocabulary.
        places: The longest sequence.
    """

    layers: int = 6
    width: int = 384
    heads: int = 6
    shared: int = 2
    inner: int = 1024
    words: int = 8000
    places: int = 8192

    @property
    def size(self) -> int:
        """The features of a head."""
        return self.width // self.heads


def make_decoder(shape: Shape, form: str = "operators", seed: int = 0) -> ModelProto:
    """Make a decoder with weights from a seed.

    Args:
        shape: Its sizes.
        form: A name in `FORMS`.
        seed: The seed of the weights, which are the same in all forms.
    """
    return FORMS[form](shape, np.random.default_rng(seed)).build()


class _Decoder:
    """A decoder of ONNX's own operators, as PyTorch's exporter writes it."""

    def __init__(self, shape: Shape, rng: np.random.Generator) -> None:
        self.shape = shape
        self.graph = OnnxGraph()
        self._rng = rng
        angles = np.outer(np.arange(shape.places), 10_000.0 ** -(np.arange(0, shape.size, 2) / shape.size))
        self.cosines, self.sines = (self.graph.weight(values.astype(np.float32)) for values in (np.cos(angles), np.sin(angles)))

    def build(self) -> ModelProto:
        """Make the model."""
        g, shape = self.graph, self.shape
        ids = g.input("input_ids", [1, "sequence_length"], TensorProto.INT64)
        g.output("logits", [1, "sequence_length", shape.words])
        cache = {}
        for layer in range(shape.layers):
            for kind in ("key", "value"):
                cache[layer, kind] = g.input(f"past_key_values.{layer}.{kind}", [1, shape.shared, "past_sequence_length", shape.size])
                g.output(f"present.{layer}.{kind}", [1, shape.shared, "total_sequence_length", shape.size])
        words = self.weight(shape.words, shape.width, scale=1.0)
        x = g.node("Gather", [words, ids])
        self.begin(ids, cache[0, "key"])
        for layer in range(shape.layers):
            past = [cache[layer, kind] for kind in ("key", "value")]
            x = g.node("Add", [x, self.attend(self.normalize(x), past, [f"present.{layer}.{kind}" for kind in ("key", "value")])])
            normal = self.normalize(x)
            gate, up = (g.node("MatMul", [normal, self.weight(shape.width, shape.inner)]) for _ in range(2))
            hidden = g.node("Mul", [g.node("Mul", [gate, g.node("Sigmoid", [gate])]), up])
            x = g.node("Add", [x, g.node("MatMul", [hidden, self.weight(shape.inner, shape.width)])])
        g.node("MatMul", [self.normalize(x), self.weight(shape.width, shape.words)], "logits")
        return g.model()

    def weight(self, rows: int, columns: int, scale: float = 0.0) -> str:
        """Add a matrix that keeps the magnitude of numbers."""
        values = self._rng.standard_normal((rows, columns), np.float32)
        return self.graph.weight(values * np.float32(scale or rows**-0.5))

    def ints(self, *values: int) -> str:
        """Add a vector of int64."""
        return self.graph.weight(np.array(values, np.int64))

    def begin(self, ids: str, past: str) -> None:
        """Compute what the layers share: the rotation of the new tokens, and the mask of earlier rows that count."""
        g = self.graph
        positions = g.input("position_ids", [1, "sequence_length"], TensorProto.INT64)
        mask = g.input("attention_mask", [1, "total_sequence_length"], TensorProto.INT64)
        self._rotation = [g.node("Unsqueeze", [g.node("Gather", [table, positions]), self.ints(1)]) for table in (self.cosines, self.sines)]
        before, new = g.node("Shape", [past], start=2, end=3), g.node("Shape", [ids], start=1, end=2)
        scalars = [g.node("Squeeze", [each]) for each in (before, g.node("Add", [before, new]))]
        one, zero = (g.weight(np.array(value, np.int64)) for value in (1, 0))
        places, everything = g.node("Range", [*scalars, one]), g.node("Range", [zero, scalars[1], one])
        earlier = g.node("LessOrEqual", [everything, g.node("Unsqueeze", [places, self.ints(1)])])
        seen = g.node("And", [earlier, g.node("Cast", [mask], to=TensorProto.BOOL)])
        numbers = [g.weight(np.array(value, np.float32)) for value in (0, _HIDDEN)]
        self._mask = g.node("Where", [seen, *numbers])

    def attend(self, x: str, past: list[str], present: list[str]) -> str:
        """Return grouped-query attention."""
        g, shape = self.graph, self.shape
        heads = {"q": shape.heads, "k": shape.shared, "v": shape.shared}
        parts = {}
        for name, count in heads.items():
            product = g.node("MatMul", [x, self.weight(shape.width, count * shape.size)])
            parts[name] = g.node("Transpose", [g.node("Reshape", [product, self.ints(1, -1, count, shape.size)])], perm=[0, 2, 1, 3])
        query, key = self._rotate(parts["q"]), self._rotate(parts["k"])
        keys = g.node("Concat", [past[0], key], present[0], axis=2)
        values = g.node("Concat", [past[1], parts["v"]], present[1], axis=2)
        keys, values = map(self._repeat, (keys, values))
        scores = g.node("MatMul", [query, g.node("Transpose", [keys], perm=[0, 1, 3, 2])])
        scores = g.node("Mul", [scores, g.weight(np.array(shape.size**-0.5, np.float32))])
        weights = g.node("Softmax", [g.node("Add", [scores, self._mask])], axis=-1)
        mixed = g.node("Transpose", [g.node("MatMul", [weights, values])], perm=[0, 2, 1, 3])
        joined = g.node("Reshape", [mixed, self.ints(1, -1, shape.width)])
        return g.node("MatMul", [joined, self.weight(shape.width, shape.width)])

    def normalize(self, x: str) -> str:
        """Return RMS normalization."""
        g = self.graph
        squared = g.node("Pow", [x, g.weight(np.array(2, np.float32))])
        mean = g.node("ReduceMean", [squared, self.ints(-1)], keepdims=1)
        root = g.node("Sqrt", [g.node("Add", [mean, g.weight(np.array(_EPSILON, np.float32))])])
        return g.node("Mul", [g.node("Div", [x, root]), self.scale()])

    def scale(self) -> str:
        """Add the weights of a normalization."""
        return self.graph.weight(np.float32(1) + self._rng.standard_normal(self.shape.width, np.float32) / np.float32(16))

    def _rotate(self, x: str) -> str:
        """Return the heads, [1, heads, tokens, size], with the pairs of features in both halves rotated."""
        g, half = self.graph, self.shape.size // 2
        bounds = [self.ints(each) for each in (0, half, 2 * half)]
        left, right = (g.node("Slice", [x, *ends, self.ints(3)]) for ends in (bounds[:2], bounds[1:]))
        cosines, sines = self._rotation
        first = g.node("Sub", [g.node("Mul", [left, cosines]), g.node("Mul", [right, sines])])
        second = g.node("Add", [g.node("Mul", [left, sines]), g.node("Mul", [right, cosines])])
        return g.node("Concat", [first, second], axis=3)

    def _repeat(self, x: str) -> str:
        """Return the keys or values for each head of the queries."""
        g, shape = self.graph, self.shape
        split = g.node("Unsqueeze", [x, self.ints(2)])
        wide = g.node("Expand", [split, self.ints(1, 1, shape.heads // shape.shared, 1, 1)])
        sizes = g.node("Concat", [self.ints(1, shape.heads), g.node("Shape", [x], start=2, end=3), self.ints(shape.size)], axis=0)
        return g.node("Reshape", [wide, sizes])


class _Composite(_Decoder):
    """The same of ONNX Runtime's composite operators, as its model builder for generation writes it."""

    def begin(self, ids: str, past: str) -> None:
        """Compute the lengths that the attention of each layer takes."""
        g = self.graph
        total = g.node("Add", [g.node("Shape", [past], start=2, end=3), g.node("Shape", [ids], start=1, end=2)])
        last = g.node("Sub", [total, self.ints(1)])
        self._lengths = [
            g.node("Cast", [each], to=TensorProto.INT32) for each in (g.node("Reshape", [last, self.ints(1)]), g.node("Squeeze", [total]))
        ]

    def attend(self, x: str, past: list[str], present: list[str]) -> str:
        """Return grouped-query attention."""
        g, shape = self.graph, self.shape
        products = [
            g.node("MatMul", [x, self.weight(shape.width, count * shape.size)]) for count in (shape.heads, shape.shared, shape.shared)
        ]
        inputs = [*products, *past, *self._lengths, self.cosines, self.sines]
        settings = {"num_heads": shape.heads, "kv_num_heads": shape.shared, "do_rotary": 1, "scale": shape.size**-0.5}
        mixed = f"mixed {present[0]}"
        g.nodes.append(helper.make_node("GroupQueryAttention", inputs, [mixed, *present], domain=MICROSOFT, **settings))
        return g.node("MatMul", [mixed, self.weight(shape.width, shape.width)])

    def normalize(self, x: str) -> str:
        """Return RMS normalization."""
        return self.graph.node("SimplifiedLayerNormalization", [x, self.scale()], axis=-1, epsilon=_EPSILON)


#: The forms of a decoder.
FORMS: Mapping[str, Callable[[Shape, np.random.Generator], _Decoder]] = MappingProxyType({"operators": _Decoder, "composite": _Composite})
