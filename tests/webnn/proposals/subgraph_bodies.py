"""Bodies of subgraphs for tests: attention, its grouped form with a cache and rotary embeddings, RMS normalization."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from tests.support import Array
from webnn import ML, MLContext, MLGraph, MLGraphBuilder, MLOperand

__all__ = [
    "GQA",
    "GROWN",
    "REVISION",
    "Body",
    "attention",
    "build",
    "compute",
    "gqa",
    "gqa_arrays",
    "grown",
    "grown_arrays",
    "layer_norm",
    "make_input",
    "new_context",
    "norm",
    "random_arrays",
    "rotate_pairs",
]

REVISION = "2026-06+subgraphs"

#: Connects operations with operands, by names, and returns outputs by names.
Body = Callable[[Any, Mapping[str, MLOperand]], dict[str, MLOperand]]


def new_context(numerics: Any = "exact", revision: str = REVISION) -> MLContext:
    return ML(revision=revision, numerics=numerics).createContextSync()


def make_input(builder: Any, name: str, array: Array, dataType: str = "") -> MLOperand:
    operand: MLOperand = builder.input(name, {"dataType": dataType or array.dtype.name, "shape": list(array.shape)})
    return operand


def build(
    context: MLContext,
    body: Body,
    arrays: Mapping[str, Array],
    *,
    name: str | None,
    config: Mapping[str, Any] | None = None,
    dataType: str = "",
) -> MLGraph:
    """Build a graph of one call of a subgraph; or of the operations themselves, if there is no name."""
    builder: Any = MLGraphBuilder(context)

    def inputs() -> dict[str, MLOperand]:
        return {each: make_input(builder, each, array, dataType if array.dtype.kind in "fV" else "") for each, array in arrays.items()}

    if name is None:
        graph: MLGraph = builder.buildSync(body(builder, inputs()))
        return graph
    formal = inputs()
    subgraph = builder.buildSubgraph(body(builder, formal), name=name, inputs=formal, config=config or {})
    graph = builder.buildSync(builder.subgraph(subgraph, inputs()))
    return graph


def compute(graph: MLGraph, arrays: Mapping[str, Array]) -> dict[str, Array]:
    """Compute a graph through its session; inputs that it does not need are left out."""
    implementation: Any = graph._implementation
    feeds = {slot.value: arrays[name] for name, slot in implementation.inputs.items()}
    names = list(implementation.outputs)
    return dict(zip(names, implementation._session.run([implementation.outputs[each].value for each in names], feeds), strict=True))


def random_arrays(seed: int, dtype: str = "float32", **shapes: list[int]) -> dict[str, Array]:
    rng = np.random.default_rng(seed)
    return {name: rng.standard_normal(shape).astype(dtype) for name, shape in shapes.items()}


def attention(scale: float | None = 0.5, *, masked: bool = False) -> Body:
    """Return softmax(q * transposed k * scale + mask) * v."""

    def body(builder: Any, inputs: Mapping[str, MLOperand]) -> dict[str, MLOperand]:
        q, k, v = inputs["q"], inputs["k"], inputs["v"]
        rank = len(q.shape)
        scores = builder.matmul(q, builder.transpose(k, permutation=[*range(rank - 2), rank - 1, rank - 2]))
        if scale is not None:
            scores = builder.mul(scores, builder.constant(q.dataType, scale))
        if masked:
            scores = builder.add(scores, inputs["mask"])
        return {"y": builder.matmul(builder.softmax(scores, rank - 1), v)}

    return body


def norm(epsilon: float = 1e-5, *, weighted: bool = True, first: int | None = None) -> Body:
    """Return x / sqrt(mean of squares + epsilon) * weight, over the axes from one on."""

    def body(builder: Any, inputs: Mapping[str, MLOperand]) -> dict[str, MLOperand]:
        x = inputs["x"]
        rank = len(x.shape)
        axes = list(range(rank - 1 if first is None else first, rank))
        mean = builder.reduceMean(builder.mul(x, x), axes=axes, keepDimensions=True)
        y = builder.div(x, builder.sqrt(builder.add(mean, builder.constant(x.dataType, epsilon))))
        return {"y": builder.mul(y, inputs["weight"]) if weighted else y}

    return body


#: The shape of a decoder: batch, heads of queries, heads of keys, tokens, size of the cache, size of a head.
GQA = (2, 4, 2, 3, 8, 6)


def gqa(scale: float | None = None, *, rotary: bool = True) -> Body:
    """Return what examples/js/subgraphs.mjs connects for grouped-query attention."""

    def body(builder: Any, inputs: Mapping[str, MLOperand]) -> dict[str, MLOperand]:
        query, key = inputs["query"], inputs["key"]
        batch, heads, tokens, size = query.shape
        shared, most = inputs["past_key"].shape[1:3]

        def count(number: int, *shape: int) -> Any:
            values = builder.constant({"dataType": "int32", "shape": [number]}, np.arange(number, dtype=np.int32))
            return builder.reshape(values, list(shape))

        last = builder.sub(builder.reshape(inputs["seqlens_k"], [batch, 1]), builder.constant("int32", tokens - 1))
        positions = builder.add(last, count(tokens, 1, tokens))
        if rotary:
            query, key = (_rotate(builder, each, positions, inputs["cos_cache"], inputs["sin_cache"]) for each in (query, key))
        whole = [batch, shared, tokens, 1]
        parts = [count(batch, batch, 1, 1, 1), count(shared, 1, shared, 1, 1), builder.reshape(positions, [batch, 1, tokens, 1])]
        places = builder.concat([builder.expand(each, whole) for each in parts], 3)
        present = {name: builder.scatterND(inputs[f"past_{name}"], places, new) for name, new in (("key", key), ("value", inputs["value"]))}
        repeated = []
        for each in present.values():
            split = builder.reshape(each, [batch, shared, 1, most, size])
            expanded = builder.expand(split, [batch, shared, heads // shared, most, size])
            repeated.append(builder.reshape(expanded, [batch, heads, most, size]))
        columns = count(most, 1, 1, 1, most)
        isBefore = builder.lesserOrEqual(columns, builder.reshape(positions, [batch, 1, tokens, 1]))
        isThere = builder.lesser(columns, builder.reshape(inputs["total_sequence_length"], [1, 1, 1, 1]))
        visible = builder.logicalAnd(isBefore, isThere)
        mask = builder.where(visible, builder.constant(query.dataType, 0), builder.constant(query.dataType, -np.inf))
        products = builder.matmul(query, builder.transpose(repeated[0], permutation=[0, 1, 3, 2]))
        scores = builder.mul(products, builder.constant(query.dataType, size**-0.5 if scale is None else scale))
        context = builder.matmul(builder.softmax(builder.add(scores, mask), 3), repeated[1])
        output = builder.reshape(builder.transpose(context, permutation=[0, 2, 1, 3]), [batch, tokens, heads * size])
        return {"output": output, "present_key": present["key"], "present_value": present["value"]}

    return body


def _rotate(builder: Any, operand: Any, positions: MLOperand, cosines: MLOperand, sines: MLOperand) -> MLOperand:
    batch, _, tokens, size = operand.shape
    shape = [batch, 1, tokens, size // 2]
    cosine, sine = (builder.reshape(builder.gather(table, positions, axis=0), shape) for table in (cosines, sines))
    left, right = builder.split(operand, 2, axis=3)
    rotated: MLOperand = builder.concat(
        [
            builder.sub(builder.mul(left, cosine), builder.mul(right, sine)),
            builder.add(builder.mul(right, cosine), builder.mul(left, sine)),
        ],
        3,
    )
    return rotated


def gqa_arrays(dtype: str = "float32", shape: tuple[int, ...] = GQA) -> dict[str, Array]:
    """Return the inputs of `gqa`."""
    batch, heads, shared, tokens, most, size = shape
    kinds = {
        "query": (heads, tokens),
        "key": (shared, tokens),
        "value": (shared, tokens),
        "past_key": (shared, most),
        "past_value": (shared, most),
    }
    arrays = random_arrays(0, dtype, **{name: [batch, *kind, size] for name, kind in kinds.items()})
    angles = np.outer(np.arange(most), 0.1 ** np.arange(size // 2))
    lengths = np.linspace(tokens + 1, most - 1, batch).astype(np.int32)
    return arrays | {
        "seqlens_k": lengths,
        "total_sequence_length": np.array(lengths.max() + 1, np.int32),
        "cos_cache": np.cos(angles).astype(dtype),
        "sin_cache": np.sin(angles).astype(dtype),
    }


#: The shape of a decoder whose cache grows: heads of queries, heads of keys, tokens, earlier tokens, size of a head.
GROWN = (4, 2, 1, 5, 8)


def grown(heads: int = 4, *, masked: bool = False, rotary: bool = False, extra: Any = None) -> Body:
    """Return attention whose keys and values join those of earlier steps. ``extra`` makes more outputs of the joined keys."""

    def body(b: Any, inputs: Mapping[str, MLOperand]) -> dict[str, MLOperand]:
        _, rows, width = inputs["q"].shape
        shared, size = inputs["past_k"].shape[1], width // heads
        q, k, v = (
            b.transpose(b.reshape(inputs[name], [1, rows, count, size]), permutation=[0, 2, 1, 3])
            for name, count in (("q", heads), ("k", shared), ("v", shared))
        )
        if rotary:
            q, k = (rotate_pairs(b, each, inputs["cosines"], inputs["sines"]) for each in (q, k))
        present = {name: b.concat([inputs[f"past_{name}"], new], 2) for name, new in (("k", k), ("v", v))}
        results: dict[str, MLOperand] = {} if extra is None else {"extra": extra(b, present["k"])}
        if heads != shared:
            # The heads that share keys are more rows.
            q = b.reshape(q, [1, shared, heads // shared * rows, size])
        scores = b.mul(b.matmul(q, b.transpose(present["k"], permutation=[0, 1, 3, 2])), b.constant("float32", size**-0.5))
        if masked:
            scores = b.add(scores, inputs["mask"])
        mixed = b.reshape(b.matmul(b.softmax(scores, 3), present["v"]), [1, heads, rows, size])
        output = b.reshape(b.transpose(mixed, permutation=[0, 2, 1, 3]), [1, rows, width])
        return {"y": output, "present_k": present["k"], "present_v": present["v"], **results}

    return body


def grown_arrays(shape: tuple[int, ...] = GROWN, *, masked: bool = False, rotary: bool = False) -> dict[str, Array]:
    """Return the inputs of `grown`. The mask, [shared or 1, rows, all tokens], hides later tokens from each row."""
    heads, shared, rows, earlier, size = shape
    sizes = {"q": [1, rows, heads * size], **{name: [1, rows, shared * size] for name in "kv"}}
    arrays = random_arrays(5, **sizes, **{f"past_{name}": [1, shared, earlier, size] for name in "kv"})
    if masked:
        hidden = np.arange(earlier + rows) > np.arange(rows)[:, None] + earlier
        arrays["mask"] = np.tile(np.where(hidden, -np.inf, 0).astype(np.float32), (heads // shared, 1))[None, None]
    if rotary:
        angles = np.outer(np.arange(rows) + earlier, 0.1 ** np.arange(size // 2))[None, None]
        arrays |= {"cosines": np.cos(angles).astype(np.float32), "sines": np.sin(angles).astype(np.float32)}
    return arrays


def rotate_pairs(b: Any, x: MLOperand, cosines: MLOperand, sines: MLOperand) -> MLOperand:
    """Turn pairs of neighbouring features of [batch, heads, rows, size] by angles, [1, 1, rows, size / 2]."""
    *whole, size = x.shape
    left, right = (b.reshape(each, [*whole, size // 2]) for each in b.split(b.reshape(x, [*whole, size // 2, 2]), 2, axis=4))
    turned = [b.sub(b.mul(left, cosines), b.mul(sines, right)), b.add(b.mul(left, sines), b.mul(right, cosines))]
    rotated: MLOperand = b.reshape(b.concat([b.reshape(each, [*whole, size // 2, 1]) for each in turned], 4), [*whole, size])
    return rotated


def layer_norm(*, weighted: bool = True, biased: bool = True, skipped: bool = False) -> Body:
    """Return (x - mean) / sqrt(variance + epsilon) * weight + bias over the last axis; x may be a sum, which is an output, too."""

    def body(b: Any, inputs: Mapping[str, MLOperand]) -> dict[str, MLOperand]:
        x = b.add(inputs["x"], inputs["skip"]) if skipped else inputs["x"]
        axes = [len(x.shape) - 1]
        centred = b.sub(x, b.reduceMean(x, axes=axes, keepDimensions=True))
        variance = b.reduceMean(b.mul(centred, centred), axes=axes, keepDimensions=True)
        y = b.div(centred, b.sqrt(b.add(variance, b.constant(x.dataType, 1e-5))))
        y = b.mul(y, inputs["weight"]) if weighted else y
        y = b.add(y, inputs["bias"]) if biased else y
        return {"y": y, "sum": x} if skipped else {"y": y}

    return body
