"""Calls of subgraphs under fast numerics: by the engine's kernels, beside the same operators without a name that the engine knows.

And a decoder of calls, with a growing cache, beside the session of `benchmarks.decoding`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np

from benchmarks.decoding import CACHE, HEADS, LAYERS, PLACES, SIZE, TOKENS, WIDTH, WORDS, SessionSteps, Weights, make_weights
from benchmarks.measure import Array, Effort, OutputsDifferError, Result, compete, interleave, summarize
from benchmarks.sides import TensorProgram, constant, described
from webnn import ML, MLGraphBuilder, MLOperand, MLTensor

__all__ = ["SUBGRAPH_CASES", "Case", "DecoderSteps", "make_gqa", "make_norm", "side"]

#: Connects operations with operands, by names, and returns outputs by names.
Body = Callable[[Any, Mapping[str, Any]], dict[str, MLOperand]]
#: A body and its inputs.
Case = tuple[Body, Mapping[str, Array]]


def side(case: Case, name: str) -> TensorProgram:
    """Build a call of a subgraph of a name, and write its inputs."""
    body, inputs = case
    context = ML(revision="2026-06+subgraphs", numerics="fast").createContextSync()
    builder: Any = MLGraphBuilder(context)
    formal, given = (
        {each: builder.input(each, described(array.dtype.name, array.shape)) for each, array in inputs.items()} for _ in range(2)
    )
    subgraph = builder.buildSubgraph(body(builder, formal), name=name, inputs=formal)
    outputs: dict[str, MLOperand] = builder.subgraph(subgraph, given)
    shapes: dict[str, Sequence[int]] = {each: operand.shape for each, operand in outputs.items()}
    program = TensorProgram(context, builder.buildSync(outputs), inputs, shapes)
    program()
    return program


def make_gqa(tokens: int = 1, heads: int = 32, shared: int = 8, most: int = 1024, size: int = 64) -> Case:
    """Return a decoder's step as in issue #907: rotary embeddings, a cache, heads of queries that share keys and values."""
    rng = np.random.default_rng(0)
    angles = np.outer(np.arange(most), 10_000.0 ** -np.linspace(0, 1, size // 2))
    shapes = {
        "query": (heads, tokens),
        "key": (shared, tokens),
        "value": (shared, tokens),
        "past_key": (shared, most),
        "past_value": (shared, most),
    }
    inputs = {name: rng.standard_normal((1, *shape, size), np.float32) for name, shape in shapes.items()}
    inputs |= {"cos": np.cos(angles).astype(np.float32), "sin": np.sin(angles).astype(np.float32)}
    inputs |= {"seqlens_k": np.array([most - 3], np.int32)}

    def body(b: Any, x: Mapping[str, Any]) -> dict[str, MLOperand]:
        def count(number: int, *shape: int) -> Any:
            return constant(b, np.arange(number, dtype=np.int32).reshape(shape))

        positions = b.add(b.sub(b.reshape(x["seqlens_k"], [1, 1]), b.constant("int32", tokens - 1)), count(tokens, 1, tokens))
        cosine, sine = (b.reshape(b.gather(x[name], positions), [1, 1, tokens, size // 2]) for name in ("cos", "sin"))

        def rotate(operand: Any) -> Any:
            left, right = b.split(operand, 2, axis=3)
            halves = [b.sub(b.mul(left, cosine), b.mul(right, sine)), b.add(b.mul(right, cosine), b.mul(left, sine))]
            return b.concat(halves, 3)

        parts = [b.constant("int32", 0), count(shared, 1, shared, 1, 1), b.reshape(positions, [1, 1, tokens, 1])]
        places = b.concat([b.expand(each, [1, shared, tokens, 1]) for each in parts], 3)
        present = [b.scatterND(x["past_key"], places, rotate(x["key"])), b.scatterND(x["past_value"], places, x["value"])]

        def repeat(operand: Any) -> Any:
            split = b.expand(b.reshape(operand, [1, shared, 1, most, size]), [1, shared, heads // shared, most, size])
            return b.reshape(split, [1, heads, most, size])

        keys, values = map(repeat, present)
        isVisible = b.lesserOrEqual(count(most, 1, 1, 1, most), b.reshape(positions, [1, 1, tokens, 1]))
        mask = b.where(isVisible, b.constant("float32", 0), b.constant("float32", -np.inf))
        products = b.matmul(rotate(x["query"]), b.transpose(keys, permutation=[0, 1, 3, 2]))
        weights = b.softmax(b.add(b.mul(products, b.constant("float32", size**-0.5)), mask), 3)
        output = b.reshape(b.transpose(b.matmul(weights, values), permutation=[0, 2, 1, 3]), [1, tokens, heads * size])
        return {"output": output, "present_key": present[0], "present_value": present[1]}

    return body, inputs


def make_norm(rows: int = 128, features: int = 2048) -> Case:
    """Return RMS normalization with a weight."""
    rng = np.random.default_rng(0)
    inputs = {"x": rng.standard_normal((1, rows, features), np.float32), "weight": rng.standard_normal(features, np.float32)}

    def body(b: Any, x: Mapping[str, Any]) -> dict[str, MLOperand]:
        mean = b.reduceMean(b.mul(x["x"], x["x"]), axes=[2], keepDimensions=True)
        return {"y": b.mul(b.div(x["x"], b.sqrt(b.add(mean, b.constant("float32", 1e-6)))), x["weight"])}

    return body, inputs


def _measure(effort: Effort, name: str, title: str, make: Callable[[], Case], known: str, repeats: int) -> Result:
    case = make()
    ours, theirs = side(case, known), side(case, "")
    times = compete(ours.queue, theirs.queue, effort, repeats)
    return summarize(name, f"{title}, fast numerics", times, unit="ms", bar=1, against="webnn, the same operators one by one")


class DecoderSteps:
    """The decoder of `benchmarks.decoding` whose layers are calls, with a cache that grows by the token; its length has a name."""

    def __init__(self, weights: Weights) -> None:
        revision: Any = "2026-06+dynamic-shapes+subgraphs"
        self._context = ML(revision=revision, numerics="fast").createContextSync()
        b: Any = MLGraphBuilder(self._context)
        known: dict[str, Any] = {name: constant(b, value) for name, value in weights.items()}
        token, position = (b.input(name, described("int32", [1])) for name in ("token", "position"))
        cache = {name: b.input(name, described("float32", _kept("past"))) for name in CACHE}
        x = b.add(b.gather(known["words"], token), b.gather(known["places"], position))
        attend = _attention(b)
        outputs: dict[str, MLOperand] = {}
        for layer in range(LAYERS):
            names = {"past_keys": f"keys{layer}", "past_values": f"values{layer}"}
            normal = b.layerNormalization(x, axes=[1])
            projected = {name: b.matmul(normal, known[f"{name}{layer}"]) for name in ("q", "k", "v")}
            made = b.subgraph(attend, projected | {name: cache[each] for name, each in names.items()})
            outputs |= {f"keys{layer}": made["keys"], f"values{layer}": made["values"]}
            x = b.add(x, b.matmul(made["output"], known[f"o{layer}"]))
            x = b.add(x, b.matmul(b.relu(b.matmul(b.layerNormalization(x, axes=[1]), known[f"up{layer}"])), known[f"down{layer}"]))
        found = b.argMax(b.matmul(b.layerNormalization(x, axes=[1]), known["scores"]), 1, outputDataType="int32")
        self._graph = b.buildSync({"next": found, **outputs})
        self._token, self._position, self._next = (self._tensor("int32", [1]) for _ in range(3))
        self._cache: dict[str, MLTensor] = {}

    def _tensor(self, dataType: str, shape: Sequence[int]) -> MLTensor:
        return self._context.createTensorSync(described(dataType, shape) | {"readable": True, "writable": True})

    def start(self) -> None:
        """Begin with a cache of one place, all zeros."""
        for tensor in self._cache.values():
            tensor.destroy()
        self._cache = {name: self._tensor("float32", _kept(1)) for name in CACHE}
        self._past = 1
        self._context.writeTensor(self._token, np.zeros(1, np.int32))

    def __call__(self, steps: int) -> list[int]:
        """Take a number of steps; return the tokens."""
        tokens: list[int] = []
        for _ in range(steps):
            self._context.writeTensor(self._position, np.array([self._past % PLACES], np.int32))
            grown = {name: self._tensor("float32", _kept(self._past + 1)) for name in CACHE}
            inputs = {"token": self._token, "position": self._position, **self._cache}
            self._context.dispatch(self._graph, inputs, {"next": self._next, **grown})
            content: Any = self._context.readTensorSync(self._next)
            tokens.append(int(content[0]))
            for tensor in self._cache.values():
                tensor.destroy()
            self._cache, self._past = grown, self._past + 1
            self._token, self._next = self._next, self._token
        return tokens


def _kept(past: Any) -> list[Any]:
    """Return the shape of a part of the cache: rows of keys or values for each head."""
    return [1, HEADS, past, SIZE]


def _attention(b: Any) -> Any:
    """Make the subgraph of attention, which joins a new key and value with the cache."""
    formal = {name: b.input(name, described("float32", [1, WIDTH])) for name in "qkv"}
    formal |= {name: b.input(name, described("float32", _kept("past"))) for name in ("past_keys", "past_values")}
    q, k, v = (b.transpose(b.reshape(formal[name], [1, 1, HEADS, SIZE]), permutation=[0, 2, 1, 3]) for name in "qkv")
    keys, values = b.concat([formal["past_keys"], k], 2), b.concat([formal["past_values"], v], 2)
    products = b.matmul(q, b.transpose(keys, permutation=[0, 1, 3, 2]))
    mixed = b.matmul(b.softmax(b.mul(products, b.constant("float32", SIZE**-0.5)), 3), values)
    output = b.reshape(b.transpose(mixed, permutation=[0, 2, 1, 3]), [1, WIDTH])
    return b.buildSubgraph({"output": output, "keys": keys, "values": values}, name="MultiHeadAttention", inputs=formal)


def _decode(effort: Effort) -> Result:
    weights = make_weights()
    ours, theirs = DecoderSteps(weights), SessionSteps(weights)
    said: list[list[int]] = []

    def run(side: DecoderSteps | SessionSteps, repeats: int) -> None:
        for _ in range(repeats):
            side.start()
            said.append(side(TOKENS))

    run(ours, 1)
    run(theirs, 1)
    if said[0] != said[1]:
        raise OutputsDifferError(f"the tokens differ: {said[0][:10]} and {said[1][:10]}")
    times = interleave(partial(run, ours), partial(run, theirs), rounds=effort.rounds, repeats=1)
    each = tuple([seconds / TOKENS for seconds in side] for side in times)
    title = f"Decoder of {LAYERS} layers, {WIDTH} wide, {WORDS:,} words, attention as subgraphs, a growing cache: one of {TOKENS} tokens"
    return summarize("decoding-subgraphs", f"{title}, fast numerics", (each[0], each[1]), unit="ms", bar=0.9)


#: The benchmarks by their names on the command line.
SUBGRAPH_CASES: Mapping[str, Callable[[Effort], Result]] = MappingProxyType(
    {
        "decoding-subgraphs": _decode,
        "gqa": partial(
            _measure,
            name="gqa",
            title="Subgraph GQA, 32 heads of 64 that share 8, 1,024 keys: one token",
            make=make_gqa,
            known="GQA",
            repeats=20,
        ),
        "gqa-128": partial(
            _measure,
            name="gqa-128",
            title="Subgraph GQA, 32 heads of 64 that share 8, 1,024 keys: 128 tokens",
            make=partial(make_gqa, 128),
            known="GQA",
            repeats=4,
        ),
        "rms-norm": partial(
            _measure,
            name="rms-norm",
            title="Subgraph RMSNorm, float32 [1, 128, 2048]: one call",
            make=make_norm,
            known="RMSNorm",
            repeats=50,
        ),
    }
)
