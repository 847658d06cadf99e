"""Attention with grouped heads of the domain com.microsoft, which the builder of ONNX Runtime's GenAI library writes, and its rotary embeddings.

A cache of keys and values has rows for a number of steps; `seqlens_k` says how many are valid afterwards. If that is known at import, slices
and concat put the new rows behind them; otherwise a gather does, and one graph serves all steps.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from webnn.builder.operand import MLOperand
from webnn.importing.moving import slice_axis
from webnn.importing.steps import Result
from webnn.importing.values import Refused
from webnn.onnx.attention import Attended, attend, causal, concat, join_heads, pick_rotation, rotate, split_heads
from webnn.onnx.node import Node
from webnn.onnx.rules.microsoft import apply
from webnn.onnx.rules.normalization import RULES as NORMALIZATION
from webnn.validation.descriptor import NUMPY_DTYPES

__all__ = ["RULES"]

_REFUSED: Mapping[str, str] = {
    "sliding_window_cache": "export the model with a cache for all tokens",
}


@dataclass(frozen=True, kw_only=True)
class _Cache:
    """The rows of a cache.

    Attributes:
        batch: The size of the batch.
        rows: The rows of a step.
        before: The rows of the cache before the step.
        after: The rows of the cache behind it.
        columns: The rows that the step attends to.
        past: The valid rows before the step; None if they are not known, or not the same in all elements of the batch.
        counts: The valid rows before the step, [batch, 1] in int32, if they are not known.
    """

    batch: int
    rows: int
    before: int
    after: int
    columns: int
    past: int | None
    counts: MLOperand | None


def _read_cache(node: Node, batch: int, rows: int) -> _Cache:
    """Read the sizes of the caches and of the valid rows."""
    before = node.value(3).shape[2] if node.given(3) and node.value(3).rank == 4 else 0
    total = node.find_array(node.value(6))
    lengths = node.find_array(node.value(5))
    if node.value(5).size != batch:
        raise Refused(f"seqlens_k must have an element for each of {batch} elements of the batch, got {list(node.value(5).shape)}")
    if total is None and (lengths is None or not before):
        # The model promises that the rows fit into the cache.
        columns = after = before
        if before < rows:
            node.known(6, "total_sequence_length")
    else:
        columns = int(lengths.max()) + 1 if total is None and lengths is not None else int(node.known_integers(6, "total_sequence_length")[0])
        after = max(before, columns)
    if columns < rows:
        raise Refused(f"total_sequence_length must be at least the number of new rows, {rows}, got {columns}")
    past: int | None = None
    if lengths is not None:
        starts = np.maximum(lengths.reshape(-1).astype(np.int64) + 1 - rows, 0)
        past = int(starts[0]) if (starts == starts[0]).all() else None
    elif total is not None and batch == 1 or not before:
        past = columns - rows if before else 0
    if past is not None:
        if past > before:
            raise Refused(f"the cache must have the rows before the step, {past}, got {before}")
        return _Cache(batch=batch, rows=rows, before=before, after=after, columns=columns, past=past, counts=None)
    ends = node.cast(node.reshape(node.operand(5), [batch, 1]), "int32")
    counts = node.builder.relu(node.builder.add(ends, node.scalar(1 - rows, ends)))
    return _Cache(batch=batch, rows=rows, before=before, after=after, columns=columns, past=None, counts=counts)


def _positions(node: Node, cache: _Cache) -> MLOperand:
    """Return the positions of the new rows: [batch, rows]."""
    steps = np.arange(cache.rows, dtype=np.int32).reshape(1, cache.rows)
    if cache.counts is None:
        return node.constant(np.tile(steps + (cache.past or 0), (cache.batch, 1)))
    return node.builder.add(cache.counts, node.constant(steps))


def _given_positions(node: Node, cache: _Cache) -> MLOperand:
    """Return the positions of an input; of those of a prompt the first one counts."""
    if cache.columns != cache.rows:
        return node.operand(9)
    return _follow(node, slice_axis(node, node.reshape(node.operand(9), [node.value(9).size]), 0, 0, 1), cache.batch, cache.rows)


def _follow(node: Node, first: MLOperand, batch: int, rows: int) -> MLOperand:
    """Return the positions of rows from the first one on: [batch, rows]."""
    first = node.reshape(node.cast(first, "int32"), [1, 1])
    return node.builder.add(first, node.constant(np.tile(np.arange(rows, dtype=np.int32), (batch, 1))))


def _update(node: Node, cache: _Cache, index: int, new: MLOperand) -> tuple[MLOperand, MLOperand]:
    """Return the cache of an input with the new rows behind the valid ones, and its rows that are attended to. Rows behind them are 0."""
    batch, heads, rows, size = new.descriptor.dimensions
    builder = node.builder
    if cache.before and node.value(index).shape != (batch, heads, cache.before, size):
        raise Refused(f"past keys and values must be {[batch, heads, cache.before, size]}, got {list(node.value(index).shape)}")
    dtype = NUMPY_DTYPES[new.descriptor.dataType]

    def zeros(count: int) -> MLOperand | None:
        return node.constant(np.broadcast_to(dtype.type(0), (batch, heads, count, size))) if count else None

    old = node.operand(index) if cache.before else None
    if cache.past is not None:
        first = slice_axis(node, old, 2, 0, cache.past) if old is not None and cache.past else None
        known = concat(node, [first, new], 2)
        whole = concat(node, [known, zeros(cache.after - cache.past - rows)], 2)
        missing = cache.columns - cache.past - rows
        return whole, slice_axis(node, whole, 2, 0, cache.columns) if missing else known
    source = concat(node, [old, new, zeros(1)], 2)
    assert cache.counts is not None
    places = node.constant(np.arange(cache.after, dtype=np.int32).reshape(1, cache.after))
    count = cache.before + rows + 1
    ends = builder.add(cache.counts, node.scalar(rows, cache.counts))
    moved = builder.add(builder.sub(places, cache.counts), node.scalar(cache.before, cache.counts))
    behind = builder.where(builder.lesser(places, ends), moved, node.scalar(count - 1, cache.counts))
    chosen = builder.where(builder.lesser(places, cache.counts), places, behind)
    starts = (np.arange(batch * heads, dtype=np.int32) * count).reshape(batch, heads, 1)
    chosen = builder.add(node.reshape(chosen, [batch, 1, cache.after]), node.constant(starts))
    whole = builder.gather(node.reshape(source, [batch * heads * count, size]), chosen, axis=0)
    return whole, slice_axis(node, whole, 2, 0, cache.columns)


def _visible(node: Node, cache: _Cache, like: MLOperand) -> MLOperand | None:
    """Return the mask of rows that see valid ones: up to their own, or the last few of these; or all of them."""
    rows, columns, window = cache.rows, cache.columns, node.integer("local_window_size", -1)
    isCausal = node.flag("causal", default=True)
    if cache.past is not None and cache.past + rows == columns:
        return causal(node, rows, columns, like, window=window) if isCausal and (rows > 1 or 0 < window < columns) else None
    builder = node.builder
    own = _positions(node, cache)
    own = node.reshape(own if isCausal else slice_axis(node, own, 1, rows - 1, 1), [cache.batch, 1, rows if isCausal else 1, 1])
    places = node.constant(np.arange(columns, dtype=np.int32).reshape(1, 1, 1, columns))
    allowed = builder.lesserOrEqual(places, own)
    if window > 0:
        allowed = builder.logicalAnd(allowed, builder.greater(places, builder.sub(own, node.scalar(window, own))))
    lowest = float(np.finfo(NUMPY_DTYPES[like.descriptor.dataType]).min)
    return builder.where(allowed, node.scalar(0, like), node.scalar(lowest, like))


def _grouped(node: Node) -> list[Result]:
    """Map to the operations of attention, for heads that share keys and values. Caches are results of their own."""
    for name, advice in _REFUSED.items():
        if node.integer(name, 0):
            raise Refused(f"{name} must be 0, got {node.integer(name)}", advice)
    if node.given(16):
        raise Refused("query_seqlens must not be given", "export the model for prompts without padding")
    heads, groups = node.integer("num_heads", least=1), node.integer("kv_num_heads", least=1)
    x = node.operand(0)
    shape = x.descriptor.dimensions
    if len(shape) != 3:
        raise Refused(f"query must be [batch, rows, features], got {list(shape)}")
    if node.given(1):
        q, k, v = (split_heads(node, each, count) for each, count in ((x, heads), (node.operand(1), groups), (node.operand(2), groups)))
    else:
        q, k, v = node.builder.split(split_heads(node, x, heads + 2 * groups), [heads, groups, groups], axis=1)
    batch, _, rows, _ = q.descriptor.dimensions
    if node.given(14):
        q, k = (
            apply(NORMALIZATION, "RMSNormalization", node, [each, node.value(index)], {"axis": -1, "epsilon": _epsilon(node, name)})
            for index, name, each in ((14, "q", q), (15, "k", k))
        )
    cache = _read_cache(node, batch, rows)
    if node.integer("do_rotary", 0):
        positions = _given_positions(node, cache) if node.given(9) else _positions(node, cache)
        rotation = pick_rotation(node, [node.operand(7), node.operand(8)], positions)
        q, k = (rotate(node, each, rotation, interleaved=node.flag("rotary_interleaved", default=False)) for each in (q, k))
    (presentKey, keys), (presentValue, values) = (_update(node, cache, index, each) for index, each in ((3, k), (4, v)))
    masks = (_visible(node, cache, q), node.operand(10) if node.given(10) else None)
    sinks = node.operand(11) if node.given(11) else None
    if sinks is None and node.integer("smooth_softmax", 0):
        sinks = node.constant(np.zeros(heads, NUMPY_DTYPES[q.descriptor.dataType]))
    attended = attend(
        node,
        q,
        keys,
        values,
        scale=node.number("scale", 0.0),
        masks=[each for each in masks if each is not None],
        softcap=node.number("softcap", 0.0),
        sinks=sinks,
    )
    return [join_heads(node, attended.output), presentKey, presentValue, _scores(node, attended)]


def _scores(node: Node, attended: Attended) -> MLOperand | None:
    """Return the scores before softmax, with 0 for those that are hidden, or those behind it."""
    if not any(node.outputs[3:]):
        return None
    if node.integer("qk_output", 0) != 1:
        return attended.weights
    scores = attended.scores
    lowest = float(np.finfo(NUMPY_DTYPES[scores.descriptor.dataType]).min) / 2
    return node.builder.where(node.builder.greater(scores, node.scalar(lowest, scores)), scores, node.scalar(0, scores))


def _epsilon(node: Node, name: str) -> float:
    return node.number(f"{name}_norm_epsilon", node.number("qk_norm_epsilon", 1e-6))


# Rotary embeddings.


def _rotary(node: Node) -> MLOperand:
    """Rotate pairs of features by the angles of positions: one position for each row, or that of the first row."""
    value = node.value(0)
    x = node.operand(0)
    heads = node.integer("num_heads", 0, least=0)
    if node.integer("is_packed_batching", 0):
        raise Refused("is_packed_batching must be 0", "export the model for sequences of one length")
    if value.rank == 3:
        width = 2 * node.value(2).shape[-1] if not node.integer("rotary_embedding_dim", 0) or not heads else value.shape[2] // heads
        x = split_heads(node, x, value.shape[2] // width)
    batch, _, rows, _ = x.descriptor.dimensions
    positions = node.operand(1)
    if positions.descriptor.dimensions != (batch, rows):
        positions = _follow(node, positions, batch, rows)
    rotation = pick_rotation(node, [node.operand(2), node.operand(3)], positions)
    y = rotate(node, x, rotation, interleaved=node.flag("interleaved", default=False))
    y = join_heads(node, y) if value.rank == 3 else y
    scale = node.number("scale", 1.0)
    return y if scale == 1 else node.builder.mul(y, node.scalar(scale, y))


_RULES: Mapping[str, Callable[[Node], Result | list[Result]]] = {"GroupQueryAttention": _grouped, "RotaryEmbedding": _rotary}

RULES: Mapping[str, Callable[[Node], Result | list[Result]]] = {f"com.microsoft.{name}": rule for name, rule in _RULES.items()}
