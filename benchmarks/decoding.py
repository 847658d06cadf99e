"""A decoder of six layers with a cache that grows by the token, whose length has a name, beside a session with a dynamic length."""

from __future__ import annotations

import gc
import math
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np
import onnxruntime
from onnx import TensorProto

from benchmarks.measure import Array, Effort, OutputsDifferError, Result, interleave, summarize, summarize_difference
from benchmarks.memory import resident_bytes
from benchmarks.sides import OnnxGraph, constant, described, make_session
from webnn import ML, MLGraphBuilder, MLTensor
from webnn.builder.numerics import Numerics
from webnn.proposals.dynamic_shapes.graph import MOST_COMPILED

__all__ = ["DECODING_CASES", "NamedSteps", "SessionSteps", "make_weights"]

LAYERS, WIDTH, HEADS, WORDS, PLACES = 6, 384, 6, 8000, 8192
SIZE = WIDTH // HEADS
TOKENS, LENGTHS = 100, 4096
#: The names of the keys and the values of all layers.
CACHE = [f"{kind}{layer}" for layer in range(LAYERS) for kind in ("keys", "values")]

Weights = Mapping[str, Array]


def make_weights() -> Weights:
    """Return seeded random weights that keep the magnitude of numbers."""
    rng = np.random.default_rng(0)
    shapes: dict[str, tuple[int, int]] = {"words": (WORDS, WIDTH), "places": (PLACES, WIDTH), "scores": (WIDTH, WORDS)}
    for layer in range(LAYERS):
        shapes |= {f"{name}{layer}": (WIDTH, WIDTH) for name in ("q", "k", "v", "o")}
        shapes |= {f"up{layer}": (WIDTH, 4 * WIDTH), f"down{layer}": (4 * WIDTH, WIDTH)}
    return {name: rng.standard_normal(shape, np.float32) / np.float32(math.sqrt(shape[0])) for name, shape in shapes.items()}


def _shape(name: str, past: Any) -> list[Any]:
    """Return the shape of a part of the cache: keys are columns, as their product with the query takes them."""
    return [HEADS, SIZE, past] if name.startswith("keys") else [HEADS, past, SIZE]


class NamedSteps:
    """The decoder as a graph of WebNN whose inputs have a dimension with the name "past".

    Attributes:
        seconds: How long each `dispatch` took until it returned, of all steps since `start`.
    """

    def __init__(self, weights: Weights, numerics: Numerics = "exact") -> None:
        self._context = ML(revision="2026-06+dynamic-shapes", numerics=numerics).createContextSync()
        b: Any = MLGraphBuilder(self._context)
        known: dict[str, Any] = {name: constant(b, value) for name, value in weights.items()}
        token, position = (b.input(name, described("int32", [1])) for name in ("token", "position"))
        cache = {name: b.input(name, described("float32", _shape(name, "past"))) for name in CACHE}
        outputs: dict[str, Any] = {}
        x = b.add(b.gather(known["words"], token), b.gather(known["places"], position))
        scale = b.constant("float32", SIZE**-0.5)
        for layer in range(LAYERS):
            normal = b.layerNormalization(x, axes=[1])
            q, k, v = (b.matmul(normal, known[f"{name}{layer}"]) for name in ("q", "k", "v"))
            keys = outputs[f"keys{layer}"] = b.concat([cache[f"keys{layer}"], b.reshape(k, [HEADS, SIZE, 1])], 2)
            values = outputs[f"values{layer}"] = b.concat([cache[f"values{layer}"], b.reshape(v, [HEADS, 1, SIZE])], 1)
            scores = b.softmax(b.mul(b.matmul(b.reshape(q, [HEADS, 1, SIZE]), keys), scale), 2)
            x = b.add(x, b.matmul(b.reshape(b.matmul(scores, values), [1, WIDTH]), known[f"o{layer}"]))
            x = b.add(x, b.matmul(b.relu(b.matmul(b.layerNormalization(x, axes=[1]), known[f"up{layer}"])), known[f"down{layer}"]))
        found = b.argMax(b.matmul(b.layerNormalization(x, axes=[1]), known["scores"]), 1, outputDataType="int32")
        self._graph = b.buildSync({"next": found, **outputs})
        self._token, self._position = (self._tensor("int32", [1]) for _ in range(2))
        self._next = self._tensor("int32", [1])
        self._cache: dict[str, MLTensor] = {}
        self.seconds: list[float] = []

    def _tensor(self, dataType: str, shape: Sequence[int]) -> MLTensor:
        return self._context.createTensorSync(described(dataType, shape) | {"readable": True, "writable": True})

    def start(self, past: int = 1) -> None:
        """Begin with a cache of some places, all zeros."""
        for tensor in self._cache.values():
            tensor.destroy()
        self._cache = {name: self._tensor("float32", _shape(name, past)) for name in CACHE}
        self._past, self.seconds = past, []
        self._context.writeTensor(self._token, np.zeros(1, np.int32))

    def __call__(self, steps: int) -> list[int]:
        """Take a number of steps; return the tokens."""
        tokens: list[int] = []
        for _ in range(steps):
            self._context.writeTensor(self._position, np.array([self._past % PLACES], np.int32))
            grown = {name: self._tensor("float32", _shape(name, self._past + 1)) for name in CACHE}
            inputs = {"token": self._token, "position": self._position, **self._cache}
            began = time.perf_counter()
            self._context.dispatch(self._graph, inputs, {"next": self._next, **grown})
            self.seconds.append(time.perf_counter() - began)
            content: Any = self._context.readTensorSync(self._next)
            tokens.append(int(content[0]))
            for tensor in self._cache.values():
                tensor.destroy()
            self._cache, self._past = grown, self._past + 1
            self._token, self._next = self._next, self._token
        return tokens


class SessionSteps:
    """The same decoder as a hand-written model; the cache stays in values of the engine, which makes them."""

    def __init__(self, weights: Weights) -> None:
        graph = OnnxGraph(external=True)
        known = {name: graph.weight(value) for name, value in weights.items()}
        token, position = (graph.input(name, [1], TensorProto.INT32) for name in ("token", "position"))
        for name in CACHE:
            graph.input(name, _shape(name, "past"))
        scale, ones = graph.weight(np.array(SIZE**-0.5, np.float32)), graph.weight(np.ones(WIDTH, np.float32))
        shapes = {key: graph.weight(np.array(shape)) for key, shape in _TARGETS.items()}

        def normalize(value: str) -> str:
            return graph.node("LayerNormalization", [value, ones], axis=1)

        graph.output("next", [1], TensorProto.INT32)
        x = graph.node("Add", [graph.node("Gather", [known["words"], token]), graph.node("Gather", [known["places"], position])])
        for layer in range(LAYERS):
            normal = normalize(x)
            q, k, v = (graph.node("MatMul", [normal, known[f"{name}{layer}"]]) for name in ("q", "k", "v"))
            for name, new, axis in ((f"keys{layer}", k, 2), (f"values{layer}", v, 1)):
                target = shapes["column" if axis == 2 else "row"]
                graph.node("Concat", [name, graph.node("Reshape", [new, target])], f"new {name}", axis=axis)
                graph.output(f"new {name}", _shape(name, "length"))
            product = graph.node("MatMul", [graph.node("Reshape", [q, shapes["row"]]), f"new keys{layer}"])
            scores = graph.node("Softmax", [graph.node("Mul", [product, scale])], axis=2)
            mixed = graph.node("Reshape", [graph.node("MatMul", [scores, f"new values{layer}"]), shapes["joined"]])
            x = graph.node("Add", [x, graph.node("MatMul", [mixed, known[f"o{layer}"]])])
            hidden = graph.node("Relu", [graph.node("MatMul", [normalize(x), known[f"up{layer}"]])])
            x = graph.node("Add", [x, graph.node("MatMul", [hidden, known[f"down{layer}"]])])
        found = graph.node("ArgMax", [graph.node("MatMul", [normalize(x), known["scores"]])], axis=1, keepdims=0)
        graph.node("Cast", [found], "next", to=TensorProto.INT32)
        self._weights = graph.weights
        self._session = make_session(graph)

    def start(self) -> None:
        """Begin with a cache of one place, all zeros."""
        made = onnxruntime.OrtValue.ortvalue_from_numpy
        self._cache = {name: made(np.zeros(_shape(name, 1), np.float32)) for name in CACHE}
        self._past = 1
        self._token = made(np.zeros(1, np.int32))

    def __call__(self, steps: int) -> list[int]:
        """Take a number of steps; return the tokens."""
        tokens: list[int] = []
        for _ in range(steps):
            binding = self._session.io_binding()
            binding.bind_ortvalue_input("token", self._token)
            binding.bind_ortvalue_input("position", onnxruntime.OrtValue.ortvalue_from_numpy(np.array([self._past % PLACES], np.int32)))
            for name, value in self._cache.items():
                binding.bind_ortvalue_input(name, value)
            for output in ("next", *[f"new {name}" for name in CACHE]):
                binding.bind_output(output, "cpu")
            self._session.run_with_iobinding(binding)
            self._token, *kept = binding.get_outputs()
            tokens.append(int(self._token.numpy()[0]))
            self._cache, self._past = dict(zip(CACHE, kept, strict=True)), self._past + 1
        return tokens


_TARGETS = {"column": (HEADS, SIZE, 1), "row": (HEADS, 1, SIZE), "joined": (1, WIDTH)}


def _decode(effort: Effort, numerics: Numerics) -> Result:
    weights = make_weights()
    ours, theirs = NamedSteps(weights, numerics), SessionSteps(weights)
    said: list[list[int]] = []

    def run(side: NamedSteps | SessionSteps, repeats: int) -> None:
        for _ in range(repeats):
            side.start()
            said.append(side(TOKENS))

    run(ours, 1)
    run(theirs, 1)
    if said[0] != said[1]:
        raise OutputsDifferError(f"the tokens differ: {said[0][:10]} and {said[1][:10]}")
    times = interleave(partial(run, ours), partial(run, theirs), rounds=effort.rounds, repeats=1)
    each = tuple([seconds / TOKENS for seconds in side] for side in times)
    name = "decoding" if numerics == "exact" else "decoding-fast"
    title = f"Decoder of {LAYERS} layers, {WIDTH} wide, {WORDS:,} words, a growing cache with a named length: one of {TOKENS} tokens"
    return summarize(name, title + ", fast numerics" * (numerics == "fast"), (each[0], each[1]), unit="ms", bar=1.2)


def _new_length(effort: Effort) -> Result:
    """Compare the time that `dispatch` takes with a length that is new and with one that is known; the tensors are new for both."""
    steps = NamedSteps(make_weights())
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(3 * effort.rounds):
        # A graph remembers the lengths that were used last: these, and then others.
        for seconds, past in ((None, 2 * MOST_COMPILED), (times[0], 1), (times[1], 1)):
            steps.start(past)
            steps(MOST_COMPILED)
            if seconds is not None:
                seconds.append(statistics.median(steps.seconds))
    title = "The same decoder: one call of dispatch() with a length that is new"
    return summarize_difference("decoding-length", title, times, unit="µs", bar=100, against="a length that is known")


def _memory(effort: Effort) -> Result:
    """Compare the memory of the process before and after many tokens, both with a cache of one place."""
    steps = NamedSteps(make_weights())
    steps.start()
    steps(4 * MOST_COMPILED)
    sizes = []
    for tokens in (0, effort.repeats(LENGTHS)):
        steps.start()
        steps(tokens)
        steps.start()
        steps(1)
        gc.collect()
        sizes.append(resident_bytes() / 2**20)
    return Result(
        name="decoding-memory",
        title=f"The same decoder: the process after {effort.repeats(LENGTHS):,} tokens, without their cache",
        unit="MiB",
        webnn=sizes[1],
        other=sizes[0],
        against="before",
        metric="difference",
        value=sizes[1] - sizes[0],
        low=sizes[1] - sizes[0],
        high=sizes[1] - sizes[0],
        bar=16,
    )


#: The benchmarks by their names on the command line.
DECODING_CASES: Mapping[str, Callable[[Effort], Result]] = MappingProxyType(
    {
        "decoding": partial(_decode, numerics="exact"),
        "decoding-fast": partial(_decode, numerics="fast"),
        "decoding-length": _new_length,
        "decoding-memory": _memory,
    }
)
