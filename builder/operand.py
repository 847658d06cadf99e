"""`MLOperand`, `MLActivation`, and the operator that makes an operand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn, cast

import numpy as np

from webnn.builder.arithmetic import Arithmetic
from webnn.builder.members import DataTypeMember, OperandMethod, ShapeMember
from webnn.validation.descriptor import DataType, OperandDescriptor
from webnn.validation.interfaces import Activation, ActivationBase
from webnn.validation.named_descriptor import UNRANKED
from webnn.validation.operation import Operation, Outputs

if TYPE_CHECKING:
    from webnn.builder.base import BuilderBase
    from webnn.validation.dictionary import Dictionary

__all__ = ["MLActivation", "MLOperand", "Operator"]


@dataclass(slots=True, eq=False)
class Operator:
    """A node of the computational graph. It knows its inputs, and its outputs know it: no reference cycles.

    Attributes:
        index: The number of the operator in its builder; an operator comes after those that make its inputs.
        members: The options' operands that were given, with their names.
        result: The descriptor of the output; a tuple of descriptors for an operation that returns a sequence.
        given: The options as the program gave them, operands and label among them, in a dictionary that the program cannot change.
    """

    operation: Operation
    index: int
    label: str
    inputs: tuple[MLOperand, ...]
    members: tuple[tuple[str, MLOperand], ...]
    arguments: tuple[Any, ...]
    options: Dictionary | None
    result: Outputs
    given: Mapping[str, Any] | None = None

    @property
    def outputs(self) -> tuple[OperandDescriptor, ...]:
        """The outputs' descriptors. One that is alone is kept without a tuple, which would be one more object for the garbage collector."""
        result = self.result
        return (result,) if isinstance(result, OperandDescriptor) else result

    @property
    def named_arguments(self) -> dict[str, Any]:
        """The positional arguments other than operands, converted, by name."""
        names = self.operation.arguments
        return {argument.name: value for argument, value in zip(names, self.arguments, strict=True)} if names else {}

    def does_same(self, other: Operator) -> bool:
        """Tell whether another operator does the same with its operands, of whose types and shapes only the result tells."""
        return (
            self.operation is other.operation
            and (self.result is other.result or self.result == other.result)
            and self.arguments == other.arguments
            and (self.options is other.options or self.options == other.options)
        )


class MLOperand(Arithmetic):
    """An edge of the graph that is being built: an input, a constant, or what an operator returns. `#api-mloperand`.

    Operands are made by the methods of `MLGraphBuilder`.
    """

    __slots__ = ("__weakref__", "_builder", "_name", "_operator", "_position", "_value")

    _builder: BuilderBase
    _name: str | None
    _operator: Operator | None
    _position: int
    _value: np.ndarray[Any, np.dtype[Any]] | None

    def __init__(self, *_: object, **__: object) -> None:
        raise TypeError("MLOperand: illegal constructor; operands are made by the methods of MLGraphBuilder")

    @classmethod
    def _create(
        cls,
        builder: BuilderBase,
        descriptor: OperandDescriptor,
        operator: Operator | None = None,
        position: int = 0,
        *,
        name: str | None = None,
        value: np.ndarray[Any, np.dtype[Any]] | None = None,
    ) -> MLOperand:
        """*Create an MLOperand*, `#api-mloperand-create`."""
        operand = object.__new__(cls)
        operand._builder = builder
        operand.descriptor = descriptor
        operand._operator = operator
        operand._position = position
        operand._name = name
        operand._value = value
        return operand

    @property
    def dataType(self) -> DataTypeMember:
        """The operand's data type, for example ``"float32"``. `#mloperand-datatype`.

        Until 2024-06 this is a method, ``operand.dataType()``. `#api-mloperand-datatype`.
        """
        if self._builder._revision.attributes:
            return DataTypeMember(self.descriptor.dataType)
        return cast(DataTypeMember, OperandMethod("dataType", self._getDataType))

    @property
    def shape(self) -> ShapeMember:
        """The operand's shape, a tuple, empty for a scalar. `#mloperand-shape`.

        Until 2024-06 this is a method, ``operand.shape()``, which returns a new list. `#api-mloperand-shape`.
        """
        if self._builder._revision.attributes:
            dimensions = self.descriptor.dimensions
            return cast(ShapeMember, None) if dimensions is UNRANKED else ShapeMember(dimensions)
        return cast(ShapeMember, OperandMethod("shape", self._getShape))

    def _getDataType(self) -> DataType:
        return self.descriptor.dataType

    def _getShape(self) -> list[int]:
        return list(self.descriptor.dimensions)

    def __reduce__(self) -> NoReturn:
        raise TypeError("MLOperand cannot be pickled: pickle webnn.describe(outputs), which has the graph up to some operands")

    def __repr__(self) -> str:
        if self._name is not None:
            origin = f"input {self._name!r}"
        elif self._operator is not None:
            origin = f"output {self._position} of {self._operator.operation.name}"
        else:
            origin = "constant"
        return f"<MLOperand {self.descriptor}: {origin}>"

    def _repr_html_(self) -> str:
        from webnn.display.table import facts  # noqa: PLC0415 (only notebooks need it)

        operator = self._operator
        values = {"input": self._name or "", "type": self.descriptor.dataType, "shape": str(list(self.descriptor.dimensions))}
        if operator is None:
            values["bytes"] = "" if self._value is None else f"{self.descriptor.byte_length:,}"
        else:
            values |= {"operator": f"{operator.operation.name} (number {operator.index})", "label": operator.label}
            values["operands"] = ", ".join([str(operand.descriptor) for operand in operator.inputs])
        return facts("MLOperand" if self._value is None else "MLOperand, a constant", values)


class MLActivation(ActivationBase):
    """An activation function for ``gru``, ``lstm`` and their cells. `#api-mlactivation`.

    Activations are made by the methods of `MLGraphBuilder` when they are called without an input: ``builder.relu()``.
    """

    __slots__ = ("__weakref__",)

    def __init__(self, *_: object, **__: object) -> None:
        raise TypeError("MLActivation: illegal constructor; activations are made by the methods of MLGraphBuilder")

    @classmethod
    def _create(cls, activation: Activation) -> MLActivation:
        """*Create an MLActivation*, `#api-mlactivation-create`."""
        result = object.__new__(cls)
        result._activation = activation
        return result

    def __repr__(self) -> str:
        parameters = ", ".join(f"{name}={value}" for name, value in self._activation.parameters.items())
        return f"<MLActivation {self._activation.name}({parameters})>"
