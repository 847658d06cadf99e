"""A decoder whose cache grows, stays, slides or has integers: as a graph of WebNN and as a hand-written model, and its loops of tokens.

All caches hold the same keys and values, and begin with one place of zeros. Keys are columns, as their product with the query takes them.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
import onnxruntime
from onnx import TensorProto

from benchmarks.measure import Array
from benchmarks.sides import OnnxGraph, constant, described, make_session
from webnn import MLContext, MLGraphBuilder, MLTensor

__all__ = ["SMALL", "USUAL", "Cache", "Decoder", "GraphSteps", "SessionSteps"]

#: The score of a place without a token yet.
MASKED = -1e4
#: The distance of the numbers that int8 keeps: up to a magnitude of 6.
STEP = 6 / 127
Kind = Literal["growing", "static", "sliding"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoder:
    """The sizes of a decoder, and its weights: seeded random numbers that keep the magnitude of what they multiply."""

    layers: int
    width: int
    heads: int
    words: int
    places: int

    @property
    def size(self) -> int:
        """The numbers of a head."""
        return self.width // self.heads

    @property
    def parts(self) -> list[str]:
        """The names of the keys and the values of all layers."""
        return [f"{kind}{layer}" for layer in range(self.layers) for kind in ("keys", "values")]

    def weights(self) -> Mapping[str, Array]:
        """Make the weights."""
        rng = np.random.default_rng(0)
        width = self.width
        shapes: dict[str, tuple[int, int]] = {"words": (self.words, width), "places": (self.places, width), "scores": (width, self.words)}
        for layer in range(self.layers):
            shapes |= {f"{name}{layer}": (width, width) for name in ("q", "k", "v", "o")}
            shapes |= {f"up{layer}": (width, 4 * width), f"down{layer}": (4 * width, width)}
        return {name: rng.standard_normal(shape, np.float32) / np.float32(math.sqrt(shape[0])) for name, shape in shapes.items()}


#: The decoder of the benchmarks, and one for tests.
USUAL = Decoder(layers=6, width=384, heads=6, words=8000, places=8192)
SMALL = Decoder(layers=2, width=32, heads=4, words=64, places=256)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cache:
    """How a loop keeps the keys and values.

    Attributes:
        kind: "growing" has a place for each token; its length has the name "past". "static" has all places, of which later ones are masked.
            "sliding" has as many as the window: a token takes the oldest one, its position modulo the window.
        length: The number of places of the latter two.
        int8: Keys and values are quantized when they are written, and dequantized when they are read.
    """

    kind: Kind
    length: int = 0
    int8: bool = False

    @property
    def grows(self) -> bool:
        """The cache has a place for each token."""
        return self.kind == "growing"

    @property
    def dataType(self) -> Literal["int8", "float32"]:
        """The type of keys and values."""
        return "int8" if self.int8 else "float32"

    def shape(self, decoder: Decoder, part: str, past: Any = "past") -> list[Any]:
        """Return the shape of a part."""
        places = past if self.grows else self.length
        return [decoder.heads, decoder.size, places] if part.startswith("keys") else [decoder.heads, places, decoder.size]


class _Operations(Protocol):
    """The operations of a form of the decoder, over its values."""

    def begin(self, position: Any) -> None:
        """Make what all layers share: where the token is put, and which places are visible."""

    def weight(self, name: str) -> Any: ...
    def add(self, a: Any, b: Any) -> Any: ...
    def gather(self, rows: Any, index: Any) -> Any: ...
    def normalize(self, x: Any) -> Any: ...
    def matmul(self, a: Any, b: Any) -> Any: ...
    def reshape(self, x: Any, shape: list[int]) -> Any: ...
    def relu(self, x: Any) -> Any: ...
    def softmax(self, x: Any) -> Any: ...
    def scale(self, x: Any) -> Any: ...
    def mask(self, scores: Any) -> Any: ...
    def append(self, part: str, cached: Any, new: Any, axis: int) -> Any: ...
    def put(self, part: str, cached: Any, new: Any, axis: int) -> Any: ...
    def quantize(self, x: Any) -> Any: ...
    def dequantize(self, x: Any) -> Any: ...


def _emit(
    o: _Operations, decoder: Decoder, cache: Cache, token: Any, position: Any, cached: Mapping[str, Any]
) -> tuple[Any, dict[str, Any]]:
    """Return the scores of the words, and the parts of the cache for the next token."""
    heads, size, width = decoder.heads, decoder.size, decoder.width
    kept: dict[str, Any] = {}
    if not cache.grows:
        o.begin(position)
    x = o.add(o.gather(o.weight("words"), token), o.gather(o.weight("places"), position))
    for layer in range(decoder.layers):
        normal = o.normalize(x)
        q, k, v = (o.matmul(normal, o.weight(f"{name}{layer}")) for name in ("q", "k", "v"))
        read = {}
        for part, new, axis in ((f"keys{layer}", k, 2), (f"values{layer}", v, 1)):
            row = o.reshape(new, [heads, size, 1] if axis == 2 else [heads, 1, size])
            extend = o.append if cache.grows else o.put
            kept[part] = extend(part, cached[part], o.quantize(row) if cache.int8 else row, axis)
            read[axis] = o.dequantize(kept[part]) if cache.int8 else kept[part]
        scores = o.scale(o.matmul(o.reshape(q, [heads, 1, size]), read[2]))
        mixed = o.matmul(o.softmax(scores if cache.grows else o.mask(scores)), read[1])
        x = o.add(x, o.matmul(o.reshape(mixed, [1, width]), o.weight(f"o{layer}")))
        hidden = o.relu(o.matmul(o.normalize(x), o.weight(f"up{layer}")))
        x = o.add(x, o.matmul(hidden, o.weight(f"down{layer}")))
    return o.matmul(o.normalize(x), o.weight("scores")), kept


class _GraphOperations:
    """Operations of WebNN."""

    def __init__(self, builder: Any, decoder: Decoder, cache: Cache, weights: Mapping[str, Array]) -> None:
        self._b = builder
        self.add, self.gather, self.matmul = builder.add, builder.gather, builder.matmul
        self.reshape, self.relu = builder.reshape, builder.relu
        self._decoder, self._cache = decoder, cache
        self._weights = {name: constant(builder, value) for name, value in weights.items()}
        self._scale = builder.constant("float32", decoder.size**-0.5)
        if cache.int8:
            self._grid = (constant(builder, np.full((1, 1, 1), STEP, np.float32)), constant(builder, np.zeros((1, 1, 1), np.int8)))

    def begin(self, position: Any) -> None:
        b, decoder, length = self._b, self._decoder, self._cache.length
        place = position
        if self._cache.kind == "sliding":
            window = b.constant("int32", length)
            place = b.sub(position, b.mul(b.div(position, window), window))
        one = b.reshape(place, [1, 1, 1])
        self._indices = {2: b.expand(one, [decoder.heads, decoder.size, 1]), 1: b.expand(one, [decoder.heads, 1, decoder.size])}
        places = constant(b, np.arange(length, dtype=np.int32).reshape(1, 1, length))
        self._visible = b.lesserOrEqual(places, b.reshape(position, [1, 1, 1]))
        self._masked = b.constant("float32", MASKED)

    def weight(self, name: str) -> Any:
        return self._weights[name]

    def normalize(self, x: Any) -> Any:
        return self._b.layerNormalization(x, axes=[1])

    def softmax(self, x: Any) -> Any:
        return self._b.softmax(x, 2)

    def scale(self, x: Any) -> Any:
        return self._b.mul(x, self._scale)

    def mask(self, scores: Any) -> Any:
        return self._b.where(self._visible, scores, self._masked)

    def append(self, part: str, cached: Any, new: Any, axis: int) -> Any:
        del part
        return self._b.concat([cached, new], axis)

    def put(self, part: str, cached: Any, new: Any, axis: int) -> Any:
        del part
        return self._b.scatterElements(cached, self._indices[axis], new, axis=axis)

    def quantize(self, x: Any) -> Any:
        return self._b.quantizeLinear(x, *self._grid)

    def dequantize(self, x: Any) -> Any:
        return self._b.dequantizeLinear(x, *self._grid)


class _ModelOperations:
    """ONNX nodes. The parts of the cache are outputs."""

    def __init__(self, graph: OnnxGraph, decoder: Decoder, cache: Cache, weights: Mapping[str, Array]) -> None:
        self._graph, self._decoder, self._cache = graph, decoder, cache
        self.add: Any = lambda a, b: graph.node("Add", [a, b])
        self.gather: Any = lambda rows, index: graph.node("Gather", [rows, index])
        self.matmul: Any = lambda a, b: graph.node("MatMul", [a, b])
        self.relu: Any = lambda x: graph.node("Relu", [x])
        self._weights = {name: graph.weight(value) for name, value in weights.items()}
        self._scale, self._ones = graph.weight(np.array(decoder.size**-0.5, np.float32)), graph.weight(np.ones(decoder.width, np.float32))
        self._shapes: dict[tuple[int, ...], str] = {}
        if cache.int8:
            self._grid = [graph.weight(np.array(STEP, np.float32)), graph.weight(np.array(0, np.int8))]

    def begin(self, position: str) -> None:
        graph, decoder, length = self._graph, self._decoder, self._cache.length
        place = position
        if self._cache.kind == "sliding":
            place = graph.node("Mod", [position, graph.weight(np.array([length], np.int32))])
        shapes = {2: (decoder.heads, decoder.size, 1), 1: (decoder.heads, 1, decoder.size)}
        self._indices = {axis: graph.node("Expand", [place, graph.weight(np.array(shape))]) for axis, shape in shapes.items()}
        places = graph.weight(np.arange(length, dtype=np.int32).reshape(1, 1, length))
        self._visible = graph.node("LessOrEqual", [places, position])
        self._masked = graph.weight(np.array(MASKED, np.float32))

    def weight(self, name: str) -> str:
        return self._weights[name]

    def normalize(self, x: str) -> str:
        return self._graph.node("LayerNormalization", [x, self._ones], axis=1)

    def reshape(self, x: str, shape: list[int]) -> str:
        key = tuple(shape)
        if key not in self._shapes:
            self._shapes[key] = self._graph.weight(np.array(shape))
        return self._graph.node("Reshape", [x, self._shapes[key]])

    def softmax(self, x: str) -> str:
        return self._graph.node("Softmax", [x], axis=2)

    def scale(self, x: str) -> str:
        return self._graph.node("Mul", [x, self._scale])

    def mask(self, scores: str) -> str:
        return self._graph.node("Where", [self._visible, scores, self._masked])

    def append(self, part: str, cached: str, new: str, axis: int) -> str:
        return self._graph.node("Concat", [cached, new], f"new {part}", axis=axis)

    def put(self, part: str, cached: str, new: str, axis: int) -> str:
        return self._graph.node("ScatterElements", [cached, self._indices[axis], new], f"new {part}", axis=axis)

    def quantize(self, x: str) -> str:
        return self._graph.node("QuantizeLinear", [x, *self._grid])

    def dequantize(self, x: str) -> str:
        return self._graph.node("DequantizeLinear", [x, *self._grid])


class GraphSteps:
    """A loop of tokens by a graph of WebNN.

    Args:
        context: The context; a cache that grows needs the proposal dynamic-shapes.
        decoder: The decoder.
        cache: How the cache is kept.
        weights: The decoder's weights; by default they are made.

    Attributes:
        seconds: How long each `dispatch` took until it returned, of all steps since `start`.
        scores: The scores of the words in each step since `start`, if they are wanted.
    """

    def __init__(
        self, context: MLContext, decoder: Decoder, cache: Cache, weights: Mapping[str, Array] | None = None, *, scores: bool = False
    ) -> None:
        self._context, self._decoder, self._cache = context, decoder, cache
        b: Any = MLGraphBuilder(context)
        token, position = (b.input(name, described("int32", [1])) for name in ("token", "position"))
        cached = {part: b.input(part, described(cache.dataType, cache.shape(decoder, part))) for part in decoder.parts}
        found, kept = self._connect(b, decoder.weights() if weights is None else weights, token, position, cached)
        outputs = {"next": b.argMax(found, 1, outputDataType="int32"), **kept} | ({"scores": found} if scores else {})
        self.graph = b.buildSync(outputs)
        self._token, self._position, self._next = (self._tensor("int32", [1]) for _ in range(3))
        self._rest = {"scores": self._tensor("float32", [1, decoder.words])} if scores else {}
        self._sets: list[dict[str, MLTensor]] = []
        self.start()

    def _connect(
        self, b: Any, weights: Mapping[str, Array], token: Any, position: Any, cached: Mapping[str, Any]
    ) -> tuple[Any, dict[str, Any]]:
        """Return the scores of the words, and the parts of the cache for the next token."""
        operations = _GraphOperations(b, self._decoder, self._cache, weights)
        return _emit(operations, self._decoder, self._cache, token, position, cached)

    def _tensor(self, dataType: str, shape: Sequence[int]) -> MLTensor:
        return self._context.createTensorSync(described(dataType, shape) | {"readable": True, "writable": True})

    def _make(self, past: int) -> dict[str, MLTensor]:
        cache = self._cache
        return {part: self._tensor(cache.dataType, cache.shape(self._decoder, part, past)) for part in self._decoder.parts}

    def start(self, past: int = 1) -> None:
        """Begin with a cache of some places, all zeros. Tensors of places that all exist are kept, and the places become zeros."""
        if self._cache.grows or not self._sets:
            for tensor in self._sets[0].values() if self._sets else ():
                tensor.destroy()
            self._sets = [self._make(past) for _ in range(1 if self._cache.grows else 2)]
        else:
            for tensor in self._sets[0].values():
                self._context.writeTensor(tensor, np.zeros(tensor.shape, self._cache.dataType))
        self.seconds: list[float] = []
        self.scores: list[Array] = []
        self._past = past
        self._context.writeTensor(self._token, np.zeros(1, np.int32))

    def __call__(self, steps: int) -> list[int]:
        """Take a number of steps; return the tokens."""
        context, grows = self._context, self._cache.grows
        tokens: list[int] = []
        for _ in range(steps):
            context.writeTensor(self._position, np.array([self._past % self._decoder.places], np.int32))
            old = self._sets[0]
            new = self._make(self._past + 1) if grows else self._sets[1]
            inputs = {"token": self._token, "position": self._position, **old}
            began = time.perf_counter()
            context.dispatch(self.graph, inputs, {"next": self._next, **self._rest, **new})
            self.seconds.append(time.perf_counter() - began)
            content: Any = context.readTensorSync(self._next)
            tokens.append(int(content[0]))
            if self._rest:
                self.scores.append(np.array(context.readTensorSync(self._rest["scores"])))
            if grows:
                for tensor in old.values():
                    tensor.destroy()
            self._sets = [new] if grows else [new, old]
            self._past += 1
            self._token, self._next = self._next, self._token
        return tokens


class SessionSteps:
    """The same loop by a hand-written model. The engine makes the values of a cache that grows; those of others are bound in turns."""

    def __init__(self, decoder: Decoder, cache: Cache, weights: Mapping[str, Array] | None = None) -> None:
        self._decoder, self._cache = decoder, cache
        graph = OnnxGraph(external=True)
        operations = _ModelOperations(graph, decoder, cache, decoder.weights() if weights is None else weights)
        kind = TensorProto.INT8 if cache.int8 else TensorProto.FLOAT
        token, position = (graph.input(name, [1], TensorProto.INT32) for name in ("token", "position"))
        cached = {part: graph.input(part, cache.shape(decoder, part), kind) for part in decoder.parts}
        graph.output("next", [1], TensorProto.INT32)
        found, kept = _emit(operations, decoder, cache, token, position, cached)
        for part, value in kept.items():
            graph.output(value, cache.shape(decoder, part, "length"), kind)
        graph.node("Cast", [graph.node("ArgMax", [found], axis=1, keepdims=0)], "next", to=TensorProto.INT32)
        self._weights = graph.weights
        self._session = make_session(graph)
        self.start()

    def start(self) -> None:
        """Begin with a cache of one place, all zeros."""
        made, cache = onnxruntime.OrtValue.ortvalue_from_numpy, self._cache
        self._sets = [
            {part: made(np.zeros(cache.shape(self._decoder, part, 1), cache.dataType)) for part in self._decoder.parts}
            for _ in range(1 if cache.grows else 2)
        ]
        self._past = 1
        self._token, self._next = (made(np.zeros(1, np.int32)) for _ in range(2))

    def __call__(self, steps: int) -> list[int]:
        """Take a number of steps; return the tokens."""
        tokens: list[int] = []
        for _ in range(steps):
            position = onnxruntime.OrtValue.ortvalue_from_numpy(np.array([self._past % self._decoder.places], np.int32))
            binding = self._session.io_binding()
            binding.bind_ortvalue_input("token", self._token)
            binding.bind_ortvalue_input("position", position)
            binding.bind_ortvalue_output("next", self._next)
            for part, value in self._sets[0].items():
                binding.bind_ortvalue_input(part, value)
                if self._cache.grows:
                    binding.bind_output(f"new {part}", "cpu")
                else:
                    binding.bind_ortvalue_output(f"new {part}", self._sets[1][part])
            self._session.run_with_iobinding(binding)
            if self._cache.grows:
                self._sets = [dict(zip(self._decoder.parts, binding.get_outputs()[1:], strict=True))]
            else:
                self._sets.reverse()
            self._token, self._next = self._next, self._token
            tokens.append(int(self._token.numpy()[0]))
            self._past += 1
        return tokens
