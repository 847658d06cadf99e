"""Dynamic quantization: operators that the engine has one node for.

The scale and the zero point of such a quantization come from the least and the greatest number of the input. The engine's
`DynamicQuantizeLinear` computes them and the integers with the bits of the single operators, whether these are needed elsewhere or not, as
long as no number is NaN. It drops a NaN, depending on where it lies; so the scale is repaired. What becomes of the zero point and the
integers then is unspecified anyway.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from webnn.builder.graph import ComputationalGraph
from webnn.builder.onnx.emitter import Emitter
from webnn.builder.onnx_names import scope
from webnn.builder.operand import MLOperand, Operator

__all__ = ["DynamicQuantization", "find_dynamic", "find_needed"]


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

    def emit(self, e: Emitter, input: str) -> dict[int, Sequence[str]]:
        """Emit the node; return the values of the operators' results, by the operators' numbers."""
        e.scope(scope(self.quantized.operation.name, self.quantized.index))
        view = e.view(input, len(self.input._descriptor.dimensions))
        quantized, scale, zeroPoint = e.nodes("DynamicQuantizeLinear", [view.source], 3)
        # The sum of the magnitudes is NaN exactly if one of them is. Anything else lies on the scale once both limits are the scale.
        total = e.node("ReduceL1", [view.source], keepdims=0)
        repaired = e.node("Clip", [total, scale, scale])
        results = [repaired], [zeroPoint], [e.transpose(quantized, view.permutation)]
        return dict(zip(self.members, results, strict=True))


def find_dynamic(graph: ComputationalGraph) -> dict[int, DynamicQuantization]:
    """Find the dynamic quantizations of a graph, each by the number of the first one of its three operators."""
    found = [_match(operator) for operator in graph.operators if operator.operation.name == "quantizeLinear"]
    return {each.scale.index: each for each in found if each is not None}


def find_needed(graph: ComputationalGraph, dynamic: Mapping[int, DynamicQuantization]) -> set[int]:
    """Return the numbers of the operators that are left to translate; where there is one node for several, the first one of them."""
    firsts = {member: each for each in dynamic.values() for member in each.members}
    needed = {operand._operator.index for operand in graph.outputs.values() if operand._operator is not None}
    for operator in reversed(graph.operators):
        if operator.index not in needed:
            continue
        one = firsts.get(operator.index)
        operands = [*operator.inputs, *(member for _, member in operator.members)] if one is None else [one.input]
        needed.update(operand._operator.index for operand in operands if operand._operator is not None)
        if one is not None:
            needed.discard(operator.index)
            needed.add(one.scale.index)
    return needed


def _match(quantized: Operator) -> DynamicQuantization | None:
    """Compare the operators before a quantization with what `DynamicQuantizeLinear` computes."""
    input, scale, zero = quantized.inputs
    if input._descriptor.dataType != "float32" or quantized.outputs[0].dataType != "uint8":
        return None
    scaleMaker, zeroMaker = _maker(_unreshaped(scale), "where"), _maker(_unreshaped(zero), "quantizeLinear")
    if scaleMaker is None or zeroMaker is None or scaleMaker.outputs[0].dimensions or zeroMaker.outputs[0].dimensions:
        return None
    isEmpty, one, quotient = (_maker(scaleMaker.inputs[0], "equal"), scaleMaker.inputs[1], _maker(scaleMaker.inputs[2], "div"))
    below, innerScale, nothing = zeroMaker.inputs
    if isEmpty is None or quotient is None or innerScale._operator is not scaleMaker:
        return None
    span = _maker(isEmpty.inputs[0], "add")
    numbers = [(one, 1), (isEmpty.inputs[1], 0), (quotient.inputs[1], 255), (nothing, 0)]
    if span is None or quotient.inputs[0]._operator is not span or not all(_is_number(*each) for each in numbers):
        return None
    above, same = span.inputs
    if same._operator is not below._operator or not _is_reach(above, input, "reduceMax") or not _is_reach(below, input, "reduceMin"):
        return None
    return DynamicQuantization(input=input, scale=scaleMaker, zeroPoint=zeroMaker, quantized=quantized)


def _maker(operand: MLOperand, operation: str) -> Operator | None:
    """Return the operator that makes an operand, if it is of an operation."""
    operator = operand._operator
    return operator if operator is not None and operator.operation.name == operation else None


def _unreshaped(operand: MLOperand) -> MLOperand:
    reshape = _maker(operand, "reshape")
    return operand if reshape is None else reshape.inputs[0]


def _is_number(operand: MLOperand, number: int) -> bool:
    """Tell whether an operand is a scalar constant of a value."""
    return operand._value is not None and not operand._descriptor.dimensions and operand._value.item() == number


def _is_reach(operand: MLOperand, input: MLOperand, operation: str) -> bool:
    """Tell whether an operand is how far an input goes above 0, or below for ``"reduceMin"``."""
    relu = _maker(operand, "relu")
    if relu is None:
        return False
    extreme = relu.inputs[0]
    if operation == "reduceMin":
        negated = _maker(extreme, "neg")
        if negated is None:
            return False
        extreme = negated.inputs[0]
    reduction = _maker(extreme, operation)
    if reduction is None or reduction.inputs[0] is not input:
        return False
    return math.prod(reduction.outputs[0].dimensions) == 1
