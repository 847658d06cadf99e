"""Operations whose sizes are operands. The operands must be known; the types of the results need not say the sizes."""

from __future__ import annotations

from collections.abc import Mapping

from webnn.importing.moving import broadcast, cut, pad
from webnn.importing.steps import Result
from webnn.importing.values import Refused, make_uniform
from webnn.stablehlo.node import Node
from webnn.stablehlo.rules import Rule
from webnn.stablehlo.shapes import check_axis, find_broadcast, find_padded, find_reshaped, find_sliced

__all__ = ["RULES"]


def _dynamic_broadcast_in_dim(node: Node) -> Result:
    """Map as broadcast_in_dim. `stablehlo#dynamic_broadcast_in_dim`."""
    sizes, dimensions = node.known_integers(1, "output_dimensions"), node.integers("broadcast_dimensions")
    shape = node.fit(find_broadcast(node.value(0).shape, dimensions, sizes))
    return make_uniform(shape, node.dtype()) if 0 in shape else broadcast(node, node.operand(0), dimensions, shape)


def _dynamic_iota(node: Node) -> Result:
    """Refuse sizes that are not known; others are folded. `stablehlo#dynamic_iota`."""
    sizes = node.known_integers(0, "output_shape")
    raise Refused(f"the result must have few enough elements to be computed at import, got {sizes}")


def _dynamic_pad(node: Node) -> Result:
    """Map as pad. `stablehlo#dynamic_pad`."""
    names = ("edge_padding_low", "edge_padding_high", "interior_padding")
    low, high, interior = (node.known_integers(index, name) for index, name in enumerate(names, 2))
    node.fit(find_padded(node.value(0).shape, low, high, interior))
    return pad(node, node.value(0), node.value(1), low, high, interior)


def _dynamic_reshape(node: Node) -> Result:
    """Map to reshape. `stablehlo#dynamic_reshape`."""
    value = node.value(0)
    known = node.value(1).array
    if known is None and all(size is not None for size in getattr(node.types[0], "shape", (None,))):
        # The type says the sizes, too.
        return node.reshape(node.operand(0), find_reshaped(value.shape, node.shape()))
    return node.reshape(node.operand(0), node.fit(find_reshaped(value.shape, node.known_integers(1, "output_shape"))))


def _real_dynamic_slice(node: Node) -> Result:
    """Map to slice. An operation that StableHLO has beside its specification."""
    value = node.value(0)
    starts, limits, strides = (
        node.known_integers(index, name) for index, name in enumerate(("start_indices", "limit_indices", "strides"), 1)
    )
    return cut(node, value, starts, node.fit(find_sliced(value.shape, starts, limits, strides)), strides)


def _set_dimension_size(node: Node) -> Result:
    """Map to slice. An operation that StableHLO has beside its specification."""
    value = node.value(0)
    axis = check_axis("dimension", node.integer("dimension"), value.rank)
    sizes = list(value.shape)
    if node.value(1).rank:
        raise Refused(f"the size must be a scalar, got {list(node.value(1).shape)}")
    (sizes[axis],) = node.known_integers(1, "the size")
    if not 0 <= sizes[axis] <= value.shape[axis]:
        raise Refused(f"the size must be from 0 to {value.shape[axis]}, got {sizes[axis]}")
    return cut(node, value, [0] * value.rank, sizes)


RULES: Mapping[str, Rule] = {
    "stablehlo.dynamic_broadcast_in_dim": _dynamic_broadcast_in_dim,
    "stablehlo.dynamic_iota": _dynamic_iota,
    "stablehlo.dynamic_pad": _dynamic_pad,
    "stablehlo.dynamic_reshape": _dynamic_reshape,
    "stablehlo.real_dynamic_slice": _real_dynamic_slice,
    "stablehlo.set_dimension_size": _set_dimension_size,
}
