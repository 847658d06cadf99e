"""Dynamic quantization: operators that the engine has one node for.

The scale and the zero point of such a quantization come from the least and the greatest number of the input. The engine's
`DynamicQuantizeLinear` computes them and the integers with the bits of the single operators, whether these are needed elsewhere or not, as
long as no number is NaN. It drops a NaN, depending on where it lies; so exact numerics repair the scale. The zero point and
the integers are unspecified then.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from webnn.builder.graph import ComputationalGraph
from webnn.builder.onnx.emitter import Emitter
from webnn.builder.onnx.together import Setting, find_maker
from webnn.builder.onnx_names import scope
from webnn.builder.operand import MLOperand, Operator

__all__ = ["DynamicQuantization", "find_dynamic"]


@dataclass(frozen=True, slots=True, kw_only=True)
class DynamicQuantization:
    """Operators that make one node.

    Attributes:
        input: The numbers, float32.
        scale: The operator that computes the scale, the first of the three.
        zeroPoint: The operator that computes the zero point.
        quantized: The operator that computes the integers.
    """

    input: MLOperand
    scale: Operator
    zeroPoint: Operator
    quantized: Operator

    @property
    def members(self) -> tuple[int, int, int]:
        """The numbers of the operators."""
        return self.scale.index, self.zeroPoint.index, self.quantized.index

    @property
    def operands(self) -> tuple[MLOperand]:
        """The operand of the node."""
        return (self.input,)

    def emit(self, e: Emitter, inputs: Sequence[str]) -> dict[int, Sequence[str]]:
        """Emit the node; return the values of the operators' results, by the operators' numbers."""
        e.scope(scope(self.quantized.operation.name, self.quantized.index))
        view = e.view(inputs[0], len(self.input.descriptor.dimensions))
        quantized, scale, zeroPoint = e.nodes("DynamicQuantizeLinear", [view.source], 3)
        if e.numerics == "exact":
            # The sum of the magnitudes is NaN exactly if one of them is. Anything else lies on the scale once both limits are the scale.
            total = e.node("ReduceL1", [view.source], keepdims=0)
            scale = e.node("Clip", [total, scale, scale])
        results = [scale], [zeroPoint], [e.transpose(quantized, view.permutation)]
        return dict(zip(self.members, results, strict=True))


def find_dynamic(graph: ComputationalGraph, setting: Setting) -> dict[int, DynamicQuantization]:
    """Find the dynamic quantizations of a graph, each by the number of the first one of its three operators. They need no setting."""
    found = [_match(operator) for operator in graph.operators if operator.operation.name == "quantizeLinear"]
    return {each.scale.index: each for each in found if each is not None}


def _match(quantized: Operator) -> DynamicQuantization | None:
    """Compare the operators before a quantization with what `DynamicQuantizeLinear` computes."""
    input, scale, zero = quantized.inputs
    if input.descriptor.dataType != "float32" or quantized.outputs[0].dataType != "uint8":
        return None
    scaleMaker, zeroMaker = find_maker(_unreshaped(scale), "where"), find_maker(_unreshaped(zero), "quantizeLinear")
    if scaleMaker is None or zeroMaker is None or scaleMaker.outputs[0].dimensions or zeroMaker.outputs[0].dimensions:
        return None
    isEmpty, one, quotient = (find_maker(scaleMaker.inputs[0], "equal"), scaleMaker.inputs[1], find_maker(scaleMaker.inputs[2], "div"))
    below, innerScale, nothing = zeroMaker.inputs
    if isEmpty is None or quotient is None or innerScale._operator is not scaleMaker:
        return None
    span = find_maker(isEmpty.inputs[0], "add")
    numbers = [(one, 1), (isEmpty.inputs[1], 0), (quotient.inputs[1], 255), (nothing, 0)]
    if span is None or quotient.inputs[0]._operator is not span or not all(_is_number(*each) for each in numbers):
        return None
    above, same = span.inputs
    if same._operator is not below._operator or not _is_reach(above, input, "reduceMax") or not _is_reach(below, input, "reduceMin"):
        return None
    return DynamicQuantization(input=input, scale=scaleMaker, zeroPoint=zeroMaker, quantized=quantized)


def _unreshaped(operand: MLOperand) -> MLOperand:
    reshape = find_maker(operand, "reshape")
    return operand if reshape is None else reshape.inputs[0]


def _is_number(operand: MLOperand, number: int) -> bool:
    """Tell whether an operand is a scalar constant of a value."""
    return operand._value is not None and not operand.descriptor.dimensions and operand._value.item() == number


def _is_reach(operand: MLOperand, input: MLOperand, operation: str) -> bool:
    """Tell whether an operand is how far an input goes above 0, or below for ``"reduceMin"``."""
    relu = find_maker(operand, "relu")
    if relu is None:
        return False
    extreme = relu.inputs[0]
    if operation == "reduceMin":
        negated = find_maker(extreme, "neg")
        if negated is None:
            return False
        extreme = negated.inputs[0]
    reduction = find_maker(extreme, operation)
    if reduction is None or reduction.inputs[0] is not input:
        return False
    return math.prod(reduction.outputs[0].dimensions) == 1
