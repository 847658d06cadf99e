"""Steps that rules of attention share: heads, masks, rotary embeddings, and attention itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np

from webnn.builder.operand import MLOperand
from webnn.importing.moving import slice_axis
from webnn.importing.named import have_names, is_same
from webnn.importing.values import Array, Refused
from webnn.onnx.calls import make_call
from webnn.onnx.node import Node
from webnn.validation.descriptor import NUMPY_DTYPES

__all__ = [
    "Attended",
    "attend",
    "causal",
    "concat",
    "count_places",
    "count_up",
    "join_heads",
    "lowest",
    "masked",
    "pick_rotation",
    "rotate",
    "split_heads",
]


#: The most elements of a mask that is made at import.
_MOST_ELEMENTS = 1 << 26


@dataclass(frozen=True, slots=True)
class Attended:
    """The result of attention, [batch, heads, rows, size], and its scores before and after softmax, [batch, heads, rows, columns]."""

    output: MLOperand
    scores: MLOperand
    weights: MLOperand


def concat(node: Node, parts: Sequence[MLOperand | None], axis: int) -> MLOperand:
    """Join the parts that there are; one is taken as it is."""
    given = [each for each in parts if each is not None]
    return given[0] if len(given) == 1 else node.builder.concat(given, axis)


def split_heads(node: Node, x: MLOperand, heads: int) -> MLOperand:
    """Return [batch, rows, heads * size] as [batch, heads, rows, size]."""
    shape = x.descriptor.dimensions
    if len(shape) != 3 or heads < 1 or shape[2] % heads:
        raise Refused(f"queries, keys and values must be [batch, rows, features], with features for {heads} heads, got {list(shape)}")
    return node.transpose(node.reshape(x, [*shape[:2], heads, shape[2] // heads]), [0, 2, 1, 3])


def join_heads(node: Node, x: MLOperand) -> MLOperand:
    """Return [batch, heads, rows, size] as [batch, rows, heads * size]."""
    batch, heads, rows, size = x.descriptor.dimensions
    return node.reshape(node.transpose(x, [0, 2, 1, 3]), [batch, rows, heads * size])


def count_up(count: int, times: int = 1) -> Array:
    """Return the positions from 0 to a count, in int32. Refuse too many for a mask of some rows."""
    if count * times > _MOST_ELEMENTS:
        raise Refused(f"a mask must have at most {_MOST_ELEMENTS} elements, got {count} columns and {times} rows")
    return np.arange(count, dtype=np.int32)


def count_places(node: Node, count: int, shape: Sequence[int], *, first: int = 0) -> MLOperand:
    """Return as many positions from the first one on, in int32 and in a shape; the sizes may have names. Refuse too many for a mask."""
    if have_names([count, first]):
        return node.reshape(node.count(first, first + count), shape)
    return node.constant((count_up(count) + np.int32(first)).reshape(shape))


# Masks: what is added to the scores. They broadcast to [batch, heads, rows, columns].


def masked(node: Node, allowed: MLOperand, number: float, like: MLOperand) -> MLOperand:
    """Return a mask in the type of an operand: 0 where the elements of another one are above 0, and a number elsewhere."""
    allowed = node.builder.greater(allowed, node.scalar(0, allowed))
    return node.builder.where(allowed, node.scalar(0, like), node.scalar(number, like))


def lowest(like: MLOperand) -> float:
    """Return the lowest number of an operand's type, which hides a score."""
    return float(np.finfo(np.float16 if like.descriptor.dataType == "float16" else np.float32).min)


def causal(node: Node, rows: int, columns: int, like: MLOperand, *, window: int = -1) -> MLOperand:
    """Return the mask of rows that see the columns up to their own, which are the last ones: all of them, or the last few."""
    if have_names([rows, columns]):
        builder, each = node.builder, count_places(node, columns, [1, 1, 1, columns])
        last = count_places(node, rows, [1, 1, rows, 1], first=columns - rows)
        allowed = builder.lesserOrEqual(each, last)
        if window > 0:
            allowed = builder.logicalAnd(allowed, builder.greater(each, builder.sub(last, node.scalar(window, last))))
        return builder.where(allowed, node.scalar(0, like), node.scalar(lowest(like), like))
    places = count_up(columns, rows)
    own = count_up(rows)[:, None] + (columns - rows)
    hidden = places > own
    if window > 0:
        hidden |= places <= own - window
    mask = np.where(hidden, lowest(like), 0).astype(NUMPY_DTYPES[like.descriptor.dataType])
    return node.constant(mask.reshape(1, 1, rows, columns))


# Attention.


def attend(
    node: Node,
    q: MLOperand,
    k: MLOperand,
    v: MLOperand,
    *,
    scale: float = 0.0,
    masks: Sequence[MLOperand] = (),
    softcap: float = 0.0,
    sinks: MLOperand | None = None,
    isCall: bool = True,
) -> Attended:
    """Compute softmax(q * transposed k * scale + masks) * v.

    Args:
        node: The node.
        q: The queries, [batch, heads, rows, size].
        k: The keys, [batch, key heads, columns, size]. Heads with the same keys are further rows of one head.
        v: The values, [batch, key heads, columns, size of values].
        scale: The scale; 0 is the inverse of the root of the size.
        masks: The masks.
        softcap: Scores become softcap * tanh(scores / softcap) before the masks are added; 0 leaves them as they are.
        sinks: Scores of a further column for each head, [heads], whose weights nothing gets.
        isCall: In drafts with subgraphs, the operators are a call of one.

    Raises:
        Refused: The shapes do not fit each other.
    """
    builder = node.builder
    batch, heads, rows, size = q.descriptor.dimensions
    keys, columns = k.descriptor.dimensions[1:3]
    if k.descriptor.dimensions != (batch, keys, columns, size) or v.descriptor.dimensions[:3] != (batch, keys, columns) or heads % keys:
        shapes = " and ".join(str(list(each.descriptor.dimensions)) for each in (q, k, v))
        raise Refused(f"queries, keys and values must have the same batch, and heads, rows and sizes that fit, got {shapes}")
    wide, narrow = [batch, heads, rows, columns], [batch, keys, heads // keys * rows, columns]
    grouped, columnsOfKeys = node.reshape(q, [*narrow[:3], size]), node.transpose(k, [0, 1, 3, 2])
    first = builder._count
    product = builder.matmul(grouped, columnsOfKeys)
    scores = builder.mul(product, node.scalar(scale or size**-0.5, product))
    steps = [scores]
    if softcap:
        steps.append(builder.div(scores, node.scalar(softcap, scores)))
        steps.append(builder.tanh(steps[-1]))
        steps.append(builder.mul(steps[-1], node.scalar(softcap, scores)))
    if masks:
        steps.append(builder.add(steps[-1], _fold(node, reduce(builder.add, masks), wide, narrow)))
    scores = weights = steps[-1]
    if sinks is not None:
        column = builder.expand(node.reshape(sinks, [1, heads, 1, 1]), [batch, heads, rows, 1])
        weights = builder.concat([weights, node.reshape(column, [*narrow[:3], 1])], 3)
        steps.append(weights)
    steps.append(builder.softmax(weights, 3))
    weights = slice_axis(node, steps[-1], 3, 0, columns)
    output = builder.matmul(weights, v)
    if isCall:
        name = "MultiHeadAttention" if heads == keys else "GroupQueryAttention"
        make_call(node, first, name, {}, {"query": q, "key": k, "value": v}, {"output": output})
    shape = [*wide[:3], v.descriptor.dimensions[3]]
    return Attended(node.reshape(output, shape), node.reshape(scores, wide), node.reshape(weights, wide))


def _fold(node: Node, mask: MLOperand, wide: Sequence[int], narrow: Sequence[int]) -> MLOperand:
    """Return a mask for heads that are rows of others."""
    shape = [*[1] * (4 - len(mask.descriptor.dimensions)), *mask.descriptor.dimensions]
    if len(shape) != 4 or any(not is_same(size, 1) and size != wanted for size, wanted in zip(shape, wide, strict=True)):
        raise Refused(f"the mask must broadcast to the scores, {list(wide)}, got {list(mask.descriptor.dimensions)}")
    mask = node.reshape(mask, shape)
    if wide[1] == narrow[1] or (is_same(shape[1], 1) and is_same(shape[2], 1)):
        return mask
    groups = wide[1] // narrow[1]
    shared = is_same(shape[1], 1)
    mask = node.builder.expand(mask, [shape[0], groups if shared else wide[1], wide[2], shape[3]])
    return node.reshape(mask, [shape[0], 1 if shared else narrow[1], narrow[2], shape[3]])


# Rotary embeddings.


def pick_rotation(node: Node, caches: Sequence[MLOperand], positions: MLOperand) -> list[MLOperand]:
    """Return the cosines and sines of positions, [batch, rows]: [batch, 1, rows, half of the rotated features]."""
    found = []
    for cache in caches:
        shape = cache.descriptor.dimensions
        if len(shape) != 2:
            raise Refused(f"cos_cache and sin_cache must be matrices, got {list(shape)}")
        batch, rows = positions.descriptor.dimensions
        found.append(node.reshape(node.builder.gather(cache, positions, axis=0), [batch, 1, rows, shape[1]]))
    return found


def rotate(node: Node, x: MLOperand, rotation: Sequence[MLOperand], *, interleaved: bool) -> MLOperand:
    """Rotate pairs of features of [batch, heads, rows, size]: those in both halves, or neighbours. Further features stay as they are."""
    builder = node.builder
    cos, sin = rotation
    shape = list(x.descriptor.dimensions)
    half = cos.descriptor.dimensions[3]
    if 2 * half > shape[3]:
        raise Refused(f"the caches must have at most half of the features of a head, {shape[3]}, got {half}")
    rest = slice_axis(node, x, 3, 2 * half, shape[3] - 2 * half) if 2 * half < shape[3] else None
    turned = slice_axis(node, x, 3, 0, 2 * half)
    axis = 4 if interleaved else 3
    pairs = node.reshape(turned, [*shape[:3], half, 2]) if interleaved else turned
    one, other = (node.reshape(each, [*shape[:3], half]) for each in builder.split(pairs, 2, axis=axis))
    parts = [builder.sub(builder.mul(one, cos), builder.mul(other, sin)), builder.add(builder.mul(one, sin), builder.mul(other, cos))]
    if interleaved:
        parts = [node.reshape(each, [*shape[:3], half, 1]) for each in parts]
    return concat(node, [node.reshape(builder.concat(parts, axis), [*shape[:3], 2 * half]), rest], 3)
