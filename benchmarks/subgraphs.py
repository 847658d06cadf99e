"""Calls of subgraphs under fast numerics: by the engine's kernels, beside the same operators without a name that the engine knows.

And a decoder of calls, with a growing cache, beside a session.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np

from benchmarks.decoder import USUAL, Cache, Decoder, GraphSteps, SessionSteps
from benchmarks.decoding import GROWING, race
from benchmarks.measure import Array, Effort, Result, compete, summarize
from benchmarks.sides import TensorProgram, constant, described
from webnn import ML, MLGraphBuilder, MLOperand

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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rows(Cache):
    """A cache of rows for each head, for keys, too."""

    def shape(self, decoder: Decoder, part: str, past: Any = "past") -> list[Any]:
        """Return the shape of a part."""
        del part
        return [1, decoder.heads, past, decoder.size]


class DecoderSteps(GraphSteps):
    """The loop over the decoder of `benchmarks.decoder` whose attention is a call. Its cache grows, and its length has a name."""

    def __init__(self, weights: Mapping[str, Array]) -> None:
        revision: Any = "2026-06+dynamic-shapes+subgraphs"
        context = ML(revision=revision, numerics="fast").createContextSync()
        super().__init__(context, USUAL, _Rows(kind="growing"), weights)

    def _connect(
        self, b: Any, weights: Mapping[str, Array], token: Any, position: Any, cached: Mapping[str, Any]
    ) -> tuple[Any, dict[str, Any]]:
        known: dict[str, Any] = {name: constant(b, value) for name, value in weights.items()}
        x = b.add(b.gather(known["words"], token), b.gather(known["places"], position))
        attend = _attention(b, self._decoder, self._cache)
        kept: dict[str, Any] = {}
        for layer in range(self._decoder.layers):
            names = {"past_keys": f"keys{layer}", "past_values": f"values{layer}"}
            normal = b.layerNormalization(x, axes=[1])
            projected = {name: b.matmul(normal, known[f"{name}{layer}"]) for name in ("q", "k", "v")}
            made = b.subgraph(attend, projected | {name: cached[each] for name, each in names.items()})
            kept |= {f"keys{layer}": made["keys"], f"values{layer}": made["values"]}
            x = b.add(x, b.matmul(made["output"], known[f"o{layer}"]))
            x = b.add(x, b.matmul(b.relu(b.matmul(b.layerNormalization(x, axes=[1]), known[f"up{layer}"])), known[f"down{layer}"]))
        return b.matmul(b.layerNormalization(x, axes=[1]), known["scores"]), kept


def _attention(b: Any, decoder: Decoder, cache: Cache) -> Any:
    """Make the subgraph of attention, which joins a new key and value with the cache."""
    formal = {name: b.input(name, described("float32", [1, decoder.width])) for name in "qkv"}
    formal |= {name: b.input(name, described("float32", cache.shape(decoder, name))) for name in ("past_keys", "past_values")}
    heads = [1, 1, decoder.heads, decoder.size]
    q, k, v = (b.transpose(b.reshape(formal[name], heads), permutation=[0, 2, 1, 3]) for name in "qkv")
    keys, values = b.concat([formal["past_keys"], k], 2), b.concat([formal["past_values"], v], 2)
    products = b.matmul(q, b.transpose(keys, permutation=[0, 1, 3, 2]))
    mixed = b.matmul(b.softmax(b.mul(products, b.constant("float32", decoder.size**-0.5)), 3), values)
    output = b.reshape(b.transpose(mixed, permutation=[0, 2, 1, 3]), [1, decoder.width])
    return b.buildSubgraph({"output": output, "keys": keys, "values": values}, name="MultiHeadAttention", inputs=formal)


def _decode(effort: Effort) -> Result:
    weights = USUAL.weights()
    title = "attention as subgraphs, a growing cache, fast numerics"
    return race(effort, "decoding-subgraphs", title, DecoderSteps(weights), [SessionSteps(USUAL, GROWING, weights)], bar=0.9)


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
