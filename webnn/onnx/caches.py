"""Caches of keys and values: rows of earlier steps, and those of a step behind them.

How many rows are valid may be known at import: then slices and concat put the new rows behind them. Otherwise a gather does, and one graph
serves all steps.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from webnn.builder.operand import MLOperand
from webnn.importing.moving import slice_axis
from webnn.importing.named import have_names, is_same
from webnn.importing.values import Refused, make_uniform
from webnn.onnx.attention import causal, concat, count_places, count_up, lowest
from webnn.onnx.node import Node
from webnn.validation.descriptor import NUMPY_DTYPES

__all__ = ["Cache", "positions_of", "update_cache", "visible"]


@dataclass(frozen=True, kw_only=True)
class Cache:
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


def positions_of(node: Node, cache: Cache) -> MLOperand:
    """Return the positions of the new rows: [batch, rows]."""
    past = 0 if cache.past is None else cache.past
    if have_names([cache.batch, cache.rows, past]):
        own = count_places(node, cache.rows, [1, cache.rows], first=past)
        if cache.counts is not None:
            return node.builder.add(cache.counts, own)
        return own if is_same(cache.batch, 1) else node.builder.expand(own, [cache.batch, cache.rows])
    steps = count_up(cache.rows, cache.batch).reshape(1, cache.rows)
    if cache.counts is None:
        return node.constant(np.tile(steps + past, (cache.batch, 1)))
    return node.builder.add(cache.counts, node.constant(steps))


def update_cache(node: Node, cache: Cache, index: int, new: MLOperand, *, keeps: bool = False) -> tuple[MLOperand, MLOperand]:
    """Return the cache of an input with new rows behind the valid ones, and its rows that are attended to.

    Rows behind the new ones are 0, or keep their values. Caches and new rows are [batch, heads, rows, size].
    """
    batch, heads, rows, size = new.descriptor.dimensions
    builder = node.builder
    if not is_same(cache.before, 0) and node.value(index).shape != (batch, heads, cache.before, size):
        raise Refused(f"past keys and values must be {[batch, heads, cache.before, size]}, got {list(node.value(index).shape)}")
    dtype = NUMPY_DTYPES[new.descriptor.dataType]

    def zeros(count: int) -> MLOperand | None:
        return node.constant(make_uniform((batch, heads, count, size), dtype)) if count else None

    old = None if is_same(cache.before, 0) else node.operand(index)
    if cache.past is not None:
        end = cache.past + rows
        first = slice_axis(node, old, 2, 0, cache.past) if old is not None and not is_same(cache.past, 0) else None
        known = concat(node, [first, new], 2)
        rest = slice_axis(node, old, 2, end, cache.before - end) if keeps and old is not None and cache.before > end else None
        whole = concat(node, [known, rest, zeros(cache.after - max(end, cache.before if keeps else 0))], 2)
        return whole, known if cache.columns == end else slice_axis(node, whole, 2, 0, cache.columns)
    source = concat(node, [old, new, None if keeps else zeros(1)], 2)
    assert cache.counts is not None
    counts, each = cache.counts, count_places(node, cache.after, [1, cache.after])
    behind = each if keeps else node.scalar(cache.before + rows, counts)
    moved = builder.add(builder.sub(each, counts), node.scalar(cache.before, counts))
    behind = builder.where(builder.lesser(each, builder.add(counts, node.scalar(rows, counts))), moved, behind)
    chosen = builder.where(builder.lesser(each, counts), each, behind)
    length = source.descriptor.dimensions[2]
    starts = (count_up(batch * heads) * length).reshape(batch, heads, 1)
    chosen = builder.add(node.reshape(chosen, [batch, 1, cache.after]), node.constant(starts))
    whole = builder.gather(node.reshape(source, [batch * heads * length, size]), chosen, axis=0)
    return whole, slice_axis(node, whole, 2, 0, cache.columns)


def visible(node: Node, cache: Cache, like: MLOperand, *, isCausal: bool, window: int = -1) -> MLOperand | None:
    """Return the mask of rows that see valid ones: up to their own, or the last few of these; or all valid ones."""
    rows, columns = cache.rows, cache.columns
    if cache.past is not None and cache.past + rows == columns:
        return (
            causal(node, rows, columns, like, window=window)
            if isCausal and (have_names([rows]) or rows > 1 or 0 < window < columns)
            else None
        )
    builder = node.builder
    own = positions_of(node, cache)
    own = node.reshape(own if isCausal else slice_axis(node, own, 1, rows - 1, 1), [cache.batch, 1, rows if isCausal else 1, 1])
    each = count_places(node, columns, [1, 1, 1, columns])
    allowed = builder.lesserOrEqual(each, own)
    if window > 0:
        allowed = builder.logicalAnd(allowed, builder.greater(each, builder.sub(own, node.scalar(window, own))))
    return builder.where(allowed, node.scalar(0, like), node.scalar(lowest(like), like))
