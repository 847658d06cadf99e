"""Operators that move elements: shapes, parts, repetitions, padding, blocks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from webnn.builder.places import find_padding
from webnn.importing.moving import pad, slice_operand
from webnn.importing.named import are_same, broadcast_sizes, have_names, is_empty, is_same
from webnn.importing.steps import Result, normalize_axes, normalize_axis, product
from webnn.importing.values import Array, Refused, Value, make_uniform
from webnn.onnx.node import Node
from webnn.validation import webidl

if TYPE_CHECKING:
    pass

__all__ = ["RULES"]

#: The most indices of a table that a rule makes.
_MOST_INDICES = 1 << 24
_MOST_REPEATS = 2**32 - 1


def _empty(node: Node, shape: Sequence[int]) -> Array:
    """Return a result without elements, of the type of the first input. It is known, because it has nothing to compute."""
    return make_uniform(shape, node.value(0).dtype)


def _shaped(node: Node, shape: Sequence[int]) -> Result:
    """Return the first input in another shape of as many elements."""
    value = node.value(0)
    if product(shape) != value.size:
        raise Refused(f"the new shape must have {value.size} elements, got {webidl.describe(list(shape))}")
    return value if are_same(shape, value.shape) else node.reshape(node.operand(0), shape)


# Shapes.


def _reshape(node: Node) -> Result:
    """Map to reshape. A size of -1 is computed, and 0 is copied from the input unless allowzero is set."""
    given = node.value(0)
    shape = node.known_integers(1, "the shape")
    if not node.flag("allowzero", default=False):
        if any(is_same(size, 0) and index >= given.rank for index, size in enumerate(shape)):
            raise Refused(f"each 0 of the shape must copy a dimension of the input, {list(given.shape)}, got {webidl.describe(shape)}")
        shape = [given.shape[index] if is_same(size, 0) else size for index, size in enumerate(shape)]
    if shape.count(-1) > 1 or any(size < -1 for size in shape):
        raise Refused(f"the shape must have sizes of at least 0, and at most one -1, got {webidl.describe(shape)}")
    if -1 in shape:
        rest = product([size for size in shape if size != -1])
        if rest == 0 or given.size % rest:
            raise Refused(f"the sizes other than -1 must divide the number of elements, {given.size}, got {webidl.describe(shape)}")
        shape[shape.index(-1)] = given.size // rest
    return _shaped(node, shape)


def _squeeze(node: Node) -> Result:
    """Map to reshape. Without axes, all dimensions of size 1 are left out."""
    shape = node.value(0).shape
    axes = node.attribute_or_input("axes", 1)
    dropped = [axis for axis, size in enumerate(shape) if size == 1] if axes is None else normalize_axes("axes", axes, len(shape))
    if any(shape[axis] != 1 for axis in dropped):
        raise Refused(f"axes must name dimensions of size 1 of {list(shape)}, got {axes}")
    return _shaped(node, [size for axis, size in enumerate(shape) if axis not in dropped])


def _unsqueeze(node: Node) -> Result:
    """Map to reshape."""
    shape = node.value(0).shape
    axes = node.attribute_or_input("axes", 1)
    if axes is None:
        raise Refused("axes must be given")
    rank = len(shape) + len(axes)
    added = set(normalize_axes("axes", axes, rank))
    sizes = iter(shape)
    return _shaped(node, [1 if axis in added else next(sizes) for axis in range(rank)])


def _flatten(node: Node) -> Result:
    """Map to reshape: one dimension for those before the axis, and one for the others."""
    shape = node.value(0).shape
    axis = node.integer("axis", 1)
    if not -len(shape) <= axis <= len(shape):
        raise Refused(f"axis must be from {-len(shape)} to {len(shape)}, got {axis}")
    axis += len(shape) if axis < 0 else 0
    return _shaped(node, [product(shape[:axis]), product(shape[axis:])])


def _transpose(node: Node) -> Result:
    """Map to transpose."""
    value = node.value(0)
    permutation = node.integers("perm", range(value.rank)[::-1])
    if sorted(permutation) != list(range(value.rank)):
        raise Refused(f"perm must have each number from 0 to {value.rank - 1} once, got {permutation}")
    return value if permutation == sorted(permutation) else node.transpose(node.operand(0), permutation)


# Parts.


def _concat(node: Node) -> Result:
    """Map to concat. Parts without elements are left out."""
    parts = [node.value(index) for index in range(len(node.inputs))]
    axis = node.axis("axis", None, parts[0].rank)
    for part in parts:
        if part.rank != parts[0].rank or any(a != b for i, (a, b) in enumerate(zip(part.shape, parts[0].shape, strict=True)) if i != axis):
            raise Refused(
                f"the inputs must have equal shapes but for axis {axis}, got {', '.join(str(list(each.shape)) for each in parts)}"
            )
    shape = [sum(part.shape[axis] for part in parts) if index == axis else size for index, size in enumerate(parts[0].shape)]
    parts = [part for part in parts if not is_empty(part.shape)]
    if not parts:
        return _empty(node, shape)
    if len(parts) == 1:
        return parts[0]
    return node.builder.concat([node.operand_of(part) for part in parts], axis)


def _split(node: Node) -> list[Result]:
    """Map to split. Parts without elements are known."""
    value = node.value(0)
    axis = node.axis("axis", 0, value.rank)
    size = value.shape[axis]
    sizes = node.attribute_or_input("split", 1)
    if sizes is None:
        count = node.integer("num_outputs", len(node.outputs))
        if count < 1 or count != len(node.outputs):
            raise Refused(f"num_outputs must be the number of outputs, {len(node.outputs)}, got {count}")
        if size % count and node.version < 18:
            raise Refused(f"the number of outputs must divide the size of axis {axis}, {size}, got {count}")
        each = -(-size // count)
        sizes = [each] * (count - 1) + [size - each * (count - 1)]
    if any(each < 0 for each in sizes) or sum(sizes) != size or len(sizes) != len(node.outputs):
        raise Refused(f"the sizes of the {len(node.outputs)} parts must add up to the size of axis {axis}, {size}, got {sizes}")
    if any(is_same(size, each) for each in sizes):
        parts: list[Result] = [value]
    else:
        parts = [*node.builder.split(node.operand(0), [each for each in sizes if each], axis=axis)]
    found = iter(parts)
    return [next(found) if each else _empty(node, (*value.shape[:axis], 0, *value.shape[axis + 1 :])) for each in sizes]


def _slice(node: Node) -> Result:
    """Map to slice, and to reverse for negative steps. Until opset 9 starts, ends and axes are attributes."""
    value = node.value(0)
    starts, ends = node.attribute_or_input("starts", 1), node.attribute_or_input("ends", 2)
    if starts is None or ends is None:
        raise Refused("starts and ends must be given")
    axes = node.attribute_or_input("axes", 3)
    axes = normalize_axes("axes", list(range(len(starts))) if axes is None else axes, value.rank)
    steps = node.known_integers(4, "steps") if node.given(4) else [1] * len(starts)
    if not len(starts) == len(ends) == len(axes) == len(steps):
        raise Refused(f"starts, ends, axes and steps must be of one length, got {len(starts)}, {len(ends)}, {len(axes)} and {len(steps)}")
    if 0 in steps:
        raise Refused(f"steps must be other than 0, got {steps}")
    if have_names([*value.shape, *starts, *ends]):
        return _slice_named(node, starts, ends, axes, steps)
    chosen = [range(size) for size in value.shape]
    for axis, start, end, step in zip(axes, starts, ends, steps, strict=True):
        size = value.shape[axis]
        low, high = (0, size) if step > 0 else (-1, size - 1)
        first = min(max(start + size if start < 0 else start, 0), high)
        last = min(max(end + size if end < 0 else end, low), high)
        chosen[axis] = range(first, last, step)
    if any(len(each) == 0 for each in chosen):
        return _empty(node, [len(each) for each in chosen])
    lowest = [min(each[0], each[-1]) for each in chosen]
    sizes = tuple([len(each) for each in chosen])
    backwards = [axis for axis, each in enumerate(chosen) if each.step < 0 and len(each) > 1]
    if sizes == value.shape and not backwards:
        return value
    part = slice_operand(node, node.operand(0), lowest, sizes, [abs(each.step) for each in chosen])
    return node.builder.reverse(part, axes=backwards) if backwards else part


def _slice_named(node: Node, starts: Sequence[int], ends: Sequence[int], axes: Sequence[int], steps: Sequence[int]) -> Result:
    """Slice a value with named sizes, or up to such sizes. Along such an axis the step must be 1, or -1 if all of it is taken."""
    value = node.value(0)
    first, sizes, strides, backwards = [0] * value.rank, list(value.shape), [1] * value.rank, []
    for axis, start, end, step in zip(axes, starts, ends, steps, strict=True):
        size = value.shape[axis]
        low, high = (0, size) if step > 0 else (-1, size - 1)
        begin = min(max(start + size if start < 0 else start, 0), high)
        last = min(max(end + size if end < 0 else end, low), high)
        if not have_names([begin, last]):
            chosen = range(begin, last, step)
            sizes[axis], strides[axis] = len(chosen), abs(step)
            first[axis] = min(chosen[0], chosen[-1]) if chosen else 0
        elif step == 1:
            first[axis], sizes[axis] = begin, max(last - begin, 0)
        elif not (step == -1 and is_same(begin - last, size)):
            raise Refused(f"the sizes must be fixed for a step of {step} along axis {axis}, from {begin!r} to {last!r}")
        if step < 0:
            backwards.append(axis)
    if is_empty(sizes):
        return _empty(node, sizes)
    part = slice_operand(node, node.operand(0), first, sizes, strides)
    if backwards:
        return node.builder.reverse(part, axes=backwards)
    return value if part is node.operand(0) else part


# Repetitions.


def _expand(node: Node) -> Result:
    """Map to expand. The shapes broadcast together, as ONNX wants it."""
    value = node.value(0)
    shape = node.known_integers(1, "the shape")
    if have_names([*value.shape, *shape]):
        return _expand_named(node, shape)
    try:
        if any(size < 0 for size in shape):
            raise ValueError
        wanted = np.broadcast_shapes(value.shape, tuple(shape))
    except ValueError:
        raise Refused(f"the shape must broadcast with that of the input, {list(value.shape)}, got {webidl.describe(shape)}") from None
    if wanted == value.shape:
        return value
    return node.builder.expand(node.operand(0), list(wanted)) if 0 not in wanted else _empty(node, wanted)


def _expand_named(node: Node, shape: Sequence[int]) -> Result:
    """Expand a value with named sizes, or to such sizes."""
    value = node.value(0)
    wanted = broadcast_sizes(value.shape, shape)
    if wanted is None or is_empty(wanted):
        raise Refused(f"the shape must broadcast with that of the input, {list(value.shape)}, got {list(shape)}")
    return value if are_same(wanted, value.shape) else node.builder.expand(node.operand(0), list(wanted))


def _tile(node: Node) -> Result:
    """Map to tile."""
    value = node.value(0)
    repeats = node.known_integers(1, "repeats")
    if len(repeats) != value.rank or any(count < 0 for count in repeats):
        raise Refused(f"repeats must be {value.rank} numbers of at least 0, got {repeats}")
    if all(is_same(count, 1) for count in repeats):
        return value
    if 0 in repeats:
        return _empty(node, [size * count for size, count in zip(value.shape, repeats, strict=True)])
    # The builder takes them modulo 2 ** 32, as Web IDL says.
    if max(repeats) > _MOST_REPEATS:
        raise Refused(f"repeats must be at most {_MOST_REPEATS}, got {webidl.describe(repeats)}")
    return node.builder.tile(node.operand(0), repeats)


# Padding.


def _pad(node: Node) -> Result:
    """Map to pad, and to slice for negative numbers. Wrapped and far reflected padding is gathered by a table of indices.

    The number that is added may be computed. The widths must be known.
    """
    value = node.value(0)
    mode = node.choice("mode", "constant", ("constant", "reflect", "edge", "wrap"))
    if node.given(2) and node.value(2).size != 1:
        raise Refused(f"constant_value must be a scalar, got {list(node.value(2).shape)}")
    widths = node.attribute_or_input("pads", 1) or []
    axes = normalize_axes("axes", node.known_integers(3, "axes") if node.given(3) else list(range(value.rank)), value.rank)
    if len(widths) != 2 * len(axes):
        raise Refused(f"pads must have {2 * len(axes)} numbers, two for each axis, got {len(widths)}")
    low, high = [0] * value.rank, [0] * value.rank
    for index, axis in enumerate(axes):
        low[axis], high[axis] = widths[index], widths[len(axes) + index]
    shape = [before + size + behind for before, size, behind in zip(low, value.shape, high, strict=True)]
    if any(size < 0 for size in shape):
        raise Refused(f"pads must take at most what the input has, {list(value.shape)}, got {widths}")
    if 0 in shape:
        return _empty(node, shape)
    if not any(low) and not any(high):
        return value
    if mode == "constant":
        padding = node.value(2) if node.given(2) else Value.known(np.asarray(node.number("value", 0.0), value.dtype))
        if padding.array is not None and node.given(2):
            node.known(2, "constant_value")
        return pad(node, value, padding, low, high, [0] * value.rank)
    starts = [max(-before, 0) for before in low]
    sizes = [size - start - max(-behind, 0) for size, start, behind in zip(value.shape, starts, high, strict=True)]
    low, high = [max(before, 0) for before in low], [max(behind, 0) for behind in high]
    if any(size < 1 for size in sizes):
        raise Refused(f"negative pads must leave something of each axis of the input, {list(value.shape)}, got {widths}")
    x = slice_operand(node, node.operand(0), starts, sizes)
    if mode == "wrap" or any(max(a, b) >= size for a, b, size in zip(low, high, sizes, strict=True) if mode == "reflect"):
        for axis, (before, behind) in enumerate(zip(low, high, strict=True)):
            if before or behind:
                x = node.builder.gather(x, node.constant(_padded_indices(sizes[axis], before, behind, mode)), axis=axis)
        return x
    if not any(low) and not any(high):
        return x
    return node.builder.pad(x, low, high, mode="edge" if mode == "edge" else "reflection")


def _padded_indices(size: int, before: int, behind: int, mode: str) -> Array:
    """Return which element of an axis is at each place of the padded axis."""
    if before + size + behind > _MOST_INDICES:
        raise Refused(f"an axis that is padded by {mode} must have at most {_MOST_INDICES} elements, got {before + size + behind}")
    return find_padding(before, size, behind, mode).astype(np.int32)


def _center_crop_pad(node: Node) -> Result:
    """Map to slice and pad. An odd element is cropped or added at the end."""
    value = node.value(0)
    axes = normalize_axes("axes", node.integers("axes", range(value.rank)), value.rank)
    wanted = node.known_integers(1, "the shape")
    if len(wanted) != len(axes) or any(size < 0 for size in wanted):
        raise Refused(f"the shape must be {len(axes)} sizes of at least 0, got {wanted}")
    shape = list(value.shape)
    for axis, size in zip(axes, wanted, strict=True):
        shape[axis] = size
    if 0 in shape:
        return _empty(node, shape)
    if tuple(shape) == value.shape:
        return value
    sizes = [min(old, new) for old, new in zip(value.shape, shape, strict=True)]
    x = slice_operand(node, node.operand(0), [(old - size) // 2 for old, size in zip(value.shape, sizes, strict=True)], sizes)
    low = [(new - size) // 2 for new, size in zip(shape, sizes, strict=True)]
    high = [new - size - before for new, size, before in zip(shape, sizes, low, strict=True)]
    return node.builder.pad(x, low, high, mode="constant", value=0) if sizes != shape else x


# Blocks and matrices.


def _block(node: Node, divided: Sequence[int]) -> tuple[int, bool]:
    """Return the size of a block, which must divide axes, and whether a pixel's channels are together (DCR)."""
    value = node.value(0)
    if value.rank != 4:
        raise Refused(f"the input must be 4-D, got {list(value.shape)}")
    block = node.integer("blocksize")
    step = block if len(divided) > 1 else block * block
    if block < 1 or any(value.shape[axis] % step for axis in divided):
        raise Refused(f"blocksize must be at least 1 and divide the input's shape, {list(value.shape)}, got {block}")
    return block, node.choice("mode", "DCR", ("DCR", "CRD")) == "DCR"


def _depth_to_space(node: Node) -> Result:
    """Map to reshape and transpose of at most 5 dimensions."""
    block, together = _block(node, [1])
    batches, channels, height, width = node.value(0).shape
    depth = channels // block**2
    if block == 1:
        return node.value(0)
    x = node.operand(0)
    if together and batches == 1:
        x = node.transpose(node.reshape(x, [block, block, depth, height, width]), [2, 3, 0, 4, 1])
        return node.reshape(x, [batches, depth, height * block, width * block])
    if together:
        # Make it CRD.
        x = node.transpose(node.reshape(x, [batches, block * block, depth, height * width]), [0, 2, 1, 3])
    x = node.transpose(node.reshape(x, [batches * depth, block, block, height, width]), [0, 3, 1, 4, 2])
    return node.reshape(x, [batches, depth, height * block, width * block])


def _space_to_depth(node: Node) -> Result:
    """Map to reshape and transpose of at most 5 dimensions."""
    block, together = _block(node, [2, 3])
    batches, channels, height, width = node.value(0).shape
    rows, columns = height // block, width // block
    if block == 1:
        return node.value(0)
    x = node.reshape(node.operand(0), [batches * channels, rows, block, columns, block])
    x = node.transpose(x, [2, 4, 0, 1, 3] if together and batches == 1 else [0, 2, 4, 1, 3])
    if together and batches > 1:
        x = node.transpose(node.reshape(x, [batches, channels, block * block, rows * columns]), [0, 2, 1, 3])
    return node.reshape(x, [batches, channels * block**2, rows, columns])


def _trilu(node: Node) -> Result:
    """Map to triangular. The diagonal must be known."""
    diagonal = node.known_integer(1, "k") if node.given(1) else 0
    shape = node.value(0).shape
    if have_names(shape):
        return node.builder.triangular(node.operand(0), upper=node.flag("upper", default=True), diagonal=diagonal)
    # All diagonals outside the matrix are alike.
    most = max(shape, default=0)
    return node.builder.triangular(node.operand(0), upper=node.flag("upper", default=True), diagonal=min(max(diagonal, -most), most))


def _reverse_sequence(node: Node) -> Result:
    """Map to reverse if all sequences are whole, otherwise to gatherND. The lengths may be computed."""
    builder = node.builder
    value = node.value(0)
    if value.rank < 2:
        raise Refused(f"the input must have at least 2 dimensions, got {list(value.shape)}")
    time = normalize_axis("time_axis", node.integer("time_axis", 0), value.rank)
    batch = normalize_axis("batch_axis", node.integer("batch_axis", 1), value.rank)
    if {time, batch} != {0, 1}:
        raise Refused(f"time_axis and batch_axis must be 0 and 1, got {time} and {batch}")
    steps, batches = value.shape[time], value.shape[batch]
    if node.value(1).shape != (batches,):
        raise Refused(f"sequence_lens must be one number for each of {batches} sequences, got {list(node.value(1).shape)}")
    lengths = None if node.value(1).array is None else np.array(node.known_integers(1, "sequence_lens"))
    if lengths is not None and not ((lengths >= 0) & (lengths <= steps)).all():
        raise Refused(f"sequence_lens must be from 0 to {steps}, got {webidl.describe(lengths.tolist())}")
    if lengths is not None and (lengths == steps).all():
        return builder.reverse(node.operand(0), axes=[time])
    if steps * batches > _MOST_INDICES:
        raise Refused(f"there must be at most {_MOST_INDICES} steps in all sequences, got {steps * batches}")
    # The coordinates of each element, [time, batch] or [batch, time].
    places = np.expand_dims(np.arange(steps, dtype=np.int32), 1 - time)
    rows = np.broadcast_to(np.expand_dims(np.arange(batches, dtype=np.int32), 1 - batch), value.shape[:2])
    if lengths is not None:
        ends = np.expand_dims(lengths, time)
        sources = np.where(places < ends, ends - 1 - places, places).astype(np.int32)
        coordinates = node.constant(np.stack([sources, rows] if time == 0 else [rows, sources], -1))
    else:
        last = node.reshape(node.cast(node.operand(1), "int32"), [1, batches] if time == 0 else [batches, 1])
        place = node.constant(places)
        moved = builder.sub(builder.sub(last, node.scalar(1, "int32")), place)
        found = node.reshape(builder.where(builder.lesser(place, last), moved, place), [*value.shape[:2], 1])
        others = node.constant(np.ascontiguousarray(rows)[..., np.newaxis])
        coordinates = builder.concat([found, others] if time == 0 else [others, found], 2)
    return builder.gatherND(node.operand(0), coordinates)


RULES: Mapping[str, Callable[[Node], Result | list[Result]]] = {
    "CenterCropPad": _center_crop_pad,
    "Concat": _concat,
    "DepthToSpace": _depth_to_space,
    "Expand": _expand,
    "Flatten": _flatten,
    "Pad": _pad,
    "Reshape": _reshape,
    "ReverseSequence": _reverse_sequence,
    "Slice": _slice,
    "SpaceToDepth": _space_to_depth,
    "Split": _split,
    "Squeeze": _squeeze,
    "Tile": _tile,
    "Transpose": _transpose,
    "Trilu": _trilu,
    "Unsqueeze": _unsqueeze,
}
