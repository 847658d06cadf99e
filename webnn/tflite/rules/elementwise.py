"""Operators that compute each element by itself: arithmetic, comparisons, functions, activations, casts, quantization.

The import itself quantizes results, and reads what quantized integers mean.
"""

from __future__ import annotations

import numpy as np

from webnn.importing.functions import FUNCTIONS, Calculator, atan2
from webnn.importing.steps import Result
from webnn.importing.values import Refused, make_uniform
from webnn.tflite.node import Node, Rules, borrow

__all__ = ["RULES"]

#: Constants of more numbers stay in float16.
_FEW = 1 << 10


def _squared_difference(node: Node) -> Result:
    """Multiply the difference by itself."""
    difference = node.builder.sub(node.operand(0), node.operand(1))
    return node.builder.mul(difference, difference)


def _floor_div(node: Node) -> Result:
    """Round the quotient down; integers lose their remainder first, which has the sign of the divisor."""
    builder, a, b = node.builder, node.operand(0), node.operand(1)
    return builder.floor(builder.div(a, b)) if node.is_float(a) else builder.div(builder.sub(a, node.operand_of(node.one("Mod"))), b)


def _bitcast(node: Node) -> Result:
    """Map to a cast of 64-bit integers modulo 2^64: a half of the numbers is moved by 2^63 before and behind it."""
    x, dtype = node.operand(0), node.outputs[0].dtype
    if {str(node.value(0).dtype), str(dtype)} != {"int64", "uint64"}:
        raise Refused(f"it must be from int64 to uint64 or back, got {node.value(0).dtype} and {dtype}")
    builder, is_signed = node.builder, dtype == np.uint64
    border = np.array(-(2**63) if is_signed else 2**63, x.descriptor.dataType)
    moves = builder.lesser(x, node.scalar(0, x)) if is_signed else builder.greaterOrEqual(x, node.constant(border))
    halved = node.cast(builder.where(moves, builder.sub(x, node.constant(border)), x), "uint64" if is_signed else "int64")
    return builder.where(moves, builder.add(halved, node.constant(np.array(2**63 if is_signed else -(2**63), dtype))), halved)


def _select(node: Node) -> Result:
    """Map to where. A condition with one dimension chooses elements of the first dimension."""
    condition, shape = node.operand(0), node.value(1).shape
    if node.value(0).rank == 1 and len(shape) > 1:
        condition = node.reshape(condition, [node.value(0).size, *[1] * (len(shape) - 1)])
    return node.builder.where(condition, node.operand(1), node.operand(2))


# Quantization.


def _dequantize(node: Node) -> Result:
    """Map to cast or dequantizeLinear. Few numbers of float16 are cast at import; more stay as small as they are."""
    value = node.value(0)
    return value.array.astype(np.float32) if value.array is not None and value.size <= _FEW and value.dtype == np.float16 else value


def _fake_quant(node: Node) -> Result:
    """Round to the numbers that quantized integers would mean."""
    builder, x = node.builder, node.operand(0)
    low, high, bits = float(node.option("Min", 0.0)), float(node.option("Max", 0.0)), node.integer("NumBits", 2)
    least, most = int(node.flag("NarrowRange")), 2 ** min(bits, 16) - 1
    scale = np.float32((high - low) / (most - least))
    if not low <= 0 <= high or not 0 < scale < np.inf or bits > 16:
        raise Refused(f"Min and Max must be finite and enclose 0, and NumBits be at most 16, got {low}, {high} and {bits}")
    zero = min(max(int(np.round(least - low / scale)), least), most)
    bottom, top = (least - zero) * scale, (most - zero) * scale
    x = builder.clamp(x, minValue=float(bottom), maxValue=float(top))
    steps = builder.roundEven(builder.div(builder.sub(x, node.scalar(float(bottom), x)), node.scalar(float(scale), x)))
    return builder.add(builder.mul(steps, node.scalar(float(scale), x)), node.scalar(float(bottom), x))


#: The operators that are as ONNX's, which have the same names or others.
_SAME = (
    *("Abs", "Add", "Ceil", "Cos", "Div", "Elu", "Equal", "Exp", "Floor", "Greater", "Less", "Log", "Mul", "Neg", "Pow", "Relu", "Round"),
    *("Sign", "Sin", "Sqrt", "Sub", "Tanh"),
)
_BORROWED = {
    **{"ADD_N": "Sum", "FLOOR_MOD": "Mod", "GREATER_EQUAL": "GreaterOrEqual", "HARD_SWISH": "HardSwish", "LESS_EQUAL": "LessOrEqual"},
    **{"LOGICAL_AND": "And", "LOGICAL_NOT": "Not", "LOGICAL_OR": "Or", "LOGISTIC": "Sigmoid", "MAXIMUM": "Max", "MINIMUM": "Min"},
    **{"SELECT_V2": "Where", "STABLEHLO_COSINE": "Cos", "STABLEHLO_DIVIDE": "Div", "STABLEHLO_EXPONENTIAL": "Exp"},
    **{"STABLEHLO_LOGISTIC": "Sigmoid", "STABLEHLO_MAXIMUM": "Max", "STABLEHLO_MINIMUM": "Min", "STABLEHLO_MULTIPLY": "Mul"},
    **{"STABLEHLO_NEGATE": "Neg", "STABLEHLO_POWER": "Pow", "STABLEHLO_SELECT": "Where", "STABLEHLO_SUBTRACT": "Sub"},
    **{each.upper(): each for each in _SAME},
    **{f"STABLEHLO_{each.upper()}": each for each in ("Abs", "Add", "Floor", "Log", "Tanh")},
}

RULES: Rules = {
    **{key: borrow(operator) for key, operator in _BORROWED.items()},
    "ATAN2": lambda node: atan2(Calculator(node), node.cast(node.operand(0), "float32"), node.cast(node.operand(1), "float32")),
    "BITCAST": _bitcast,
    "BITWISE_XOR": lambda node: node.one("Xor" if node.value(0).dtype.kind == "b" else "BitwiseXor"),
    **dict.fromkeys(("CAST", "STABLEHLO_CONVERT"), lambda node: node.one("Cast", [node.value(0)], to=node.outputs[0].dtype)),
    # Sparse weights are expanded when the file is read.
    "DENSIFY": lambda node: node.value(0),
    "DEQUANTIZE": _dequantize,
    "FAKE_QUANT": _fake_quant,
    "FLOOR_DIV": _floor_div,
    "GELU": lambda node: node.one("Gelu", approximate="tanh" if node.flag("Approximate") else "none"),
    "LEAKY_RELU": lambda node: node.builder.leakyRelu(node.operand(0), alpha=node.option("Alpha", 0.0)),
    "NOT_EQUAL": lambda node: node.builder.notEqual(node.operand(0), node.operand(1)),
    "PRELU": lambda node: node.builder.prelu(node.operand(0), node.operand(1)),
    "QUANTIZE": lambda node: node.value(0),
    "RELU6": lambda node: node.builder.clamp(node.operand(0), minValue=0, maxValue=6),
    "RELU_0_TO_1": lambda node: node.builder.clamp(node.operand(0), minValue=0, maxValue=1),
    "RELU_N1_TO_1": lambda node: node.builder.clamp(node.operand(0), minValue=-1, maxValue=1),
    "RIGHT_SHIFT": borrow("BitShift", direction="RIGHT"),
    **dict.fromkeys(("RSQRT", "STABLEHLO_RSQRT"), lambda node: node.builder.reciprocal(node.builder.sqrt(node.operand(0)))),
    "SELECT": _select,
    "SQUARE": lambda node: node.builder.mul(node.operand(0), node.operand(0)),
    "SQUARED_DIFFERENCE": _squared_difference,
    "STABLEHLO_CBRT": lambda node: FUNCTIONS["cbrt"](Calculator(node), node.cast(node.operand(0), "float32")),
    "STABLEHLO_CLAMP": lambda node: node.builder.min(node.builder.max(node.operand(1), node.operand(0)), node.operand(2)),
    "STABLEHLO_REMAINDER": borrow("Mod", fmod=1),
    "ZEROS_LIKE": lambda node: make_uniform(node.value(0).shape, node.outputs[0].dtype),
}
