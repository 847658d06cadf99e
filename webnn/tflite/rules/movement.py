"""Operators that move elements: shapes, parts, repetitions, padding, blocks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from webnn.builder.operand import MLOperand
from webnn.importing.moving import broadcast, pad, slice_operand
from webnn.importing.steps import Result, normalize_axes, product
from webnn.importing.values import Refused
from webnn.tflite.node import Node, Rules, borrow

__all__ = ["RULES"]


# Shapes.


def _reshape(node: Node) -> Result:
    """Map to reshape. A shape that is computed must be that of the file."""
    shape: Sequence[int] = []
    if not node.given(1):
        shape = node.option("NewShape", [])
    elif node.value(1).array is not None or node.outputs[0].open:
        shape = node.known_integers(1, "the shape, which the file leaves open,")
    return node.one("Reshape", [node.value(0), [*(shape or node.outputs[0].shape)]], allowzero=1)


def _transpose(node: Node) -> Result:
    """Map to transpose. The permutation must be known."""
    given = node.option("Permutation", []) or node.known_integers(1, "the permutation")
    return node.one("Transpose", [node.value(0)], perm=normalize_axes("the permutation", given, node.value(0).rank))


# Parts.


def _pack(node: Node) -> Result:
    """Map to concat along a new dimension."""
    axis = node.axis("Axis", node.value(0).rank + 1, 0)
    parts = [node.one("Unsqueeze", [node.value(index), [axis]]) for index in range(len(node.inputs))]
    return node.one("Concat", parts, axis=axis)


def _unpack(node: Node) -> list[Result]:
    """Map to split, and drop the dimension."""
    value = node.value(0)
    axis = node.axis("Axis", value.rank, 0)
    if value.shape[axis] != len(node.outputs):
        raise Refused(f"there must be an output for each of {value.shape[axis]} elements, got {len(node.outputs)}")
    parts = node.onnx("Split", [value, [1] * value.shape[axis]], outputs=value.shape[axis], axis=axis)
    return [node.one("Squeeze", [part, [axis]]) for part in parts]


def _concatenate(node: Node) -> Result:
    """Map to concat. Parts without elements are left out."""
    result = node.one("Concat", axis=node.axis("Dimension" if node.operator.key.startswith("STABLEHLO") else "Axis", node.value(0).rank, 0))
    return node.activate(node.operand_of(result)) if node.option("FusedActivationFunction", 0) else result


def _split(node: Node) -> list[Result]:
    """Map to split. The axis and the sizes, of which one may be -1, must be known; without sizes the parts are equal."""
    is_equal = node.operator.key == "SPLIT"
    value, count = node.value(int(is_equal)), len(node.outputs)
    if node.option("NumSplits") != count:
        raise Refused(f"num_splits must be the number of outputs, {count}, got {node.option('NumSplits')}")
    axis = node.known_axis(0 if is_equal else 2, value.rank)
    sizes = [value.shape[axis] // count] * count if is_equal else node.known_integers(1, "the sizes")
    if sizes.count(-1) == 1:
        sizes[sizes.index(-1)] = value.shape[axis] - sum(sizes) - 1
    if is_equal and value.shape[axis] % count:
        raise Refused(f"the number of outputs must divide the size of axis {axis}, {value.shape[axis]}, got {count}")
    return node.onnx("Split", [value, sizes], outputs=count, axis=axis)


def _slice(node: Node) -> Result:
    """Map to slice. The begin and the sizes, of which -1 means the rest, must be known."""
    shape, starts, sizes = node.value(0).shape, node.known_integers(1, "the begin"), node.known_integers(2, "the sizes")
    if len(starts) != len(shape) or len(sizes) != len(shape):
        raise Refused(f"begin and sizes must have {len(shape)} numbers, got {starts} and {sizes}")
    ends = [limit if size == -1 else start + size for limit, start, size in zip(shape, starts, sizes, strict=True)]
    if not all(0 <= start <= end <= limit for start, end, limit in zip(starts, ends, shape, strict=True)):
        raise Refused(f"the slice must lie inside of {list(shape)}, got {starts} to {ends}")
    return node.one("Slice", [node.value(0), starts, ends])


def _strided_slice(node: Node) -> Result:
    """Map to slice, and to reverse for negative strides. Begin, end and strides must be known; all masks are supported."""
    shape = node.value(0).shape
    begins, ends, strides = (node.known_integers(index, name) for index, name in enumerate(("begin", "end", "the strides"), 1))
    if not len(begins) == len(ends) == len(strides):
        raise Refused(f"begin, end and strides must be of one length, got {len(begins)}, {len(ends)} and {len(strides)}")

    def read(name: str) -> list[bool]:
        return [bool(node.option(f"{name}Mask", 0) >> place & 1) for place in range(len(begins))]

    first_masks, last_masks, ellipses, new_axes, picks = map(read, ("Begin", "End", "Ellipsis", "NewAxis", "ShrinkAxis"))
    spread = len(shape) - len(begins) + sum(is_all or is_new for is_all, is_new in zip(ellipses, new_axes, strict=True))
    if sum(ellipses) > 1 or spread < 0:
        raise Refused(f"begin must have at most one number for each of {len(shape)} dimensions, and one ellipsis, got {len(begins)}")
    #: The first and the last element of each dimension, and the step; the sizes of the result, -1 for that of a slice.
    bounds: list[tuple[int, int, int]] = []
    kept: list[int] = []
    for place, (begin, end, stride) in enumerate(zip(begins, ends, strides, strict=True)):
        size = shape[len(bounds)] if len(bounds) < len(shape) else 0
        start = begin + size if begin < 0 else begin
        if ellipses[place]:
            kept += range(len(bounds), len(bounds) + spread)
            bounds += [(0, each, 1) for each in shape[len(bounds) :][:spread]]
        elif new_axes[place]:
            kept.append(-1)
        elif picks[place]:
            # The element at begin, whatever the masks and the stride say of the end.
            start = 0 if first_masks[place] else start
            if not 0 <= start < size:
                raise Refused(f"begin must be an element of the dimension of {size}, got {begin}")
            bounds.append((start, start + 1, 1))
        else:
            kept.append(len(bounds))
            first, last = (0, size) if stride > 0 else (size - 1, -size - 1)
            stop = begin + end if node.flag("Offset") else end
            bounds.append((first if first_masks[place] else start, last if last_masks[place] else stop, stride))
    kept += range(len(bounds), len(shape))
    starts, stops, steps = ([*each] for each in zip(*bounds, strict=True)) if bounds else ([], [], [])
    part = node.one("Slice", [node.value(0), starts, stops, None, steps]) if bounds else node.value(0)
    sizes = part.descriptor.dimensions if isinstance(part, MLOperand) else part.shape
    return node.one("Reshape", [part, [1 if axis < 0 else sizes[axis] for axis in kept]], allowzero=1)


def _reverse(node: Node) -> Result:
    """Map to reverse. The axes must be known."""
    axes = normalize_axes("the axes", node.known_integers(1, "the axes"), node.value(0).rank)
    return node.builder.reverse(node.operand(0), axes=axes) if axes else node.value(0)


# Repetitions and padding.


def _widths(node: Node) -> tuple[list[int], list[int]]:
    """Return the widths of padding in front and behind, which must be known."""
    rank, widths = node.value(0).rank, node.known_integers(1, "the padding")
    if len(widths) != 2 * rank or min(widths, default=0) < 0:
        raise Refused(f"the padding must be two numbers of at least 0 for each of {rank} dimensions, got {widths}")
    return widths[::2], widths[1::2]


def _pad(node: Node) -> Result:
    """Map to pad. The widths must be known; the number that is added may be computed."""
    low, high = _widths(node)
    return node.one("Pad", [node.value(0), [*low, *high], node.value(2) if node.given(2) else None], mode="constant")


def _mirror_pad(node: Node) -> Result:
    """Map to pad; symmetric padding, which repeats the elements at the edges, to gather."""
    low, high = _widths(node)
    if not node.option("Mode", 0):
        return node.one("Pad", [node.value(0), [*low, *high]], mode="reflect")
    x = node.operand(0)
    for axis, (before, behind) in enumerate(zip(low, high, strict=True)):
        size = node.value(0).shape[axis]
        if max(before, behind) > size:
            raise Refused(f"symmetric padding must be at most the size of each dimension, {size} of axis {axis}, got {before} and {behind}")
        if before or behind:
            places = np.pad(np.arange(size, dtype=np.int32), (before, behind), "symmetric")
            x = node.builder.gather(x, node.constant(places), axis=axis)
    return x


def _dilate(node: Node) -> Result:
    """Map to pad and reshape: elements are put between others. The distances must be known."""
    value, distances = node.value(0), node.known_integers(1, "the distances")
    if len(distances) != value.rank or min(distances, default=1) < 1:
        raise Refused(f"the distances must be {value.rank} numbers of at least 1, got {distances}")
    none = [0] * value.rank
    if node.value(2).rank:
        raise Refused(f"the padding must be a scalar, got {list(node.value(2).shape)}")
    return pad(node, value, node.value(2), none, none, [distance - 1 for distance in distances])


# Blocks and matrices.


def _move_block(node: Node) -> Result:
    """Map to reshape and transpose: the rows of a block are moved, whose columns are beside their channels."""
    block, (batches, height, width, channels) = node.integer("BlockSize", 1), node.image()
    if node.operator.key == "DEPTH_TO_SPACE":
        if channels % block**2:
            raise Refused(f"the square of BlockSize must divide the {channels} channels, got {block}")
        sizes, found = [width, block, channels // block], [batches, height * block, width * block, channels // block**2]
    else:
        if height % block or width % block:
            raise Refused(f"BlockSize must divide the height and the width, {height} and {width}, got {block}")
        sizes, found = [block, width // block, block * channels], [batches, height // block, width // block, channels * block**2]
    x = node.transpose(node.reshape(node.operand(0), [node.value(0).size // product(sizes), *sizes]), [0, 2, 1, 3])
    return node.reshape(x, found)


def _blocks(node: Node) -> tuple[list[int], list[int], list[int]]:
    """Return the size of a block along each spatial dimension, and what is padded or cut off in front and behind. All must be known."""
    blocks, edges = node.known_integers(1, "the block"), node.known_integers(2, "the edges")
    if not 0 < len(blocks) < node.value(0).rank or min(blocks) < 1 or len(edges) != 2 * len(blocks) or min(edges) < 0:
        raise Refused(f"the block must have a number for each spatial dimension, and the edges two, got {blocks} and {edges}")
    more = [0] * (node.value(0).rank - 1 - len(blocks))
    return blocks, [0, *edges[::2], *more], [0, *edges[1::2], *more]


def _space_to_batch(node: Node) -> Result:
    """Map to pad, and one reshape and transpose for each spatial dimension."""
    blocks, low, high = _blocks(node)
    x = node.builder.pad(node.operand(0), low, high) if any(low) or any(high) else node.operand(0)
    for axis, block in reversed([*enumerate(blocks, 1)]):
        shape = x.descriptor.dimensions
        if shape[axis] % block:
            raise Refused(f"the block must divide the padded input, {list(shape)}, got {blocks}")
        x = node.reshape(x, [product(shape[:axis]), shape[axis] // block, block, product(shape[axis + 1 :])])
        x = node.reshape(node.transpose(x, [2, 0, 1, 3]), [shape[0] * block, *shape[1:axis], shape[axis] // block, *shape[axis + 1 :]])
    return x


def _batch_to_space(node: Node) -> Result:
    """Map to one reshape and transpose for each spatial dimension, and slice."""
    (blocks, low, high), x = _blocks(node), node.operand(0)
    for axis, block in enumerate(blocks, 1):
        shape = x.descriptor.dimensions
        if shape[0] % block:
            raise Refused(f"the block must divide the batches, {shape[0]}, got {blocks}")
        x = node.reshape(x, [block, shape[0] // block * product(shape[1:axis]), shape[axis], product(shape[axis + 1 :])])
        x = node.reshape(node.transpose(x, [1, 2, 0, 3]), [shape[0] // block, *shape[1:axis], shape[axis] * block, *shape[axis + 1 :]])
    sizes = [size - before - behind for size, before, behind in zip(x.descriptor.dimensions, low, high, strict=True)]
    if min(sizes) < 1:
        raise Refused(f"the edges must leave something of each dimension, got {low} and {high}")
    return slice_operand(node, x, low, sizes)


def _set_diagonal(node: Node) -> Result:
    """Put elements on the diagonals of matrices, by default of square ones of zeros."""
    is_given = node.operator.key == "MATRIX_SET_DIAG"
    diagonal = node.value(int(is_given)).shape
    if not diagonal:
        raise Refused("the input must have dimensions")
    shape = node.value(0).shape if is_given else (*diagonal, diagonal[-1])
    if len(shape) < 2 or diagonal != (*shape[:-2], min(shape[-2:])):
        raise Refused(f"the diagonal must fit the matrices of {list(shape)}, got {list(diagonal)}")
    spread = [1, diagonal[-1]] if shape[-1] <= shape[-2] else [diagonal[-1], 1]
    line = node.reshape(node.operand(int(is_given)), [*shape[:-2], *spread])
    others = node.operand(0) if is_given else node.scalar(0, line)
    node.spend(product(shape[-2:]))
    return node.builder.where(node.constant(np.eye(*shape[-2:], dtype=np.uint8)), line, others)


RULES: Rules = {
    "BATCH_TO_SPACE_ND": _batch_to_space,
    "BROADCAST_TO": borrow("Expand"),
    "CONCATENATION": _concatenate,
    "DEPTH_TO_SPACE": _move_block,
    "DILATE": _dilate,
    "EXPAND_DIMS": lambda node: node.one("Unsqueeze", [node.value(0), [node.known_integer(1, "the axis")]]),
    "FILL": lambda node: node.one("Expand", [node.value(1), node.value(0)]),
    "MATRIX_DIAG": _set_diagonal,
    "MATRIX_SET_DIAG": _set_diagonal,
    "MIRROR_PAD": _mirror_pad,
    "PACK": _pack,
    "PAD": _pad,
    "PADV2": _pad,
    "RANK": lambda node: np.array(node.value(0).rank, node.outputs[0].dtype),
    "RESHAPE": _reshape,
    "REVERSE_SEQUENCE": lambda node: node.one("ReverseSequence", time_axis=node.option("SeqDim", 0), batch_axis=node.option("BatchDim", 0)),
    "REVERSE_V2": _reverse,
    "SHAPE": lambda node: np.array(node.value(0).shape, np.int64).astype(node.outputs[0].dtype),
    "SLICE": _slice,
    "SPACE_TO_BATCH_ND": _space_to_batch,
    "SPACE_TO_DEPTH": _move_block,
    "SPLIT": _split,
    "SPLIT_V": _split,
    "SQUEEZE": lambda node: node.one("Squeeze", [node.value(0), node.option("SqueezeDims", []) or None]),
    "STABLEHLO_BROADCAST_IN_DIM": lambda node: broadcast(
        node, node.operand(0), node.known_integers(1, "the dimensions"), node.outputs[0].shape
    ),
    "STABLEHLO_CONCATENATE": _concatenate,
    "STABLEHLO_RESHAPE": lambda node: node.one("Reshape", [node.value(0), [*node.outputs[0].shape]], allowzero=1),
    "STABLEHLO_SLICE": lambda node: node.one(
        "Slice", [node.value(0), node.option("StartIndices"), node.option("LimitIndices"), None, node.option("Strides")]
    ),
    "STABLEHLO_TRANSPOSE": _transpose,
    "STRIDED_SLICE": _strided_slice,
    "TILE": borrow("Tile"),
    "TRANSPOSE": _transpose,
    "UNPACK": _unpack,
}
