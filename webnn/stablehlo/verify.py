"""What must hold for the operands, results and regions of operations. MLIR checks programs that are read; a module may be built by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, TypeAlias

from webnn.hlo.types import QuantizedType, TensorType
from webnn.importing.values import Refused
from webnn.stablehlo.shapes import check_size

if TYPE_CHECKING:
    from webnn.hlo.ir import Operation
    from webnn.hlo.types import Type

__all__ = ["check_type", "verify"]

#: "same": operands and results have one type. "shape": they have one shape. "elements": each result has the element type of the first
#: operand. "each": results have the element types of the operands in their order.
_Relation: TypeAlias = Literal["same", "shape", "elements", "each", "free"]
#: How many operands, results and regions; None for any number.
_Counts: TypeAlias = "tuple[int | None, int | None, int | None]"

_FUNCTIONS = "cbrt ceil cosine exponential exponential_minus_one floor log log_plus_one logistic rsqrt sine sqrt tan tanh"
_UNARY = f"{_FUNCTIONS} abs count_leading_zeros negate not popcnt reduce_precision round_nearest_afz round_nearest_even sign".split()
_SHIFTS = "shift_left shift_right_arithmetic shift_right_logical"
_BINARY = f"{_SHIFTS} add and atan2 divide maximum minimum multiply or power remainder subtract xor".split()
_COUNTS: Mapping[str, tuple[_Counts, _Relation]] = MappingProxyType(
    {
        **dict.fromkeys(_UNARY, ((1, 1, 0), "same")),
        **dict.fromkeys(_BINARY, ((2, 1, 0), "same")),
        **dict.fromkeys(("convert", "imag", "is_finite", "real", "uniform_dequantize", "uniform_quantize"), ((1, 1, 0), "shape")),
        **dict.fromkeys(("compare", "complex"), ((2, 1, 0), "shape")),
        **dict.fromkeys(("broadcast_in_dim", "cholesky", "reshape", "reverse", "slice", "transpose"), ((1, 1, 0), "elements")),
        **dict.fromkeys(("dynamic_broadcast_in_dim", "dynamic_reshape", "gather", "pad", "set_dimension_size"), ((2, 1, 0), "elements")),
        **dict.fromkeys(("torch_index_select", "triangular_solve"), ((2, 1, 0), "elements")),
        **dict.fromkeys(("concatenate", "dynamic_slice", "dynamic_update_slice"), ((None, 1, 0), "elements")),
        **dict.fromkeys(("constant", "create_token", "iota"), ((0, 1, 0), "free")),
        **dict.fromkeys(("bitcast_convert", "dynamic_iota", "fft", "get_dimension_size", "get_tuple_element"), ((1, 1, 0), "free")),
        **dict.fromkeys(("convolution", "dot", "dot_general"), ((2, 1, 0), "free")),
        **dict.fromkeys(("reduce", "reduce_window", "sort"), ((None, None, 1), "each")),
        "after_all": ((None, 1, 0), "free"),
        "batch_norm_grad": ((5, 3, 0), "elements"),
        "batch_norm_inference": ((5, 1, 0), "elements"),
        "batch_norm_training": ((3, 3, 0), "elements"),
        "case": ((1, None, None), "free"),
        "clamp": ((3, 1, 0), "elements"),
        "composite": ((None, None, None), "free"),
        "custom_call": ((None, None, None), "free"),
        "dynamic_conv": ((3, 1, 0), "free"),
        "dynamic_gather": ((3, 1, 0), "elements"),
        "dynamic_pad": ((5, 1, 0), "elements"),
        "if": ((1, None, 2), "free"),
        "map": ((None, 1, 1), "free"),
        "real_dynamic_slice": ((4, 1, 0), "elements"),
        "rng": ((3, 1, 0), "elements"),
        "optimization_barrier": ((None, None, 0), "each"),
        "rng_bit_generator": ((1, 2, 0), "free"),
        "scatter": ((None, None, 1), "each"),
        "select": ((3, 1, 0), "free"),
        "select_and_scatter": ((3, 1, 2), "elements"),
        "tuple": ((None, 1, 0), "free"),
        "while": ((None, None, 2), "each"),
    }
)


def check_type(type: Type) -> None:
    """Refuse a type of tensors that cannot be."""
    if isinstance(type, TensorType):
        check_size([size for size in type.shape if size is not None])


def verify(operation: Operation) -> None:
    """Check the numbers and the types of operands, results and regions.

    Raises:
        Refused: They are not those of the operation.
    """
    for value in (*operation.results, *(argument for region in operation.regions for argument in region.arguments)):
        check_type(value.type)
    dialect, _, name = operation.name.partition(".")
    row = _COUNTS.get(name) if dialect == "stablehlo" else None
    if row is None:
        return
    wanted, relation = row
    for what, count, found in zip(
        ("operands", "results", "regions"), wanted, (operation.operands, operation.results, operation.regions), strict=True
    ):
        if count not in (None, len(found)):
            raise Refused(f"there must be {count} {what}, got {len(found)}")
    operands, results = [value.type for value in operation.operands], [value.type for value in operation.results]
    if any(isinstance(getattr(type, "element", None), QuantizedType) for type in (*operands, *results)):
        return
    match relation:
        case "same":
            _compare("operands and results must have one type", operands[0], [*operands[1:], *results], has_element=True)
        case "shape":
            _compare("operands and results must have one shape", operands[0], [*operands[1:], *results], has_element=False)
        case "elements" | "each" if operands:
            firsts = operands if relation == "each" else operands[:1] * len(results)
            if len(results) > len(firsts):
                raise Refused(f"there must be an operand for each of {len(results)} results, got {len(firsts)}")
            for one, other in zip(firsts, results, strict=False):
                if getattr(one, "element", None) != getattr(other, "element", None):
                    raise Refused(f"a result must have the element type of its operand, {one}, got {other}")


def _compare(rule: str, first: Type, others: Sequence[Type], *, has_element: bool) -> None:
    for type in others:
        if isinstance(first, TensorType) and isinstance(type, TensorType):
            sizes = zip(first.shape, type.shape, strict=False)
            fits = first.rank == type.rank and all(one == other or None in (one, other) for one, other in sizes)
            if fits and (first.element == type.element or not has_element):
                continue
        raise Refused(f"{rule}, got {first} and {type}")
