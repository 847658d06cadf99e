"""`Node`: what a rule sees of an operator."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from webnn.builder.operand import MLOperand
from webnn.builder.sketch import LabellingBuilder
from webnn.importing.steps import Inputs, Operands, Result, normalize_axis, value_of
from webnn.importing.values import Array, Refused, Value
from webnn.onnx.borrowing import run_rule
from webnn.tflite.model import Operator, Tensor
from webnn.tflite.quantization import round_input
from webnn.tflite.schema import names_of
from webnn.tflite.variables import Variables
from webnn.validation import webidl

__all__ = ["Node", "Rule", "Rules", "borrow"]

#: An input of a rule of ONNX.
Given: TypeAlias = Value | MLOperand | Array | Sequence[int] | None
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

    def known_integer(self, index: int, what: str) -> int:
        """Return an input of one integer that must be known."""
        found = self.known_integers(index, what)
        if len(found) != 1:
            raise Refused(f"{what} must be one number, got {webidl.describe(found)}")
        return found[0]

    def activate(self, x: MLOperand, name: str = "FusedActivationFunction") -> MLOperand:
        """Apply the activation that the options fuse."""
        kind = self.option(name, 0)
        activation = names_of("ActivationFunctionType").get(kind, str(kind))
        if activation not in _ACTIVATIONS:
            raise Refused(f"the fused activation {activation} is not supported")
        return _ACTIVATIONS[activation](self.builder, x)

    def rounded(self, index: int, weights: int, *, asymmetric: bool) -> MLOperand:
        """Return an input, rounded as LiteRT does where the weights are quantized and the input is not."""
        x, table = self.tensors[index], self.tensors[weights]
        if x is None or x.type != "FLOAT32" or table is None or table.quantization is None:
            return self.operand(index)
        return round_input(self, self.operand(index), asymmetric=asymmetric)

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

    def one(self, operator: str, inputs: Sequence[Given] | None = None, **attributes: Any) -> Result:
        """Return the result of ONNX's rule for an operator with one output."""
        found: Result = self.onnx(operator, inputs, **attributes)[0]
        return found

    def operand_from(self, result: Result) -> MLOperand:
        """Return the operand of a rule's result."""
        if isinstance(result, MLOperand):
            return result
        assert result is not None
        return self.operand_of(Value.known(result) if isinstance(result, np.ndarray) else result)


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
        return node.activate(node.operand_from(result)) if node.option("FusedActivationFunction", 0) else result

    rule.__doc__ = f"Map as ONNX's {operator}."
    return rule
