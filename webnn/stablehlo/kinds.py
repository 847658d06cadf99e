"""The operands of elementwise operations: the kinds of their elements, and shapes that fit."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from webnn.importing.values import Refused
from webnn.stablehlo.elements import kind_of, tensor_type
from webnn.stablehlo.node import Node

__all__ = ["OPERANDS", "check"]

#: Kinds, as messages name them: a bit, a signed or unsigned integer, a floating-point number, a complex number.
_NAMES: Mapping[str, str] = {"b": "i1", "i": "integers", "f": "floating-point numbers", "c": "complex numbers"}

#: The kinds of elements that each operation takes, one letter for each, and how many operands.
OPERANDS: Mapping[str, tuple[str, int]] = {
    **{f"stablehlo.{name}": ("bifc", 2) for name in ("add", "compare", "maximum", "minimum", "multiply")},
    **{f"stablehlo.{name}": ("ifc", 2) for name in ("divide", "power", "remainder", "subtract")},
    **{f"stablehlo.{name}": ("bi", 2) for name in ("and", "or", "xor")},
    **{f"stablehlo.{name}": ("i", 2) for name in ("shift_left", "shift_right_arithmetic", "shift_right_logical")},
    **{f"stablehlo.{name}": ("fc", 2) for name in ("atan2",)},
    **{f"stablehlo.{name}": ("f", 2) for name in ("complex",)},
    **{f"stablehlo.{name}": ("bifc", 1) for name in ("bitcast_convert", "convert")},
    **{f"stablehlo.{name}": ("ifc", 1) for name in ("abs", "negate", "sign")},
    **{f"stablehlo.{name}": ("bi", 1) for name in ("not",)},
    **{f"stablehlo.{name}": ("i", 1) for name in ("count_leading_zeros", "popcnt")},
    **{
        f"stablehlo.{name}": ("fc", 1)
        for name in (
            *("cbrt", "cosine", "exponential", "exponential_minus_one", "imag", "log", "log_plus_one", "logistic", "real"),
            *("rsqrt", "sine", "sqrt", "tan", "tanh"),
        )
    },
    **{
        f"stablehlo.{name}": ("f", 1)
        for name in ("ceil", "floor", "is_finite", "reduce_precision", "round_nearest_afz", "round_nearest_even")
    },
    **{f"stablehlo.{name}": ("bifc", 3) for name in ("clamp", "select")},
}

#: The operations in which a scalar is used for all elements: as the predicate, and as a limit.
_SCALARS = frozenset({"stablehlo.clamp", "stablehlo.select"})
#: The operations that return i1, and those that return an element type of their own.
_PREDICATES = frozenset({"stablehlo.compare", "stablehlo.is_finite"})
_FREE = frozenset({"stablehlo.bitcast_convert", "stablehlo.complex", "stablehlo.convert"})


def check(node: Node) -> None:
    """Check the operands of an elementwise operation; refuse them if their number or their types do not fit.

    MLIR has checked a program that was read. One that was built may be wrong. In the body of a reduction a constant is a scalar in
    place of a tensor.
    """
    kinds, count = OPERANDS[node.name]
    values = node.values()
    if len(values) != count or len(node.types) != 1:
        raise Refused(f"there must be {count} operand{'s' * (count > 1)} and 1 result, got {len(values)} and {len(node.types)}")
    # The operand that is never a scalar beside tensors.
    first = values[1 if node.name == "stablehlo.clamp" else -1]
    if kind_of(first.dtype) not in kinds:
        raise Refused(f"the elements must be {' or '.join(_NAMES[kind] for kind in kinds)}, got {first.dtype.name}")
    is_select = node.name == "stablehlo.select"
    if is_select and not node.is_boolean():
        raise Refused(f"the predicate must have elements of type i1, got {values[0].dtype.name}")
    for value in values[is_select:]:
        if value.dtype != first.dtype:
            raise Refused(f"the operands must have one element type, got {', '.join(each.dtype.name for each in values)}")
    wanted = np.dtype(np.bool_) if node.name in _PREDICATES else None if node.name in _FREE else first.dtype
    if wanted not in (None, node.dtype()) and kind_of(first.dtype) != "c":
        raise Refused(f"the result must have elements of {wanted}, got {node.dtype()}")
    sizes = tensor_type(node.types[0]).shape
    is_scalar = not any(getattr(operand.type, "shape", None) for operand in node.operation.operands)
    if (not sizes and is_scalar) or node.name == "stablehlo.bitcast_convert":
        # A scalar, or many of them; bits may have a dimension of their own.
        return
    for value in values:
        if value.shape != first.shape and not (value.shape == () and node.name in _SCALARS):
            raise Refused(f"the operands must have one shape, got {', '.join(str(list(each.shape)) for each in values)}")
    if len(sizes) != first.rank or any(size not in (None, own) for size, own in zip(sizes, first.shape, strict=True)):
        raise Refused(f"the result must have the shape of the operands, {list(first.shape)}, got {node.types[0]}")
