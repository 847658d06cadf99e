"""Activation functions and their kin: operations that keep their input's descriptor."""

from __future__ import annotations

from collections.abc import Callable

from webnn.validation import webidl
from webnn.validation.descriptor import OperandDescriptor, Shape
from webnn.validation.dictionary import Dictionary, Float
from webnn.validation.operation import Argument, Call, Operation
from webnn.validation.shapes import unidirectionally_broadcast

__all__ = [
    "OPERATIONS",
    "ClampOptions",
    "EluOptions",
    "HardSigmoidOptions",
    "LeakyReluOptions",
    "LinearOptions",
    "clamp",
    "prelu",
    "same_as_input",
    "softmax",
]


class ClampOptions(Dictionary):
    """``MLClampOptions``, `#dictdef-mlclampoptions`."""

    minValue: Float | None = None
    maxValue: Float | None = None


class EluOptions(Dictionary):
    """``MLEluOptions``, `#dictdef-mleluoptions`."""

    alpha: Float = 1.0


class HardSigmoidOptions(Dictionary):
    """``MLHardSigmoidOptions``, `#dictdef-mlhardsigmoidoptions`."""

    alpha: Float = 0.2
    beta: Float = 0.5


class LeakyReluOptions(Dictionary):
    """``MLLeakyReluOptions``, `#dictdef-mlleakyreluoptions`."""

    alpha: Float = 0.01


class LinearOptions(Dictionary):
    """``MLLinearOptions``, `#dictdef-mllinearoptions`."""

    alpha: Float = 1.0
    beta: Float = 0.0


def same_as_input(call: Call, input: OperandDescriptor, options: object = None) -> OperandDescriptor:
    """Validate an operation of one operand whose only step is the check of its data type."""
    # [2; 2026-06: 3] The input's data type is one of those that the operation allows.
    call.check_type("input", input)
    return input


def clamp(call: Call, input: OperandDescriptor, options: ClampOptions) -> OperandDescriptor:
    """Validate ``clamp``, `#api-mlgraphbuilder-clamp`."""
    # [2; 2026-06: 7] If both bounds are given, the lower one is not above the upper one. (Since 2026-06 they are cast to the input's type
    # before, and a missing one is compared as the wrong infinity: see docs/spec-issues.md.)
    if options.minValue is not None and options.maxValue is not None and options.minValue > options.maxValue:
        raise call.error("options.minValue", f"must not be greater than options.maxValue, {options.maxValue}", options.minValue)
    return input


def prelu(
    call: Call,
    input: OperandDescriptor,
    slope: OperandDescriptor,
    broadcast: Callable[[Shape, Shape], Shape | None] = unidirectionally_broadcast,
) -> OperandDescriptor:
    """Validate ``prelu``, `#api-mlgraphbuilder-prelu`. Until 2024-06 the slope is stretched to the input's shape, later both are."""
    # [2; 2026-06: 3] The input is of a signed type.
    call.check_type("input", input)
    # [3] The slope has the input's type.
    call.check_same_type("slope", slope, "input", input)
    # [6.1; 2026-06: 4.1] The shapes broadcast.
    dimensions = broadcast(slope.dimensions, input.dimensions)
    if dimensions is None:
        raise call.error(
            "slope", f"must broadcast to the shape of input, {list(input.dimensions)}", list(slope.dimensions), rule="broadcast"
        )
    return call.output(input.dataType, dimensions)


def softmax(call: Call, input: OperandDescriptor, axis: int) -> OperandDescriptor:
    """Validate ``softmax``, `#api-mlgraphbuilder-softmax-method`."""
    # [2; 2026-06: 3] The input is of a floating-point type.
    call.check_type("input", input)
    # [3; 2026-06: 4] The input has that axis.
    if axis >= input.rank:
        raise call.error("axis", f"must be below the rank of input, {input.rank}", axis, rule="axis")
    return input


#: Each activation function: its name, the anchor of its section, the model of its options.
_ACTIVATIONS: tuple[tuple[str, str, type[Dictionary] | None], ...] = (
    ("elu", "#api-mlgraphbuilder-elu", EluOptions),
    ("gelu", "#api-mlgraphbuilder-gelu-method", None),
    ("hardSigmoid", "#api-mlgraphbuilder-hard-sigmoid", HardSigmoidOptions),
    ("hardSwish", "#api-mlgraphbuilder-hard-swish", None),
    ("leakyRelu", "#api-mlgraphbuilder-leakyrelu", LeakyReluOptions),
    ("linear", "#api-mlgraphbuilder-linear", LinearOptions),
    ("relu", "#api-mlgraphbuilder-relu-method", None),
    ("sigmoid", "#api-mlgraphbuilder-sigmoid-method", None),
    ("softplus", "#api-mlgraphbuilder-softplus-method", None),
    ("softsign", "#api-mlgraphbuilder-softsign-method", None),
    ("tanh", "#api-mlgraphbuilder-tanh-method", None),
)

OPERATIONS = (
    *(
        Operation(name=name, anchor=anchor, operands=("input",), infer=same_as_input, options=options, activation=True)
        for name, anchor, options in _ACTIVATIONS
    ),
    Operation(name="clamp", anchor="#api-mlgraphbuilder-clamp", operands=("input",), infer=clamp, options=ClampOptions),
    Operation(name="prelu", anchor="#api-mlgraphbuilder-prelu", operands=("input", "slope"), infer=prelu),
    Operation(
        name="softmax",
        anchor="#api-mlgraphbuilder-softmax-method",
        operands=("input",),
        arguments=(Argument("axis", webidl.unsignedLong),),
        infer=softmax,
    ),
)
