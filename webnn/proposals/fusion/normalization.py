"""Normalization: by the root of the mean square, or by mean and variance.

A sum before it, of a skip connection, is computed as usual. The engine's kernels for both, SkipSimplifiedLayerNormalization and
SkipLayerNormalization, were measured, and are slower (docs/proposals/subgraphs.md).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from webnn.builder.operand import MLOperand, Operator
from webnn.proposals.fusion.body import Body, Kernel, OtherBodyError, orders, require, same, shape_of
from webnn.validation.numbers import cast

if TYPE_CHECKING:
    from webnn.builder.onnx.emitter import Emitter

__all__ = ["match_mean_and_variance", "match_root_mean_square"]


def match_root_mean_square(body: Body) -> list[Kernel]:
    """Return the kernel of x / sqrt(mean of squares + epsilon) * weight."""
    found = _find_quotient(body, body.single("reduceMean"))
    weight, last = _find_factor(body, found)
    return [_make_kernel("SimplifiedLayerNormalization", found, found.x, last, weight)]


def match_mean_and_variance(body: Body) -> list[Kernel]:
    """Return the kernel of (x - mean) / sqrt(variance + epsilon) * scale + bias."""
    means = body.all("reduceMean")
    require(len(means) == 2, f"it must have two reduceMean, but has {len(means)}")
    mean, variance = means
    x = mean.inputs[0]
    centred = body.user(mean, "sub")
    if centred is None or not same(centred.inputs[0], x) or centred.inputs[1]._operator is not mean:
        raise OtherBodyError("the first reduceMean must be subtracted from its input")
    found = _find_quotient(body, variance)
    require(found.x._operator is centred, "the second reduceMean must take the square of the difference")
    require(_axes_of(mean) == found.axes, f"both reduceMean must be over the same axes, but are over {_axes_of(mean)} and {found.axes}")
    inside = {each.index for each in found.members}
    users = body.users.of(centred)
    require(all(user is not None and user.index in inside for user in users), "the difference must not be used elsewhere")
    found.members.extend([mean, centred])
    weight, last = _find_factor(body, found)
    bias = None
    added = body.user(last, "add") if weight is not None else None
    if added is not None and added.outputs[0].dimensions == shape_of(x):
        [addend] = [other for one, other in orders(added) if one._operator is last]
        if _has_features(addend, found):
            bias, last = addend, added
            found.members.append(added)
    return [_make_kernel("LayerNormalization", found, x, last, weight, bias)]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Quotient:
    """An operand, divided by the root of its mean square over the last axes, and the operators that do it; the last one divides."""

    x: MLOperand
    axes: list[int]
    epsilon: float
    last: Operator
    members: list[Operator]

    @property
    def features(self) -> tuple[int, ...]:
        """The sizes of the axes."""
        return shape_of(self.x)[self.axes[0] :]


def _axes_of(mean: Operator) -> list[int]:
    options: Any = mean.options
    return sorted(range(len(shape_of(mean.inputs[0]))) if options.axes is None else options.axes)


def _find_quotient(body: Body, mean: Operator) -> _Quotient:
    options: Any = mean.options
    squared = body.maker(mean.inputs[0], "mul", "pow")
    if squared is None or not _is_square(squared):
        raise OtherBodyError("reduceMean must take a square, x * x or pow(x, 2)")
    x, axes = squared.inputs[0], _axes_of(mean)
    require(axes and axes == list(range(axes[0], len(shape_of(x)))), f"reduceMean must be over the last axes, but is over {axes}")
    require(options.keepDimensions, "reduceMean must keep dimensions")
    require(0 not in shape_of(x), "all operands must have elements")
    members = [mean, squared]
    shifted = body.user(mean, "add")
    numbers = [] if shifted is None else [body.number(other, "epsilon") for one, other in orders(shifted) if one._operator is mean]
    epsilon = numbers[0] if numbers else None
    root = None if shifted is None else body.user(shifted, "sqrt")
    if shifted is None or root is None or epsilon is None or not 0 <= cast(epsilon, "float32") < math.inf:
        raise OtherBodyError("behind reduceMean must come an add of a constant number that is not negative, and a sqrt")
    last = _divided(body, x, root, members)
    members += [shifted, root]
    require(last.outputs[0].dimensions == shape_of(x), "the result must have the shape of the input")
    return _Quotient(x=x, axes=axes, epsilon=epsilon, last=last, members=members)


def _has_features(operand: MLOperand, found: _Quotient) -> bool:
    """Tell whether an operand has one element for each feature."""
    shape, features = shape_of(operand), found.features
    return shape[-len(features) :] == features and math.prod(shape) == math.prod(features)


def _find_factor(body: Body, found: _Quotient) -> tuple[MLOperand | None, Operator]:
    """Return what a quotient is multiplied with, if it is one number for each feature, and the last operator."""
    weighted = body.user(found.last, "mul")
    if weighted is None or weighted.outputs[0].dimensions != shape_of(found.x):
        return None, found.last
    [factor] = [other for one, other in orders(weighted) if one._operator is found.last]
    if not _has_features(factor, found):
        return None, found.last
    found.members.append(weighted)
    return factor, weighted


def _make_kernel(
    kernel: str, found: _Quotient, x: MLOperand, last: Operator, weight: MLOperand | None, bias: MLOperand | None = None
) -> Kernel:
    features, given = found.features, [each for each in (weight, bias) if each is not None]

    def make(e: Emitter, inputs: Sequence[str]) -> list[str]:
        ones = [e.node("Expand", [e.scalar(1, "float32"), e.ints(features)])] if weight is None else []
        pairs = zip(given, inputs[1:], strict=True)
        numbers = [value if shape_of(each) == features else e.reshape(value, features) for each, value in pairs]
        return [e.node(kernel, [inputs[0], *ones, *numbers], axis=found.axes[0], epsilon=found.epsilon)]

    inner = tuple([each for each in found.members if each is not last])
    return Kernel(kernel=kernel, results=(last,), inner=inner, operands=(x, *given), make=make)


def _is_square(operator: Operator) -> bool:
    one, other = operator.inputs
    if operator.operation.name == "mul":
        return same(one, other)
    return (
        other._value is not None
        and other._value.size == 1
        and float(other._value.item()) == 2
        and shape_of(one) == operator.outputs[0].dimensions
    )


def _divided(body: Body, x: MLOperand, root: Operator, members: list[Operator]) -> Operator:
    """Find the quotient of x and a root, which may be a product with the reciprocal."""
    divided = body.user(root, "div", "reciprocal")
    if divided is not None and divided.operation.name == "div" and same(divided.inputs[0], x):
        members.append(divided)
        return divided
    if divided is not None and (divided.operation.name == "reciprocal" or body.number(divided.inputs[0], "") == 1):
        product = body.user(divided, "mul")
        if product is not None and any(one._operator is divided and same(other, x) for one, other in orders(product)):
            members += [divided, product]
            return product
    raise OtherBodyError("the input of the square must be divided by the root, or multiplied with its reciprocal")
