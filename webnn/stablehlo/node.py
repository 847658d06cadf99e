"""`Node`: what a rule sees of an operation."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias, TypeVar

import numpy as np

from webnn.builder.operand import MLOperand
from webnn.hlo.attributes import Attribute, ConvDimensionNumbers, DotDimensionNumbers, GatherDimensionNumbers, ScatterDimensionNumbers
from webnn.hlo.ir import Operation, Region
from webnn.hlo.types import Type
from webnn.importing.steps import Operands, Steps
from webnn.importing.values import Array, Blocked, Refused, Value
from webnn.stablehlo.elements import dtype_of, kind_of, shape_of, tensor_type
from webnn.stablehlo.shapes import check_size
from webnn.validation.shapes import bidirectionally_broadcast

__all__ = ["Item", "Node", "Token"]


class Token:
    """A value of type token: it orders effects, and there are none."""


#: A value of the program during the import. Tuples hold items.
Item: TypeAlias = "Value | Token | tuple[Item, ...]"
RunRegion: TypeAlias = "Callable[[Region, Sequence[Item]], list[Item]]"
Call: TypeAlias = "Callable[[str, Sequence[Item]], list[Item]]"

_Kind = TypeVar("_Kind")
#: The most numbers of an attribute.
_MOST_NUMBERS = 1 << 16
#: Structures of integers and tuples of them.
_NUMBERS = frozenset({ConvDimensionNumbers, DotDimensionNumbers, GatherDimensionNumbers, ScatterDimensionNumbers})
#: The root of the stand-ins for results of refused operations.
REFUSED = ""


def _check_members(name: str, found: Any) -> None:
    """Refuse a structure with members that are not integers."""
    for each in dataclasses.fields(found):
        member = getattr(found, each.name)
        numbers = member if isinstance(member, tuple) and each.type != "int" else [member]
        is_number = isinstance(member, int) if each.type == "int" else isinstance(member, tuple)
        if not is_number or not all(type(number) is int and number.bit_length() <= 64 for number in numbers):
            raise Refused(f"the member {each.name} of {name} must be {each.type} of at most 64 bits")


class Node(Steps):
    """An operation with its operands. A rule reads it, calls the methods of its builder, and returns the results.

    ``run`` lowers a region with items for its arguments, ``call`` a function of the module by its name; both return the results.
    """

    __slots__ = ("_attributes", "call", "items", "name", "operation", "regions", "run", "types")

    def __init__(self, operands: Operands, operation: Operation, items: Sequence[Item], run: RunRegion, call: Call) -> None:
        super().__init__(operands)
        self.operation = operation
        self.name = operation.name
        self.items = items
        self.types: tuple[Type, ...] = tuple([result.type for result in operation.results])
        self.regions = operation.regions
        self.run = run
        self.call = call
        self._attributes: Mapping[str, Attribute] = operation.attributes

    # Operands.

    def value(self, index: int) -> Value:
        """Return an operand that must be a tensor."""
        if index >= len(self.items):
            raise Refused(f"there must be an operand {index}, got {len(self.items)} operands")
        item = self.items[index]
        if not isinstance(item, Value):
            raise Refused(f"the operand {index} must be a tensor, got {self.operation.operands[index].type}")
        return item

    def values(self) -> list[Value]:
        """Return all operands, which must be tensors."""
        return [self.value(index) for index in range(len(self.items))]

    def operand(self, index: int) -> MLOperand:
        """Return the WebNN operand of an operand."""
        return self._operands.find(self.value(index))

    def operands(self) -> list[MLOperand]:
        """Return the WebNN operands of all operands."""
        return [self._operands.find(value) for value in self.values()]

    def array(self, index: int) -> Array:
        """Return the elements of an operand that is known: when constants are folded."""
        array = self.value(index).array
        assert array is not None
        return array

    def arrays(self) -> list[Array]:
        """Return the elements of all operands, which are known."""
        return [self.array(index) for index in range(len(self.items))]

    def known(self, value: Value, what: str) -> Array:
        """Return the elements of a value that must be known; ``what`` is its name, for messages."""
        if value.array is None:
            if REFUSED in value.roots:
                raise Blocked
            inputs = ", ".join(sorted(value.roots))
            constants = ", ".join(f"{name!r}: ..." for name in sorted(value.roots))
            raise Refused(
                f"{what} must follow from constants, but {'comes' if inputs else 'does not come'} from {inputs or 'an input'}",
                f"give what it comes from as a constant: constants={{{constants}}}" if constants else "",
            )
        return value.array

    def known_integers(self, index: int, what: str) -> list[int]:
        """Return the elements of an operand that must be known, as a flat list of integers."""
        return [int(each) for each in self.known(self.value(index), what).reshape(-1)]

    def expect(self, operands: int, results: int = 1, regions: int = 0) -> None:
        """Refuse an operation with another number of operands, results or regions: MLIR has not checked a module that is built by hand."""
        for what, wanted, found in (
            ("operands", operands, self.items),
            ("results", results, self.types),
            ("regions", regions, self.regions),
        ):
            if len(found) != wanted:
                raise Refused(f"there must be {wanted} {what}, got {len(found)}")

    def reshaped(self, array: Array, shape: Sequence[int]) -> Array:
        """Return an array in another shape; one that repeats elements may have to be made whole."""
        try:
            return array.reshape(tuple(shape), copy=False)
        except ValueError:
            self.spend(array.nbytes)
            return array.reshape(tuple(shape))

    def is_boolean(self, index: int = 0) -> bool:
        """Tell whether an operand has elements of type i1."""
        return self.value(index).dtype == np.bool_

    def is_integer(self, index: int = 0) -> bool:
        """Tell whether an operand has integers; i1 is none."""
        return kind_of(self.value(index).dtype) == "i"

    def spread(self) -> list[MLOperand]:
        """Return the WebNN operands of an elementwise operation: not expanded where they broadcast to the shape of the result."""
        values = self.values()
        found = [self._narrow(value) for value in values]
        # In the body of a reducer the types say less than the operands.
        shape: tuple[int, ...] = ()
        for value in values:
            shape = bidirectionally_broadcast(shape, value.shape) or ()
        reached: tuple[int, ...] = ()
        for operand in found:
            reached = bidirectionally_broadcast(reached, operand.descriptor.dimensions) or ()
        if reached != shape:
            # All of them are expanded: one must have the whole shape.
            whole = next((index for index, value in enumerate(values) if value.shape == shape), None)
            if whole is None:
                return self.operands()
            found[whole] = self._operands.find(values[whole])
        return found

    def _narrow(self, value: Value) -> MLOperand:
        """Return an operand that broadcasts to a value."""
        if value.array is None:
            operand = self._operands.find(value)
            operator = operand._operator
            return operator.inputs[0] if operator is not None and operator.operation.name == "expand" else operand
        narrow = self.narrow(value.array)
        return self._operands.find(value) if narrow is value.array else self.constant(narrow)

    @staticmethod
    def narrow(array: Array) -> Array:
        """Return an array that broadcasts to a known one: once what is repeated."""
        if not array.ndim or array.size <= 1 or 0 not in array.strides:
            return array
        repeated = [stride == 0 and size > 1 for stride, size in zip(array.strides, array.shape, strict=True)]
        return array[tuple([slice(0, 1) if each else slice(None) for each in repeated])] if any(repeated) else array

    # Results.

    def shape(self, index: int = 0) -> tuple[int, ...]:
        """Return the shape of a result."""
        return shape_of(self.types[index])

    def fit(self, shape: Sequence[int], index: int = 0) -> tuple[int, ...]:
        """Return the shape of a result that follows from the operands; it must be one of its type."""
        type = tensor_type(self.types[index])
        found = tuple(shape)
        if len(type.shape) != len(found) or any(size not in (None, given) for size, given in zip(type.shape, found, strict=True)):
            raise Refused(f"the result must have the shape {list(found)}, got {type}")
        check_size(found)
        return found

    def dtype(self, index: int = 0) -> np.dtype[Any]:
        """Return the element type of a result."""
        return dtype_of(tensor_type(self.types[index]).element)

    # Attributes. MLIR has checked that they are there, unless they have a default.

    def attribute(self, name: str, kind: type[_Kind], default: _Kind | None = None) -> _Kind:
        """Return an attribute of some Python type; one without a default must be given."""
        found = self._attributes.get(name, default)
        if found is None:
            raise Refused(f"the attribute {name} must be given")
        if not isinstance(found, kind):
            raise Refused(f"the attribute {name} must be {kind.__name__}, got {type(found).__name__}")
        if kind in _NUMBERS:
            _check_members(name, found)
        return found

    def has(self, name: str) -> bool:
        """Tell whether an attribute is given."""
        return name in self._attributes

    def integer(self, name: str, default: int | None = None) -> int:
        """Return an attribute."""
        found = self.attribute(name, int, default)
        if found.bit_length() > 64:
            raise Refused(f"the attribute {name} must have at most 64 bits, got {found.bit_length()}")
        return found

    def flag(self, name: str, *, default: bool | None = None) -> bool:
        """Return an attribute."""
        return self.attribute(name, bool, default)

    def number(self, name: str) -> float:
        """Return an attribute."""
        return self.attribute(name, float)

    def text(self, name: str, default: str | None = None) -> str:
        """Return an attribute, for example an enumeration."""
        return self.attribute(name, str, default)

    def integers(self, name: str, default: Sequence[int] | None = None) -> list[int]:
        """Return an attribute: an array of integers, or a tensor of them as a flat list."""
        found = self._attributes.get(name)
        if found is None and default is not None:
            return list(default)
        numbers = self._list(name, "iu")
        if numbers is None:
            raise Refused(f"the attribute {name} must be given as at most {_MOST_NUMBERS} integers")
        return [int(each) for each in numbers]

    def flags(self, name: str) -> list[bool]:
        """Return an attribute: an array of booleans, or a tensor of them as a flat list."""
        numbers = self._list(name, "b")
        if numbers is None:
            raise Refused(f"the attribute {name} must be given as at most {_MOST_NUMBERS} booleans")
        return [bool(each) for each in numbers]

    def _list(self, name: str, kinds: str) -> Sequence[int] | None:
        """Return an array, or a tensor of some kinds of elements, as a flat list; None if the attribute is something else."""
        found = self._attributes.get(name)
        if isinstance(found, np.ndarray) and found.dtype.kind in kinds and found.size <= _MOST_NUMBERS:
            return found.reshape(-1).tolist()
        if isinstance(found, tuple) and len(found) <= _MOST_NUMBERS:
            integers = [each for each in found if isinstance(each, int) and each.bit_length() <= 64]
            return integers if len(integers) == len(found) else None
        return None
