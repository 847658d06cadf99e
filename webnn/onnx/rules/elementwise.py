"""Operators that compute each element by itself: arithmetic, comparisons, functions, activations, casts."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Literal, TypeAlias

import numpy as np

from webnn.builder.operand import MLOperand
from webnn.builder.options import MLClampOptions
from webnn.importing.named import have_names, is_same
from webnn.importing.steps import Result
from webnn.importing.values import Refused, Value, carrier, make_uniform
from webnn.onnx.model import element_type
from webnn.onnx.node import Node

__all__ = ["RULES"]

Binary: TypeAlias = Literal[
    "add", "sub", "mul", "div", "max", "min", "equal", "greater", "greaterOrEqual", "lesser", "lesserOrEqual",
    "logicalAnd", "logicalOr", "logicalXor", "prelu",
]  # fmt: skip
Unary: TypeAlias = Literal[
    "ceil", "cos", "erf", "exp", "floor", "hardSwish", "identity", "isNaN", "log", "logicalNot", "neg", "reciprocal", "relu", "roundEven",
    "sigmoid", "sin", "softplus", "softsign", "sqrt", "tan", "tanh",
]  # fmt: skip


def _unary(operation: Unary) -> Callable[[Node], MLOperand]:
    def rule(node: Node) -> MLOperand:
        return node.elementwise(getattr(node.builder, operation), node.operand(0))

    rule.__doc__ = f"Map to {operation}."
    return rule


def _binary(operation: Binary) -> Callable[[Node], MLOperand]:
    def rule(node: Node) -> MLOperand:
        return node.elementwise(getattr(node.builder, operation), node.operand(0), node.operand(1))

    rule.__doc__ = f"Map to {operation}, which broadcasts as ONNX does."
    return rule


def _connective(operation: Literal["logicalAnd", "logicalOr"], *, decides: bool) -> Callable[[Node], MLOperand | Value]:
    def rule(node: Node) -> MLOperand | Value:
        for array in map(node.find_array, (node.value(0), node.value(1))):
            if array is not None and array.size and (array == decides).all():
                shape = np.broadcast_shapes(node.value(0).shape, node.value(1).shape)
                return Value.known(make_uniform(shape, np.dtype(np.bool_), decides))
        return _binary(operation)(node)

    rule.__doc__ = f"Map to {operation}. An input that is known to be {decides} decides the result."
    return rule


def _variadic(operation: Literal["add", "max", "min"]) -> Callable[[Node], MLOperand]:
    def rule(node: Node) -> MLOperand:
        result = node.operand(0)
        for index in range(1, len(node.inputs)):
            result = node.elementwise(getattr(node.builder, operation), result, node.operand(index))
        return result

    rule.__doc__ = f"Chain {operation} over the inputs."
    return rule


def _identity(node: Node) -> Value:
    """Pass the input on."""
    return node.value(0)


def _abs(node: Node) -> MLOperand:
    """Map to abs; unsigned integers stay as they are."""
    x = node.operand(0)
    return x if x.descriptor.dataType.startswith("u") else node.builder.abs(x)


def _sign(node: Node) -> MLOperand:
    """Map to sign; of an unsigned integer it is 1 unless the number is 0."""
    x = node.operand(0)
    return node.builder.min(x, node.scalar(1, x)) if x.descriptor.dataType.startswith("u") else node.builder.sign(x)


def _mean(node: Node) -> MLOperand:
    """Divide the sum of the inputs by their number."""
    return node.builder.div(_variadic("add")(node), node.scalar(len(node.inputs), node.operand(0)))


def _pow(node: Node) -> MLOperand:
    """Map to pow. An exponent of another type is cast; an integer with a fractional exponent is computed in the exponent's type."""
    x, y = node.operand(0), node.operand(1)
    if y.descriptor.dataType != x.descriptor.dataType and node.is_float(y) and not node.is_float(x):
        return node.builder.pow(node.cast(x, y.descriptor.dataType), y)
    return node.builder.pow(x, node.cast(y, x.descriptor.dataType))


def _mod(node: Node) -> MLOperand:
    """Compute a - b * quotient. The remainder has the sign of the dividend with fmod, otherwise that of the divisor.

    A finite dividend is its own remainder by an infinite divisor.
    """
    builder = node.builder
    a, b = node.operand(0), node.operand(1)
    zero = node.scalar(0, a)
    quotient = builder.div(a, b)
    if node.is_float(a):
        # Integers are divided toward zero as they are.
        quotient = builder.where(builder.lesser(quotient, zero), builder.ceil(quotient), builder.floor(quotient))
    remainder = builder.sub(a, builder.mul(quotient, b))
    if node.is_float(a):
        is_own = builder.logicalAnd(builder.isInfinite(b), builder.logicalNot(builder.isInfinite(a)))
        remainder = builder.where(is_own, a, remainder)
    if node.integer("fmod", 0) or a.descriptor.dataType.startswith("u"):
        return remainder
    differs = builder.logicalXor(builder.lesser(remainder, zero), builder.lesser(b, zero))
    wrong = builder.logicalAnd(builder.notEqual(remainder, zero), differs)
    return builder.where(wrong, builder.add(remainder, b), remainder)


def _where(node: Node) -> MLOperand | Value:
    """Map to where. A condition of one element that is known chooses an input of one element."""
    known = node.find_array(node.value(0))
    if known is not None and all(value is not None and is_same(value.size, 1) and value.rank == known.ndim for value in node.inputs):
        return node.value(1 if known.any() else 2)
    return node.builder.where(node.operand(0), node.operand(1), node.operand(2))


def _clip(node: Node) -> MLOperand:
    """Map to clamp if the limits are known and in order, otherwise to max and min. Until opset 11 the limits are attributes."""
    builder = node.builder
    x = node.operand(0)
    limits: list[float | MLOperand | None] = []
    for index, name in ((1, "min"), (2, "max")):
        limit: float | MLOperand | None = None
        if node.has(name):
            limit = node.number(name)
        elif node.given(index):
            value = node.value(index)
            if value.array is not None and value.size != 1:
                raise Refused(f"{name} must be a scalar, got {list(value.shape)}")
            limit = value.array.item() if value.array is not None else node.operand(index)
        limits.append(limit)
    low, high = limits
    known = [each for each in limits if isinstance(each, int | float)]
    if len(known) == 2 - limits.count(None) and known == sorted(known):
        options: MLClampOptions = {}
        if isinstance(low, int | float):
            options["minValue"] = low
        if isinstance(high, int | float):
            options["maxValue"] = high
        return builder.clamp(x, options)
    for limit, operation in ((low, builder.max), (high, builder.min)):
        if limit is not None:
            x = operation(x, node.scalar(limit, x) if isinstance(limit, int | float) else node.reshape(limit, []))
    return x


def _cast(node: Node) -> Value:
    """Map to cast; to bool by a comparison with 0."""
    return _to(node, element_type(node.integer("to")))


def _cast_like(node: Node) -> Value:
    """Map to cast, to the type of the second input."""
    return _to(node, node.value(1).dtype)


def _to(node: Node, dtype: np.dtype[np.generic]) -> Value:
    value = node.value(0)
    if value.numbers is not None and dtype.kind == "f" and carrier(dtype) == "float32":
        return node.typed(value.numbers, dtype)
    if dtype.kind != "b" or value.dtype.kind == "b":
        return node.typed(node.operand(0), dtype)
    x = node.operand(0)
    return node.boolean(node.builder.logicalNot(node.builder.equal(x, node.scalar(0, x))))


def _elu(node: Node) -> MLOperand:
    """Map to elu."""
    return node.builder.elu(node.operand(0), alpha=node.number("alpha", 1.0))


def _celu(node: Node) -> MLOperand:
    """Map to elu if alpha is 1, otherwise compute max(x, 0) + min(0, alpha * (exp(x / alpha) - 1))."""
    builder = node.builder
    x = node.operand(0)
    alpha = node.number("alpha", 1.0)
    if alpha == 1:
        return builder.elu(x)
    bend = builder.sub(builder.exp(builder.div(x, node.scalar(alpha, x))), node.scalar(1, x))
    return builder.add(builder.relu(x), builder.min(builder.mul(node.scalar(alpha, x), bend), node.scalar(0, x)))


def _selu(node: Node) -> MLOperand:
    """Compute gamma * elu. The body of ONNX computes alpha * exp(x) - alpha, which has no digits near 0."""
    x = node.operand(0)
    alpha, gamma = node.number("alpha", 1.67326319217681884765625), node.number("gamma", 1.05070102214813232421875)
    return node.builder.mul(node.builder.elu(x, alpha=alpha), node.scalar(gamma, x))


def _leaky_relu(node: Node) -> MLOperand:
    """Map to leakyRelu."""
    return node.builder.leakyRelu(node.operand(0), alpha=node.number("alpha", 0.01))


def _hard_sigmoid(node: Node) -> MLOperand:
    """Map to hardSigmoid."""
    return node.builder.hardSigmoid(node.operand(0), alpha=node.number("alpha", 0.2), beta=node.number("beta", 0.5))


def _gelu(node: Node) -> MLOperand:
    """Map to gelu. The approximation, 0.5 * x * (1 + tanh(u)), is x * sigmoid(2 * u): the sum has no digits below x = -3 in float16."""
    builder = node.builder
    x = node.operand(0)
    if node.choice("approximate", "none", ("none", "tanh")) == "none":
        return builder.gelu(x)
    twice = 2 * math.sqrt(2 / math.pi)
    square = builder.mul(node.scalar(0.044715 * twice, x), builder.mul(x, x))
    return builder.mul(x, builder.sigmoid(builder.mul(x, builder.add(square, node.scalar(twice, x)))))


def _swish(node: Node) -> MLOperand:
    """Compute x * sigmoid(alpha * x)."""
    x = node.operand(0)
    alpha = node.number("alpha", 1.0)
    scaled = x if alpha == 1 else node.builder.mul(x, node.scalar(alpha, x))
    return node.builder.mul(x, node.builder.sigmoid(scaled))


def _is_inf(node: Node) -> MLOperand:
    """Map to isInfinite, and compare with 0 if only one sign counts."""
    builder = node.builder
    x = node.operand(0)
    found = builder.isInfinite(x)
    positive, negative = node.integer("detect_positive", 1), node.integer("detect_negative", 1)
    if positive and negative:
        return found
    if not positive and not negative:
        return builder.logicalAnd(found, node.scalar(0, "uint8"))
    side = builder.greater(x, node.scalar(0, x)) if positive else builder.lesser(x, node.scalar(0, x))
    return builder.logicalAnd(found, side)


def _dropout(node: Node) -> list[Result]:
    """Pass the input on. Refused in training mode."""
    if node.given(2) and bool(node.known(2, "training_mode").any()):
        raise Refused("training mode is not supported", "export the model for inference")
    shape = node.value(0).shape
    if not any(node.outputs[1:]):
        return [node.value(0)]
    if have_names(shape):
        return [node.value(0), node.boolean(node.builder.expand(node.constant(np.ones((), np.bool_)), list(shape)))]
    return [node.value(0), make_uniform(shape, np.dtype(np.bool_), True)]


RULES: Mapping[str, Callable[[Node], Result | list[Result]]] = {
    "Abs": _abs,
    "Add": _binary("add"),
    "And": _connective("logicalAnd", decides=False),
    "Cast": _cast,
    "CastLike": _cast_like,
    "Celu": _celu,
    "Ceil": _unary("ceil"),
    "Clip": _clip,
    "Cos": _unary("cos"),
    "Div": _binary("div"),
    "Dropout": _dropout,
    "Elu": _elu,
    "Equal": _binary("equal"),
    "Erf": _unary("erf"),
    "Exp": _unary("exp"),
    "Floor": _unary("floor"),
    "Gelu": _gelu,
    "Greater": _binary("greater"),
    "GreaterOrEqual": _binary("greaterOrEqual"),
    "HardSigmoid": _hard_sigmoid,
    "HardSwish": _unary("hardSwish"),
    "Identity": _identity,
    "IsInf": _is_inf,
    "IsNaN": _unary("isNaN"),
    "LeakyRelu": _leaky_relu,
    "Less": _binary("lesser"),
    "LessOrEqual": _binary("lesserOrEqual"),
    "Log": _unary("log"),
    "Max": _variadic("max"),
    "Mean": _mean,
    "Min": _variadic("min"),
    "Mod": _mod,
    "Mul": _binary("mul"),
    "Neg": _unary("neg"),
    "Not": _unary("logicalNot"),
    "Or": _connective("logicalOr", decides=True),
    "PRelu": _binary("prelu"),
    "Pow": _pow,
    "Reciprocal": _unary("reciprocal"),
    "Relu": _unary("relu"),
    "Round": _unary("roundEven"),
    "Selu": _selu,
    "Sigmoid": _unary("sigmoid"),
    "Sign": _sign,
    "Sin": _unary("sin"),
    "Softplus": _unary("softplus"),
    "Softsign": _unary("softsign"),
    "Sqrt": _unary("sqrt"),
    "Sub": _binary("sub"),
    "Sum": _variadic("add"),
    "Swish": _swish,
    "Tan": _unary("tan"),
    "Tanh": _unary("tanh"),
    "Where": _where,
    "Xor": _binary("logicalXor"),
}
