"""`Node`: what a rule sees of an operator, with the numbers that quantized integers mean."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from webnn.builder.graph_builder import LabellingBuilder
from webnn.builder.operand import MLOperand
from webnn.importing.steps import Inputs, Operands, Result, Steps, normalize_axis, value_of
from webnn.importing.values import Array, Refused, Value
from webnn.onnx.borrowing import run_rule
from webnn.tflite.model import Operator, Quantization, Tensor
from webnn.tflite.schema import names_of
from webnn.tflite.variables import Variables
from webnn.validation import webidl

__all__ = ["Node", "Rule", "Rules", "borrow", "dequantize", "find_quantization", "quantize"]

#: An input of a rule of ONNX.
Given: TypeAlias = Value | MLOperand | Array | Sequence[int] | None
#: The integers that `dequantizeLinear` and `quantizeLinear` have.
_TYPES = frozenset({"int4", "int8", "uint8", "int32"})
_ACTIVATIONS: Mapping[str, Callable[[LabellingBuilder, MLOperand], MLOperand]] = {
    "NONE": lambda builder, x: x,
    "RELU": lambda builder, x: builder.relu(x),
    "RELU6": lambda builder, x: builder.clamp(x, minValue=0, maxValue=6),
    "RELU_N1_TO_1": lambda builder, x: builder.clamp(x, minValue=-1, maxValue=1),
    "TANH": lambda builder, x: builder.tanh(x),
}


class Node(Inputs):
    """An operator with its inputs. A rule reads it, calls the methods of its builder, and returns the outputs.

    Inputs of quantized integers are the numbers that these mean, but for rules that only move elements. Results in floating point
    become the integers of a quantized output.

    Attributes:
        operator: The operator.
        given: The tensors of the inputs in the file; None where an optional one is missing.
        outputs: The tensors of the outputs.
        run: Imports a subgraph, by its index, a name and the values of its inputs; of a tentative one faults are raised as `Refused`.
        variables: The variables of the model.
        updates: The new values of inputs that are variables, by their indices.
    """

    def __init__(
        self,
        operands: Operands,
        operator: Operator,
        inputs: Sequence[Value | None],
        tensors: Sequence[Tensor | None],
        outputs: Sequence[Tensor],
        run: Callable[..., list[Value]],
        variables: Variables,
    ) -> None:
        super().__init__(operands, inputs)
        self.operator = operator
        self.tensors = tensors
        self.outputs = outputs
        self.run = run
        self.variables = variables
        self.updates: dict[int, MLOperand] = {}

    # Options.

    def option(self, name: str, default: Any = None) -> Any:
        """Return a field of the options, by the name of its accessor; an operator without options has defaults only."""
        found = self.operator.options.get(name, default)
        if found is None:
            raise Refused(f"the options must have {name}")
        return found

    def flag(self, name: str) -> bool:
        """Return a field that is true or false."""
        return bool(self.option(name, False))

    def integer(self, name: str, least: int, default: int | None = None) -> int:
        """Return a field that must have some value at least."""
        found: int = self.option(name, default)
        if not isinstance(found, int) or found < least:
            raise Refused(f"{name} must be at least {least}, got {webidl.describe(found)}")
        return found

    def axis(self, name: str, rank: int, default: int | None = None) -> int:
        """Return a field that is an axis, counted from the front."""
        return normalize_axis(name, self.option(name, default), rank)

    def known_axis(self, index: int, rank: int, what: str = "the axis") -> int:
        """Return an input that is an axis, which must be known, counted from the front."""
        return normalize_axis(what, self.known_integer(index, what), rank)

    def image(self) -> tuple[int, ...]:
        """Return the shape of the first input, which must have batches, height, width and channels."""
        shape = self.value(0).shape
        if len(shape) != 4:
            raise Refused(f"the input must have 4 dimensions, got {list(shape)}")
        return shape

    def activate(self, x: MLOperand) -> MLOperand:
        """Apply the activation that the options fuse."""
        kind = self.option("FusedActivationFunction", 0)
        activation = names_of("ActivationFunctionType").get(kind, str(kind))
        if activation not in _ACTIVATIONS:
            raise Refused(f"the fused activation {activation} is not supported")
        return _ACTIVATIONS[activation](self.builder, x)

    def rounded(self, index: int, weights: int, *, asymmetric: bool) -> MLOperand:
        """Return an input, rounded as LiteRT does where the weights are quantized and the input is not."""
        x, table = self.tensors[index], self.tensors[weights]
        if x is None or x.type != "FLOAT32" or table is None or table.quantization is None:
            return self.operand(index)
        return _round_input(self, self.operand(index), asymmetric=asymmetric)

    # Rules of ONNX.

    def onnx(
        self,
        operator: str,
        inputs: Sequence[Given] | None = None,
        *,
        outputs: int = 1,
        bodies: Mapping[str, Callable[..., list[Value]]] | None = None,
        **attributes: Any,
    ) -> list[Any]:
        """Return the results of ONNX's rule for an operator, by default of the same inputs; see `webnn.onnx.borrowing`.

        Lists of integers are inputs that are known.
        """
        given = self.inputs if inputs is None else [_value(each) for each in inputs]
        names = [tensor.name for tensor in self.outputs] if outputs == len(self.outputs) else [f"output {each}" for each in range(outputs)]
        return run_rule(self._operands, operator, given, names, attributes, bodies)

    def one(self, operator: str, inputs: Sequence[Given] | None = None, **attributes: Any) -> Value | MLOperand | Array:
        """Return the result of ONNX's rule for an operator with one output."""
        found: Value | MLOperand | Array = self.onnx(operator, inputs, **attributes)[0]
        return found


def _value(given: Given) -> Value | None:
    if given is None or isinstance(given, Value):
        return given
    if isinstance(given, MLOperand):
        return value_of(given)
    return Value.known(given if isinstance(given, np.ndarray) else np.array(given, np.int64))


#: A rule returns the outputs of an operator: one, or a list.
Rule: TypeAlias = Callable[[Node], Result | list[Result]]
#: The rules of a family, by the names of their operators.
Rules: TypeAlias = Mapping[str, Rule]


def borrow(operator: str, **attributes: Any) -> Callable[[Node], Result]:
    """Return the rule of an operator that is as ONNX's of the same inputs; an activation may be fused."""

    def rule(node: Node) -> Result:
        result = node.one(operator, **attributes)
        return node.activate(node.operand_of(result)) if node.option("FusedActivationFunction", 0) else result

    return rule


# Quantized tensors: the numbers that their integers mean, and back.


def find_quantization(tensor: Tensor) -> Quantization | None:
    """Return the quantization of a tensor of integers; refuse one that is not valid."""
    found = tensor.quantization
    if found is None or tensor.dtype.kind not in "iuV":
        return None
    least, most = tensor.limits
    if not (np.isfinite(found.scales) & (found.scales > 0)).all() or not ((found.zeros >= least) & (found.zeros <= most)).all():
        raise Refused(f"scales must be finite and above 0, and zero points from {least} to {most}")
    return found


def dequantize(steps: Steps, value: Value, quantization: Quantization) -> Value:
    """Return the numbers, in float32, that integers mean."""
    scales, zeros = _spread(quantization, value.rank)
    if value.dtype.name in _TYPES:
        operand = steps.operand_of(value)
        result = steps.builder.dequantizeLinear(operand, steps.constant(scales), steps.constant(zeros.astype(value.dtype)))
        return Value(value.name, np.dtype(np.float32), value.shape, operand=result, roots=value.roots)
    if value.array is None:
        raise Refused(f"quantized integers must be of int4, int8, int16, int32 or uint8, or known, got {value.dtype.name}")
    numbers = (value.array.astype(np.float64) - zeros) * scales
    return Value.known(numbers.astype(np.float32), value.name)


def quantize(steps: Steps, x: MLOperand, quantization: Quantization, tensor: Tensor) -> MLOperand:
    """Return the integers of a tensor that mean numbers of any floating-point type."""
    if tensor.dtype.name not in _TYPES:
        raise Refused(f"quantized integers must be of int4, int8, int16, int32 or uint8, got {tensor.type}")
    scales, zeros = _spread(quantization, x.descriptor.rank)
    found = steps.builder.quantizeLinear(steps.cast(x, "float32"), steps.constant(scales), steps.constant(zeros.astype(tensor.dtype)))
    if tensor.type != "INT16":
        return found
    least, most = tensor.limits
    return steps.builder.clamp(found, minValue=least, maxValue=most)


def _spread(quantization: Quantization, rank: int) -> tuple[Array, Array]:
    """Return scales and zero points in a shape that broadcasts."""
    shape = [1] * rank
    if quantization.scales.size > 1:
        shape[quantization.axis] = quantization.scales.size
    return quantization.scales.astype(np.float32).reshape(shape), quantization.zeros.reshape(shape)


def _round_input(steps: Steps, x: MLOperand, *, asymmetric: bool) -> MLOperand:
    """Round numbers to 8 bits by the range of each batch, as LiteRT does before it multiplies them by quantized weights."""
    builder, axes = steps.builder, list(range(1, x.descriptor.rank))
    least, most = (builder.reduceMin(x, axes=axes, keepDimensions=True), builder.reduceMax(x, axes=axes, keepDimensions=True))
    zero, one = steps.scalar(0, x), steps.scalar(1, x)
    if asymmetric:
        least, most = builder.min(least, zero), builder.max(most, zero)
    span = builder.sub(most, least) if asymmetric else builder.max(builder.abs(least), builder.abs(most))
    scale = builder.div(span, steps.scalar(255 if asymmetric else 127, x))
    # Zeros only have no scale.
    scale = builder.where(builder.equal(scale, zero), one, scale)
    rounded = builder.roundEven(builder.div(x, scale))
    if asymmetric:
        low = builder.roundEven(builder.div(least, scale))
        rounded = builder.min(builder.max(rounded, low), builder.add(low, steps.scalar(255, x)))
    return builder.mul(rounded, scale)
