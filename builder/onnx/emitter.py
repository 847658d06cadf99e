"""The emitter: makes ONNX nodes, initializers, casts and transposes, as protobuf messages directly.

The ``onnx.helper`` functions check and copy several times; here each message is made once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from onnx import AttributeProto, GraphProto, TensorProto, ValueInfoProto

from webnn.validation.descriptor import DataType, OperandDescriptor, Shape

if TYPE_CHECKING:
    from webnn.builder.operand import MLOperand, Operator

__all__ = ["BOOL", "ELEMENT_TYPES", "INT64_MAX", "INT64_MIN", "Emitter", "Op", "Translation", "Weight"]

Array = np.ndarray[Any, np.dtype[Any]]
Attribute = int | float | str | Sequence[int] | Sequence[float] | Sequence[str]

#: ONNX element types by NumPy's name; WebNN's data types are a part of them.
ELEMENT_TYPES: Mapping[str, int] = MappingProxyType(
    {
        "float32": TensorProto.FLOAT,
        "float16": TensorProto.FLOAT16,
        "float64": TensorProto.DOUBLE,
        "int32": TensorProto.INT32,
        "uint32": TensorProto.UINT32,
        "int64": TensorProto.INT64,
        "uint64": TensorProto.UINT64,
        "int8": TensorProto.INT8,
        "uint8": TensorProto.UINT8,
        "bool": TensorProto.BOOL,
    }
)
BOOL = "bool"
INT64_MAX = 2**63 - 1
INT64_MIN = -(2**63)

#: Constants below this size stay inside the model: shape inference cannot read external ones.
INLINE_BYTES = 128


@dataclass(frozen=True, slots=True)
class Weight:
    """A constant whose bytes the engine uses in place.

    Attributes:
        location: The name of the in-memory file that the model refers to.
        data: The array, C-contiguous; it must live as long as the session.
    """

    location: str
    data: Array


class Op:
    """One operator, as its translation sees it: ONNX value names in place of operands, types after `Translation.carry`.

    Attributes:
        name: The operation's name.
        inputs: The ONNX value of each operand argument and of each option member that was given (``"input"``, ``"bias"``);
            for a variadic operation ``"inputs[0]"`` and so on.
        operands: The operands themselves, by the same names.
        outputs: The outputs' types and shapes.
        options: The converted options; ``None`` if the operation has none.
        carried: For each operand that is carried by another type, that type.
    """

    __slots__ = ("_operator", "carried", "inputs", "name", "operands", "options", "outputs")

    def __init__(
        self,
        operator: Operator,
        operands: dict[str, MLOperand],
        inputs: dict[str, str],
        outputs: tuple[OperandDescriptor, ...],
        carried: Mapping[str, DataType],
    ) -> None:
        self.name = operator.operation.name
        self.inputs = inputs
        self.operands = operands
        self.outputs = outputs
        self.options: Any = operator.options
        self.carried = carried
        self._operator = operator

    def __getitem__(self, argument: str) -> str:
        """Return the ONNX value of an operand that must be there."""
        return self.inputs[argument]

    def get(self, member: str) -> str | None:
        """Return the ONNX value of an optional operand, ``None`` if it was not given."""
        return self.inputs.get(member)

    def shape(self, argument: str) -> Shape:
        """Return the shape of an operand."""
        return self.operands[argument]._descriptor.dimensions

    def type(self, argument: str) -> DataType:
        """Return the data type in which an operand is computed."""
        carrier = self.carried.get(argument)
        return self.operands[argument]._descriptor.dataType if carrier is None else carrier

    @property
    def label(self) -> str:
        """The operator's label, empty if it has none."""
        return self._operator.label

    @property
    def descriptors(self) -> dict[str, OperandDescriptor]:
        """The operands' types, as computed, and shapes, by the names of `inputs`."""
        return {name: OperandDescriptor(self.type(name), self.shape(name)) for name in self.operands}

    @property
    def arguments(self) -> dict[str, Any]:
        """The positional arguments that are no operands, converted, by name."""
        operator = self._operator
        return {argument.name: value for argument, value in zip(operator.operation.arguments, operator.arguments, strict=True)}

    @property
    def constants(self) -> dict[str, Array]:
        """The values of those operands that are constants, in their own types, by the names of `inputs`."""
        return {name: operand._value for name, operand in self.operands.items() if operand._value is not None}


#: Emits an operator; returns the ONNX value of its output, or of each of its outputs.
Emit = Callable[["Emitter", Op], "str | Sequence[str]"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Translation:
    """How one operation becomes ONNX nodes.

    Attributes:
        emit: The function that emits the nodes.
        carry: Data types that the engine has no (right) kernel for, with the type that carries them: every operand of the primary
            operand's type is cast to the carrier before, every output of it is cast back after. Rounding float16 happens here.
        primary: The operand whose data type is looked up; the first one if empty.
        fixed: Operands that are never cast (indices, conditions).
    """

    emit: Emit
    carry: Mapping[DataType, DataType] = field(default_factory=dict)
    primary: str = ""
    fixed: tuple[str, ...] = ()


class Emitter:
    """Collects the parts of an ONNX graph."""

    def __init__(self) -> None:
        self.graph = GraphProto(name="webnn")
        self.weights: list[Weight] = []
        self._scope = "graph"
        self._count = 0
        self._literals: dict[tuple[str, Shape, bytes], str] = {}

    def scope(self, name: str) -> None:
        """Begin an operator: the names of its nodes and values start with this."""
        self._scope = name
        self._count = 0

    def node(self, op_type: str, inputs: Sequence[str | None], **attributes: Attribute) -> str:
        """Add a node with one output.

        Args:
            op_type: The ONNX operator.
            inputs: The values it takes; ``None`` or an empty string leaves an optional one out.
            attributes: Its attributes.

        Returns:
            The value that it makes.
        """
        return self.nodes(op_type, inputs, 1, **attributes)[0]

    def nodes(
        self,
        op_type: str,
        inputs: Sequence[str | None],
        outputs: int | Sequence[bool],
        **attributes: Attribute,
    ) -> list[str]:
        """Add a node with several outputs.

        Args:
            op_type: The ONNX operator.
            inputs: The values it takes.
            outputs: How many values it makes, or for each one if it is wanted.
            attributes: Its attributes.

        Returns:
            The values; an empty string for one that is not wanted.
        """
        name = f"{self._scope}.{self._count}"
        self._count += 1
        if isinstance(outputs, int):
            names = [name] if outputs == 1 else [f"{name}:{index}" for index in range(outputs)]
        else:
            names = [f"{name}:{index}" if wanted else "" for index, wanted in enumerate(outputs)]
        values = [value or "" for value in inputs]
        # Some kernels crash on an optional input that is there but empty.
        while values and not values[-1]:
            values.pop()
        node = self.graph.node.add(op_type=op_type, name=name, input=values, output=names)
        for key, value in attributes.items():
            _set(node.attribute.add(name=key), value)
        return names

    def literal(self, array: Array) -> str:
        """Return an initializer inside the model; equal ones are shared."""
        array = np.ascontiguousarray(array).reshape(array.shape)
        data = array.tobytes()
        key = array.dtype.name, array.shape, data
        name = self._literals.get(key)
        if name is None:
            name = self._literals[key] = f"literal.{len(self._literals)}"
            self.graph.initializer.add(name=name, data_type=ELEMENT_TYPES[array.dtype.name], dims=array.shape, raw_data=data)
        return name

    def scalar(self, value: float, dtype: str) -> str:
        """Return a 0-D initializer of a type."""
        return self.literal(np.array(value, dtype))

    def ints(self, values: Sequence[int]) -> str:
        """Return a 1-D int64 initializer: axes, shapes, pads."""
        return self.literal(np.array(values, np.int64))

    def weight(self, name: str, value: Array) -> str:
        """Add a constant operand: a large one by reference, in place, a small one by value.

        Args:
            name: The name of the initializer, unique in the graph.
            value: The array, C-contiguous. The caller keeps it alive as long as the session.
        """
        data_type = ELEMENT_TYPES[value.dtype.name]
        if value.nbytes < INLINE_BYTES:
            self.graph.initializer.add(name=name, data_type=data_type, dims=value.shape, raw_data=value.tobytes())
            return name
        tensor = self.graph.initializer.add(name=name, data_type=data_type, dims=value.shape, data_location=TensorProto.EXTERNAL)
        for key, text in (("location", name), ("offset", "0"), ("length", str(value.nbytes))):
            tensor.external_data.add(key=key, value=text)
        self.weights.append(Weight(name, value))
        return name

    def cast(self, value: str, dtype: str) -> str:
        """Cast a value to a type of `ELEMENT_TYPES`, as ONNX Runtime casts."""
        return self.node("Cast", [value], to=ELEMENT_TYPES[dtype])

    def transpose(self, value: str, permutation: Sequence[int]) -> str:
        """Permute the dimensions of a value; the identity permutation emits nothing."""
        if list(permutation) == sorted(permutation):
            return value
        return self.node("Transpose", [value], perm=list(permutation))

    def reshape(self, value: str, shape: Sequence[int]) -> str:
        """Give a value another shape of as many elements."""
        return self.node("Reshape", [value, self.ints(shape)])

    def from_layout(self, value: str, layout: str) -> str:
        """Bring a 4-D value to "nchw". ONNX Runtime's optimizer cancels the transposes between neighbours."""
        return self.node("Transpose", [value], perm=[0, 3, 1, 2]) if layout == "nhwc" else value

    def to_layout(self, value: str, layout: str) -> str:
        """Bring a 4-D value in "nchw" to a layout."""
        return self.node("Transpose", [value], perm=[0, 2, 3, 1]) if layout == "nhwc" else value

    def declare_input(self, name: str, descriptor: OperandDescriptor) -> str:
        """Declare an input of the graph."""
        _declare(self.graph.input.add(name=name), descriptor)
        return name

    def declare_output(self, name: str, descriptor: OperandDescriptor) -> None:
        """Declare an output of the graph."""
        _declare(self.graph.output.add(name=name), descriptor)


def _declare(info: ValueInfoProto, descriptor: OperandDescriptor) -> None:
    tensor = info.type.tensor_type
    tensor.elem_type = ELEMENT_TYPES[descriptor.dataType]
    # A scalar has a shape too: an empty one.
    tensor.shape.SetInParent()
    for size in descriptor.dimensions:
        tensor.shape.dim.add(dim_value=size)


def _set(attribute: AttributeProto, value: Attribute) -> None:
    if isinstance(value, int):
        attribute.type, attribute.i = AttributeProto.INT, value
    elif isinstance(value, float):
        attribute.type, attribute.f = AttributeProto.FLOAT, value
    elif isinstance(value, str):
        attribute.type, attribute.s = AttributeProto.STRING, value.encode()
    else:
        _set_list(attribute, list(value))


def _set_list(attribute: AttributeProto, values: list[Any]) -> None:
    if all(isinstance(element, int) for element in values):
        attribute.type = AttributeProto.INTS
        attribute.ints.extend(values)
    elif all(isinstance(element, str) for element in values):
        attribute.type = AttributeProto.STRINGS
        attribute.strings.extend(element.encode() for element in values)
    else:
        attribute.type = AttributeProto.FLOATS
        attribute.floats.extend(values)
