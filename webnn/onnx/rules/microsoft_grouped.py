"""Attention with grouped heads of the domain com.microsoft, as ONNX Runtime's GenAI library writes it, and its rotary embeddings.

The caches have rows for a number of steps; `seqlens_k` says how many are valid afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from webnn.builder.operand import MLOperand
from webnn.importing.moving import slice_axis
from webnn.importing.named import have_names, is_same, sizes_of
from webnn.importing.steps import Result
from webnn.importing.values import Refused
from webnn.onnx.attention import (
    Attended,
    attend,
    count_places,
    count_up,
    join_heads,
    lowest,
    pick_rotation,
    rotate,
    split_heads,
)
from webnn.onnx.caches import Cache, positions_of, update_cache, visible
from webnn.onnx.calls import make_call
from webnn.onnx.node import Node
from webnn.onnx.quantized import arrange
from webnn.onnx.rules.microsoft import apply
from webnn.onnx.rules.normalization import RULES as NORMALIZATION
from webnn.validation.descriptor import NUMPY_DTYPES

__all__ = ["RULES"]

_CACHES = "export the model with caches of int8, or of floating-point numbers"
#: Attributes that must be 0, and what to change.
_REFUSED: Mapping[str, str] = {
    "sliding_window_cache": "export the model with a cache for all tokens",
}


def _read_cache(node: Node, batch: int, rows: int, *, ends: int, shift: int, total: int) -> Cache:
    """Read the sizes of the caches and of the valid rows.

    ``ends`` is the input with the valid rows behind the step, less ``shift``; ``total`` is that with the most of them.
    """
    before = node.value(3).shape[2] if node.given(3) and node.value(3).rank == 4 else 0
    if node.value(ends).size != batch:
        raise Refused(f"the lengths must have an element for each of {batch} elements of the batch, got {list(node.value(ends).shape)}")
    lengths = node.find_array(node.value(ends))
    # Rows with a name fit into the cache, as the model promises.
    if node.find_array(node.value(total)) is not None or (not have_names([before, rows]) and before < rows):
        [columns] = node.known_integers(total, "total_sequence_length") or [0]
    else:
        # The model promises that the rows fit into the cache.
        columns = before if lengths is None else max(sizes_of(lengths)) + shift
    after = max(before, columns)
    if columns < rows:
        raise Refused(f"total_sequence_length must be at least the number of new rows, {rows}, got {columns}")
    past: int | None = None
    if lengths is not None:
        starts = [each + shift - rows for each in sizes_of(lengths)]
        starts = [each if have_names([each]) else max(each, 0) for each in starts]
        past = starts[0] if all(is_same(each, starts[0]) for each in starts) else None
    elif is_same(before, 0):
        past = 0
    elif is_same(batch, 1) and node.find_array(node.value(total)) is not None:
        past = columns - rows
    if past is not None:
        if past > before:
            raise Refused(f"the cache must have the rows before the step, {past}, got {before}")
        return Cache(batch=batch, rows=rows, before=before, after=after, columns=columns, past=past, counts=None)
    known = node.cast(node.reshape(node.operand(ends), [batch, 1]), "int32")
    counts = node.builder.relu(node.builder.add(known, node.scalar(shift - rows, known)))
    return Cache(batch=batch, rows=rows, before=before, after=after, columns=columns, past=None, counts=counts)


def _given_positions(node: Node, cache: Cache) -> MLOperand:
    """Return the positions of an input; of those of a prompt the first one counts."""
    if not is_same(cache.columns, cache.rows):
        return node.operand(9)
    return _follow(node, slice_axis(node, node.reshape(node.operand(9), [node.value(9).size]), 0, 0, 1), cache.batch, cache.rows)


def _follow(node: Node, first: MLOperand, batch: int, rows: int) -> MLOperand:
    """Return the positions of rows from the first one on: [batch, rows]."""
    first = node.reshape(node.cast(first, "int32"), [1, 1])
    if have_names([batch, rows]):
        own = node.builder.add(first, count_places(node, rows, [1, rows]))
        return own if is_same(batch, 1) else node.builder.expand(own, [batch, rows])
    return node.builder.add(first, node.constant(np.tile(count_up(rows, batch), (batch, 1))))


def _store(node: Node, cache: Cache, index: int, new: MLOperand) -> tuple[MLOperand, MLOperand]:
    """Return what `update_cache` does; of a cache of int8, the integers, and the numbers that they represent."""
    kind = node.text("kv"[index - 3] + "_quant_type", "NONE")
    if kind == "NONE":
        return update_cache(node, cache, index, new)
    width, scale, zero = node.integer("kv_cache_bit_width", 8), node.value(index + 9), np.zeros((1, 1, 1, 1), np.int8)
    if width != 8 or (node.given(index) and node.value(index).dtype != np.int8):
        raise Refused(
            f"quantized caches must be int8, got {width} bits", "export the model with caches of int8, or of floating-point numbers"
        )
    _, heads, _, size = new.descriptor.dimensions
    shape = [1, heads, 1, size] if scale.size > 1 else [1, 1, 1, 1]
    scales, zeros = arrange(node, scale, shape), node.constant(np.broadcast_to(zero, shape))
    # The scales are float32, also for float16.
    integers = node.builder.quantizeLinear(node.cast(new, "float32"), scales, zeros)
    whole, seen = update_cache(node, cache, index, integers)
    return whole, node.cast(node.builder.dequantizeLinear(seen, scales, zeros), new.descriptor.dataType)


def _read_heads(node: Node) -> list[MLOperand]:
    """Return queries, keys and values by heads, from one input or from three."""
    heads, groups = node.integer("num_heads", least=1), node.integer("kv_num_heads", least=1)
    x = node.operand(0)
    shape = x.descriptor.dimensions
    if len(shape) != 3:
        raise Refused(f"query must be [batch, rows, features], got {list(shape)}")
    if node.given(1):
        return [split_heads(node, each, count) for each, count in ((x, heads), (node.operand(1), groups), (node.operand(2), groups))]
    return node.builder.split(split_heads(node, x, heads + 2 * groups), [heads, groups, groups], axis=1)


def _grouped(node: Node) -> list[Result]:
    """Map to the operations of attention, for heads that share keys and values. Caches are results of their own.

    In drafts with subgraphs, all operators are one call.
    """
    first = node.builder._count
    for name, advice in _REFUSED.items():
        if node.integer(name, 0):
            raise Refused(f"{name} must be 0, got {node.integer(name)}", advice)
    if node.given(16):
        raise Refused("query_seqlens must not be given", "export the model for prompts without padding")
    q, k, v = _read_heads(node)
    heads = q.descriptor.dimensions[1]
    batch, _, rows, _ = q.descriptor.dimensions
    if node.given(14):
        q, k = (
            apply(NORMALIZATION, "RMSNormalization", node, [each, node.value(index)], {"axis": -1, "epsilon": _epsilon(node, name)})
            for index, name, each in ((14, "q", q), (15, "k", k))
        )
    cache = _read_cache(node, batch, rows, ends=5, shift=1, total=6)
    if node.integer("do_rotary", 0):
        positions = _given_positions(node, cache) if node.given(9) else positions_of(node, cache)
        rotation = pick_rotation(node, [node.operand(7), node.operand(8)], positions)
        q, k = (rotate(node, each, rotation, interleaved=node.flag("rotary_interleaved", default=False)) for each in (q, k))
    (presentKey, keys), (presentValue, values) = (_store(node, cache, index, each) for index, each in ((3, k), (4, v)))
    window, isCausal = node.integer("local_window_size", -1), node.flag("causal", default=True)
    masks = (visible(node, cache, q, isCausal=isCausal, window=window), node.operand(10) if node.given(10) else None)
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
        isCall=False,
    )
    results = {"output": join_heads(node, attended.output), "present_key": presentKey, "present_value": presentValue}
    config = {"num_heads": heads, "kv_num_heads": k.descriptor.dimensions[1], **_read_config(node)}
    indices = {"query": 0, "key": 1, "value": 2}
    indices |= {} if is_same(cache.before, 0) else {"past_key": 3, "past_value": 4}
    # Without them, each run has the same places for new rows.
    indices |= {"seqlens_k": 5} if cache.counts is not None else {}
    indices |= {"cos_cache": 7, "sin_cache": 8} if config.get("do_rotary") else {}
    operands = {name: node.operand(index) for name, index in indices.items() if node.given(index)}
    make_call(node, first, "GroupQueryAttention", config, operands, results)
    return [*results.values(), _scores(node, attended)]


def _read_config(node: Node) -> dict[str, bool | float]:
    """Return the attributes that are not the defaults, as the config of a call."""
    flags = {name: bool(node.integer(name, 0)) for name in ("do_rotary", "rotary_interleaved")}
    numbers = {name: node.number(name, 0.0) for name in ("scale", "softcap")}
    window = node.integer("local_window_size", -1)
    return {name: each for name, each in (flags | numbers | {"local_window_size": max(window, 0)}).items() if each}


def _sparse(node: Node) -> list[Result]:
    """Map as GroupQueryAttention, with a mask of blocks for each head, which must be known."""
    q, k, v = _read_heads(node)
    batch, heads, rows, _ = q.descriptor.dimensions
    cache = _read_cache(node, batch, rows, ends=8, shift=0, total=7)
    if node.integer("do_rotary", 0):
        rotation = pick_rotation(node, [node.operand(9), node.operand(10)], positions_of(node, cache))
        q, k = (rotate(node, each, rotation, interleaved=node.flag("rotary_interleaved", default=False)) for each in (q, k))
    (presentKey, keys), (presentValue, values) = (update_cache(node, cache, index, each, keeps=True) for index, each in ((3, k), (4, v)))
    masks = (visible(node, cache, q, isCausal=True), _blocks(node, cache, heads, q))
    attended = attend(node, q, keys, values, scale=node.number("scale", 0.0), masks=[each for each in masks if each is not None])
    return [join_heads(node, attended.output), presentKey, presentValue]


def _blocks(node: Node, cache: Cache, heads: int, like: MLOperand) -> MLOperand:
    """Return the mask of blocks of rows and columns: [batch or 1, heads, rows, columns]."""
    size, builder = node.integer("sparse_block_size", least=1), node.builder
    starts, columns = node.known(5, "block_row_indices"), node.known(6, "block_col_indices")
    if starts.ndim != 2 or columns.ndim != 2 or len(starts) != len(columns) or heads % len(starts):
        raise Refused(
            f"the indices of blocks must be rows for layouts of {heads} heads, got {list(starts.shape)} and {list(columns.shape)}"
        )
    count = starts.shape[1] - 1
    fits = 0 < cache.columns <= count * size and columns.size > 0
    if not fits or (np.diff(starts) < 0).any() or starts.min() < 0 or starts.max() > columns.shape[1]:
        raise Refused(f"the blocks must cover {cache.columns} rows, got {count} of {size}")
    if columns.min() < -1 or columns.max() >= count:
        raise Refused(f"block_col_indices must be from -1 to {count - 1}, got some from {columns.min()} to {columns.max()}")
    _, places = count_up(count, count * len(starts)), count_up(cache.columns, count * len(starts))
    flags = np.zeros((count, len(starts), count), np.uint8)
    for layout, (first, chosen) in enumerate(zip(starts, columns, strict=True)):
        for row in range(count):
            flags[row, layout, chosen[first[row] : first[row + 1]]] = 1
    table = flags[:, :, places // size]
    own = positions_of(node, cache)
    seen = builder.gather(node.constant(table), builder.div(own, node.scalar(size, own)), axis=0)
    seen = builder.concat([node.transpose(seen, [0, 2, 1, 3])] * (heads // len(starts)), 1)
    return builder.where(seen, node.scalar(0, like), node.scalar(lowest(like), like))


def _scores(node: Node, attended: Attended) -> MLOperand | None:
    """Return the scores before softmax, with 0 for those that are hidden, or those behind it."""
    if not any(node.outputs[3:]):
        return None
    if node.integer("qk_output", 0) != 1:
        return attended.weights
    scores = attended.scores
    isSeen = node.builder.greater(scores, node.scalar(lowest(scores) / 2, scores))
    return node.builder.where(isSeen, scores, node.scalar(0, scores))


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


_RULES: Mapping[str, Callable[[Node], Result | list[Result]]] = {
    "GroupQueryAttention": _grouped,
    "RotaryEmbedding": _rotary,
    "SparseAttention": _sparse,
}

RULES: Mapping[str, Callable[[Node], Result | list[Result]]] = {f"com.microsoft.{name}": rule for name, rule in _RULES.items()}
