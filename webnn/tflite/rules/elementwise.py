"""Operators that compute each element by itself: arithmetic, comparisons, functions, activations, casts."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from webnn.importing.bits import Bits
from webnn.importing.functions import FUNCTIONS, Calculator, atan2
from webnn.importing.steps import Result
from webnn.importing.values import Refused
from webnn.tflite.node import Node, borrow

__all__ = ["RULES"]


def _clamp(low: float, high: float) -> Callable[[Node], Result]:
    return lambda node: node.builder.clamp(node.operand(0), minValue=low, maxValue=high)


def _square(node: Node) -> Result:
    """Multiply the input by itself."""
    return node.builder.mul(node.operand(0), node.operand(0))


def _rsqrt(node: Node) -> Result:
    """Take the reciprocal of the root."""
    return node.builder.reciprocal(node.builder.sqrt(node.operand(0)))


def _squared_difference(node: Node) -> Result:
    """Multiply the difference by itself."""
    difference = node.builder.sub(node.operand(0), node.operand(1))
    return node.builder.mul(difference, difference)


def _not_equal(node: Node) -> Result:
    """Map to notEqual."""
    return node.builder.notEqual(node.operand(0), node.operand(1))


def _floor_div(node: Node) -> Result:
    """Round the quotient down; integers lose their remainder first, which has the sign of the divisor."""
    builder, a, b = node.builder, node.operand(0), node.operand(1)
    return builder.floor(builder.div(a, b)) if node.is_float(a) else builder.div(builder.sub(a, node.operand_from(node.one("Mod"))), b)


def _prelu(node: Node) -> Result:
    """Map to prelu."""
    return node.builder.prelu(node.operand(0), node.operand(1))


def _leaky_relu(node: Node) -> Result:
    """Map to leakyRelu."""
    return node.builder.leakyRelu(node.operand(0), alpha=node.option("Alpha", 0.0))


def _gelu(node: Node) -> Result:
    """Map to gelu, or to the approximation with tanh."""
    return node.one("Gelu", approximate="tanh" if node.flag("Approximate") else "none")


def _atan2(node: Node) -> Result:
    """Compute the angle by a polynomial, in float32."""
    return atan2(Calculator(node), node.cast(node.operand(0), "float32"), node.cast(node.operand(1), "float32"))


def _cbrt(node: Node) -> Result:
    """Raise to the power of 1 / 3, with a step of Newton's method."""
    return FUNCTIONS["cbrt"](Calculator(node), node.cast(node.operand(0), "float32"))


def _select(node: Node) -> Result:
    """Map to where. A condition with one dimension chooses elements of the first dimension."""
    condition, shape = node.operand(0), node.value(1).shape
    if node.value(0).rank == 1 and len(shape) > 1:
        condition = node.reshape(condition, [node.value(0).size, *[1] * (len(shape) - 1)])
    return node.builder.where(condition, node.operand(1), node.operand(2))


def _cast(node: Node) -> Result:
    """Map to cast; to bool by a comparison with 0."""
    return node.one("Cast", [node.value(0)], to=node.outputs[0].dtype)


def _zeros_like(node: Node) -> Result:
    """Return zeros, which are known."""
    return np.broadcast_to(np.zeros((), node.outputs[0].dtype), node.value(0).shape)


def _bits(node: Node) -> Bits:
    dtype = node.value(0).dtype
    if dtype.kind not in "iu" or node.value(1).dtype != dtype:
        raise Refused(f"the inputs must be integers of one type, got {dtype.name} and {node.value(1).dtype.name}")
    return Bits(node, 8 * dtype.itemsize, signed=dtype.kind == "i")


def _bitwise_xor(node: Node) -> Result:
    """Combine the integers bit by bit; booleans by logicalXor."""
    if node.value(0).dtype.kind == "b":
        return node.builder.logicalXor(node.operand(0), node.operand(1))
    return _bits(node).combine("logicalXor", node.operand(0), node.operand(1))


def _right_shift(node: Node) -> Result:
    """Divide by a power of 2, toward minus infinity."""
    bits, distances = _bits(node), node.value(1)
    return bits.shift_right(node.operand(0), bits.shift(node.operand(1) if distances.array is None else distances.array))


def _clamp_between(node: Node) -> Result:
    """Map to max and min: the limits come first and last."""
    return node.builder.min(node.builder.max(node.operand(1), node.operand(0)), node.operand(2))


#: The operators that are as ONNX's.
_BORROWED = {
    **{
        each.upper(): each
        for each in ("Abs", "Add", "Ceil", "Cos", "Div", "Elu", "Equal", "Exp", "Floor", "Greater", "Less", "Log", "Mul", "Neg")
    },
    **{each.upper(): each for each in ("Pow", "Relu", "Round", "Sign", "Sin", "Sqrt", "Sub", "Tanh")},
    **{"ADD_N": "Sum", "FLOOR_MOD": "Mod", "GREATER_EQUAL": "GreaterOrEqual", "HARD_SWISH": "HardSwish", "LESS_EQUAL": "LessOrEqual"},
    **{"LOGICAL_AND": "And", "LOGICAL_NOT": "Not", "LOGICAL_OR": "Or", "LOGISTIC": "Sigmoid", "MAXIMUM": "Max", "MINIMUM": "Min"},
    "SELECT_V2": "Where",
}
#: The same for operators of StableHLO.
_STABLEHLO = {
    **{each.upper(): each for each in ("Abs", "Add", "Floor", "Log", "Tanh")},
    **{
        "COSINE": "Cos",
        "DIVIDE": "Div",
        "EXPONENTIAL": "Exp",
        "LOGISTIC": "Sigmoid",
        "MAXIMUM": "Max",
        "MINIMUM": "Min",
        "MULTIPLY": "Mul",
    },
    **{"NEGATE": "Neg", "POWER": "Pow", "SELECT": "Where", "SUBTRACT": "Sub"},
}

RULES: Mapping[str, Callable[[Node], Result | list[Result]]] = {
    **{key: borrow(operator) for key, operator in _BORROWED.items()},
    **{f"STABLEHLO_{key}": borrow(operator) for key, operator in _STABLEHLO.items()},
    "ATAN2": _atan2,
    "BITWISE_XOR": _bitwise_xor,
    "CAST": _cast,
    "FLOOR_DIV": _floor_div,
    "GELU": _gelu,
    "LEAKY_RELU": _leaky_relu,
    "NOT_EQUAL": _not_equal,
    "PRELU": _prelu,
    "RELU6": _clamp(0, 6),
    "RELU_0_TO_1": _clamp(0, 1),
    "RELU_N1_TO_1": _clamp(-1, 1),
    "RIGHT_SHIFT": _right_shift,
    "RSQRT": _rsqrt,
    "SELECT": _select,
    "SQUARE": _square,
    "SQUARED_DIFFERENCE": _squared_difference,
    "STABLEHLO_CBRT": _cbrt,
    "STABLEHLO_CLAMP": _clamp_between,
    "STABLEHLO_CONVERT": _cast,
    "STABLEHLO_REMAINDER": borrow("Mod", fmod=1),
    "STABLEHLO_RSQRT": _rsqrt,
    "ZEROS_LIKE": _zeros_like,
}
