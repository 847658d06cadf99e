"""`Operands`, the operands of values, and `Steps`, the steps that rules share, whatever format they read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from webnn.builder.describe import value_key
from webnn.builder.operand import MLOperand
from webnn.importing.named import are_same, have_names, is_empty, sizes_of
from webnn.importing.values import Array, Exhausted, Refused, Value, carrier
from webnn.validation import webidl
from webnn.validation.descriptor import FLOAT_TYPES, NUMPY_DTYPES, SMALL_TYPES, DataType, Shape, extreme, pack

if TYPE_CHECKING:
    from webnn.builder.graph_builder import LabellingBuilder
    from webnn.importing.named import Naming
    from webnn.importing.packed import Packed

__all__ = ["Inputs", "Operands", "Result", "Steps", "limit_of", "normalize_axes", "normalize_axis", "product", "value_of"]

#: A rule's result for an output: an operand, whose type the driver casts to that of the output; a value that is known; a value with a
#: type of its own; nothing for an optional output that it does not compute.
Result: TypeAlias = MLOperand | Array | Value | None

#: The most numbers of an input that a rule reads one by one.
_MOST_INTEGERS = 1 << 16
#: No tensor has more elements.
_TOO_MANY = 1 << 64
#: The most bytes of equal arrays that share a constant.
_SHARED_BYTES = 64
#: Arrays of more bytes, all of whose elements are one, become an expanded scalar.
_UNIFORM_BYTES = 4096
#: The most bytes that are computed at import, and how many more for each byte of the model's tensors.
_MOST_BYTES, _MOST_FACTOR = 1 << 30, 4


class Operands:
    """The operands of an import, its notes, and the names of the model's inputs, in its order; those of other values by `value_key`.

    ``float64`` allows float64 to become float32; ``advice`` says how the caller can allow that.
    """

    def __init__(self, builder: LabellingBuilder, *, float64: bool, advice: str) -> None:
        self.builder = builder
        self.names: dict[object, str] = {}
        self.notes: dict[str, None] = {}
        self.inputs: list[str] = []
        #: The inputs that are data: nobody knows them at import.
        self.data: set[str] = set()
        self._float64 = float64
        self._advice = advice
        #: The names that dimensions keep; none if all sizes are numbers.
        self.naming: Naming | None = None
        #: Reshapes that check a shape, which stay, by `value_key`.
        self.checks: set[object] = set()
        self._shared: dict[object, MLOperand] = {}
        #: The results of `reshape`, by `value_key` and shape. Each keeps its operand, so that an id stays its own.
        self._reshaped: dict[tuple[object, Shape], MLOperand] = {}
        self._missing: set[int] = set()
        self._left = _MOST_BYTES
        #: Objects that are known by their id. They are kept, so that no other object gets the id.
        self._kept: list[object] = []

    def input(self, name: str, dtype: np.dtype[Any], shape: Shape) -> MLOperand:
        """Return the operand of an input of the model."""
        operand = self.builder.input(name, dataType=self.carrier(dtype), shape=list(shape))
        self.inputs.append(name)
        return operand

    def remember(self, name: str, operand: MLOperand) -> None:
        """Remember the name that the model gives an operand."""
        operator = operand._operator
        # `value_key` without a function call, because every node runs this.
        self.names.setdefault(id(operand) if operator is None else (operator.index, operand._position), name)
        self._kept.append(operand)

    def miss(self, array: Array) -> None:
        """Note that an array of zeros replaces external data that is missing."""
        self._missing.add(id(array))
        self._kept.append(array)

    def is_missing(self, value: Value) -> bool:
        """Tell whether a value has zeros in place of external data that is missing."""
        return id(value.array) in self._missing

    def allow(self, count: int) -> None:
        """Note the bytes of a tensor of the model."""
        self._left += _MOST_FACTOR * count

    def spend(self, count: int) -> None:
        """Note the bytes of an array that is made; too many exhaust the import, and are not counted."""
        if count > self._left:
            raise Exhausted(
                f"what is computed at import must have at most 1 GiB, and {_MOST_FACTOR} bytes for each byte of the model's tensors"
            )
        self._left -= count

    def carrier(self, dtype: np.dtype[Any]) -> DataType:
        """Return the data type of WebNN for an element type."""
        if dtype == np.float64:
            if not self._float64:
                raise Refused("float64 must be allowed to become float32", self._advice)
            self.notes["float64 is computed in float32"] = None
        return carrier(dtype)

    def find(self, value: Value) -> MLOperand:
        """Return the operand of a value; a known value becomes a constant, and numbers that are integers are cast."""
        if value.operand is None:
            if value.numbers is not None:
                value.operand = self.builder.cast(value.numbers, self.carrier(value.dtype))
            elif value.packed is not None:
                value.operand = self._unpack(value.packed, self.carrier(value.dtype))
            else:
                assert value.array is not None
                value.operand = self._known(value.array, value.dtype)
            if value.name:
                self.remember(value.name, value.operand)
        return value.operand

    def _known(self, array: Array, dtype: np.dtype[Any]) -> MLOperand:
        if array.dtype == object and self.naming is not None:
            return self.naming.emit(array, self.carrier(dtype))
        return self.constant(array)

    def _unpack(self, packed: Packed, dataType: DataType) -> MLOperand:
        source, scale, zero, rank = self.constant(packed.source), packed.scale, packed.zero, packed.source.ndim
        if scale is None and zero is None:
            return self.builder.cast(source, dataType)
        scale = np.ones((1,) * rank, NUMPY_DTYPES[dataType]) if scale is None else scale
        zero = np.zeros((1,) * rank, packed.source.dtype) if zero is None else zero
        scale, zero = (np.ascontiguousarray(each) for each in np.broadcast_arrays(scale, zero))
        return self.builder.dequantizeLinear(source, self.constant(scale), self.constant(zero))

    def constant(self, array: Array) -> MLOperand:
        """Return the constant of an array with elements of a type that WebNN has; equal small arrays share one."""
        found = self._shared.get(id(array))
        if found is not None:
            return found
        if array.dtype == object and self.naming is not None:
            return self.naming.emit(array, "int64")
        dataType = self.carrier(array.dtype)
        if 0 in array.shape:
            raise Refused(f"tensors without elements are not supported, got {list(array.shape)}")
        if array.nbytes > _UNIFORM_BYTES and not any(array.strides) and id(array) not in self._missing:
            return self.builder.expand(self.constant(array[(0,) * array.ndim]), list(array.shape))
        dtype = array.dtype if dataType in SMALL_TYPES else NUMPY_DTYPES[dataType]
        count = array.size * dtype.itemsize
        key: object = id(array)
        carried = np.asarray(array)
        if carried.dtype != dtype or not carried.flags.c_contiguous:
            if count > _SHARED_BYTES and key not in self._shared:
                # An array that repeats elements may become much larger.
                self.spend(count)
            with np.errstate(over="ignore"):
                carried = np.ascontiguousarray(array, dtype).reshape(array.shape)
        if count <= _SHARED_BYTES:
            key = (dataType, array.shape, carried.tobytes())
        found = self._shared.get(key)
        if found is None:
            if dataType in SMALL_TYPES:
                found = self.builder.constant({"dataType": dataType, "shape": list(array.shape)}, pack(carried.astype(np.int8)))
            else:
                found = self.builder.constantOver(dataType, carried)
            self._shared[key] = found
            # An id stays that of the array as long as the array is kept.
            self._kept.append(array)
        return found

    def reshape(self, operand: MLOperand, shape: Shape) -> MLOperand:
        """Return an operand in another shape of as many elements, at least one; asked for again, it is the same one."""
        key = value_key(operand), shape
        found = self._reshaped.get(key)
        if found is None:
            if is_empty(shape):
                raise Refused(f"the shape must have no empty dimension, got {list(shape)}")
            found = self._reshaped[key] = self.builder.reshape(operand, list(shape))
        return found

    def scalar(self, dataType: DataType, number: float) -> MLOperand:
        """Return a scalar constant; equal ones are shared."""
        key = (dataType, number, str(number))
        found = self._shared.get(key)
        if found is None:
            if self.naming is not None and hasattr(number, "terms"):
                return self.naming.emit(np.array([number, None], object)[0:1].reshape(()), dataType)
            found = self._shared[key] = self.builder.constant(dataType, number)
        return found


class Steps:
    """The steps that rules share. The builder is one of the draft 2026-06; rules give it options as keyword arguments."""

    def __init__(self, operands: Operands) -> None:
        self.builder = operands.builder
        self._operands = operands

    def operand_of(self, value: Value | MLOperand | Array) -> MLOperand:
        """Return the operand of a value, or of a rule's result."""
        if isinstance(value, MLOperand):
            return value
        return self._operands.find(Value.known(value) if isinstance(value, np.ndarray) else value)

    def find_array(self, value: Value) -> Array | None:
        """Return the elements of a value, or None if they are not known at import."""
        return None if self._operands.is_missing(value) else value.array

    def spend(self, count: int) -> None:
        """Note the bytes of an array that a rule is about to make; too many are refused."""
        self._operands.spend(count)

    def positions(self, count: int) -> Array:
        """Return the numbers from 0 on, int32. They count for the memory of the import."""
        self.spend(np.dtype(np.int32).itemsize * count)
        return np.arange(count, dtype=np.int32)

    def constant(self, array: Array) -> MLOperand:
        """Return an operand for an array; equal small arrays share one."""
        return self._operands.constant(array)

    def scalar(self, number: float, like: MLOperand | DataType) -> MLOperand:
        """Return a scalar constant in the data type of an operand."""
        return self._operands.scalar(like if isinstance(like, str) else like.descriptor.dataType, number)

    def reshape(self, operand: MLOperand, shape: Sequence[int]) -> MLOperand:
        """Reshape an operand if it has another shape. A reshape of a reshape is one reshape, or none; equal ones are one."""
        wanted = tuple(shape)
        naming = self._operands.naming
        if naming is not None:
            return self._reshape_named(naming, operand, wanted)
        while operand.descriptor.dimensions != wanted:
            source = _reshaped(operand)
            if source is None:
                return self._operands.reshape(operand, wanted)
            operand = source
        return operand

    def _reshape_named(self, naming: Naming, operand: MLOperand, wanted: Shape) -> MLOperand:
        while not are_same(operand.descriptor.dimensions, wanted):
            source = None if value_key(operand) in self._operands.checks else naming.find_reshaped(operand)
            if source is None:
                return self._operands.reshape(operand, wanted)
            operand = source
        return operand

    def transpose(self, operand: MLOperand, permutation: Sequence[int]) -> MLOperand:
        """Transpose an operand if its dimensions move. A transpose of a transpose is one transpose, or none."""
        moved, operator = list(permutation), operand._operator
        if operator is not None and operator.operation.name == "transpose":
            options: Any = operator.options
            first = options.permutation or range(len(moved))[::-1]
            operand, moved = operator.inputs[0], [first[axis] for axis in moved]
        return operand if moved == sorted(moved) else self.builder.transpose(operand, permutation=moved)

    def elementwise(self, compute: Callable[..., MLOperand], *operands: MLOperand) -> MLOperand:
        """Compute each element by itself, before a reshape of the operands that only adds or drops dimensions of size 1.

        So such reshapes meet those of the nodes behind, and what computes stays together. The operands are broadcast.
        """
        for each in operands:
            if _reshaped(each) is not None:
                break
        else:
            return compute(*operands)
        several = [each for each in operands if each.descriptor.dimensions]
        if self._operands.naming is not None and any(have_names(each.descriptor.dimensions) for each in several):
            return compute(*operands)
        sources = {id(each): source for each in several if (source := _reshaped(each)) is not None}
        if not sources or len(sources) < len({*map(id, several)}):
            return compute(*operands)
        shapes = {each.descriptor.dimensions for each in several}
        before = {source.descriptor.dimensions for source in sources.values()}
        if len(shapes) != 1 or len(before) != 1:
            return compute(*operands)
        (shape,), (given,) = shapes, before
        if [size for size in given if size != 1] != [size for size in shape if size != 1]:
            return compute(*operands)
        return self.reshape(compute(*[sources.get(id(each)) or each for each in operands]), shape)

    def count(self, start: int, end: int, step: int = 1, dataType: DataType = "int32") -> MLOperand:
        """Return the numbers from a size on that are before another one, in steps; some of the sizes have names."""
        assert self._operands.naming is not None  # it has made the sizes
        return self._operands.naming.count(start, end, step, dataType)

    def note(self, text: str) -> None:
        """Note in the report what differs from the model."""
        self._operands.notes[text] = None

    def cast(self, operand: MLOperand, dataType: DataType) -> MLOperand:
        """Cast an operand if it has another type."""
        return operand if operand.descriptor.dataType == dataType else self.builder.cast(operand, dataType)

    @staticmethod
    def as_integers(numbers: MLOperand) -> Value:
        """Return float32 numbers that are integers as int32. A cast back gives the numbers, among which a zero may be negative."""
        return Value("", np.dtype(np.int32), numbers.descriptor.dimensions, numbers=numbers)

    def boolean(self, operand: MLOperand) -> Value:
        """Return a result of ONNX's type bool: uint8 with the values 0 and 1."""
        return self.typed(operand, np.dtype(np.bool_))

    def typed(self, operand: MLOperand, dtype: np.dtype[Any]) -> Value:
        """Return a result with a type of ONNX."""
        return Value("", dtype, operand.descriptor.dimensions, operand=self.cast(operand, carrier(dtype)))

    @staticmethod
    def is_float(operand: MLOperand) -> bool:
        """Tell whether an operand is of a floating-point type."""
        return operand.descriptor.dataType in FLOAT_TYPES


def _reshaped(operand: MLOperand) -> MLOperand | None:
    """Return what an operand is a reshape of, if it is one."""
    operator = operand._operator
    return operator.inputs[0] if operator is not None and operator.operation.name == "reshape" else None


def value_of(operand: MLOperand) -> Value:
    """Return the value of an operand, in the type that WebNN gives it."""
    descriptor = operand.descriptor
    return Value("", NUMPY_DTYPES[descriptor.dataType], descriptor.dimensions, operand=operand)


class Inputs(Steps):
    """The steps of a node with inputs: an optional one that is missing is None, and some must be known."""

    def __init__(self, operands: Operands, inputs: Sequence[Value | None]) -> None:
        # Not by the base's method, because every node runs this.
        self.builder = operands.builder
        self._operands = operands
        self.inputs = tuple(inputs)

    def given(self, index: int) -> bool:
        """Tell whether an optional input is there."""
        return index < len(self.inputs) and self.inputs[index] is not None

    def value(self, index: int) -> Value:
        """Return an input that must be there."""
        value = self.inputs[index] if index < len(self.inputs) else None
        if value is None:
            raise Refused(f"the input {index} must be given")
        return value

    def operand(self, index: int) -> MLOperand:
        """Return the operand of an input that must be there."""
        value = self.value(index)
        return self._operands.find(value) if value.operand is None else value.operand

    def known(self, index: int, what: str) -> Array:
        """Return the elements of an input that must be known at import; ``what`` is its name in messages."""
        value = self.value(index)
        if value.array is None:
            data = sorted(value.roots & self._operands.data)
            if data:
                raise Refused(
                    f"{what} must be known at import, but depends on the data of the input {' and '.join(map(repr, data))}",
                    "export the parts before and behind it as two models",
                    "what must be known at import depends on data",
                )
            if self._operands.naming is not None and not value.roots:
                raise self._operands.naming.refuse()
            constants = ", ".join(f"{name!r}: ..." for name in sorted(value.roots))
            what_it_is = "it" if value.roots == {value.name} else "what it comes from"
            advice = f"give {what_it_is} as a constant: constants={{{constants}}}" if constants else ""
            raise Refused(f"{what} must be known at import, got the value {webidl.describe(value.name)}", advice)
        if self._operands.is_missing(value):
            raise Refused(f"{what} must be known at import, but its external data is missing")
        return value.array

    def known_integers(self, index: int, what: str) -> list[int]:
        """Return the elements of an integer input that must be known at import, as a flat list."""
        array = self.known(index, what)
        if array.dtype == object:
            return sizes_of(array)
        if array.dtype.kind not in "iu":
            raise Refused(f"{what} must be integers, got {array.dtype.name}")
        if array.size > _MOST_INTEGERS:
            raise Refused(f"{what} must be at most {_MOST_INTEGERS} numbers, got {array.size}")
        return [int(each) for each in array.reshape(-1)]

    def known_integer(self, index: int, what: str) -> int:
        """Return an input of one integer that must be known at import."""
        found = self.known_integers(index, what)
        if len(found) != 1:
            raise Refused(f"{what} must be one number, got {webidl.describe(found)}")
        return found[0]

    def known_indices(self, index: int, *sizes: int) -> Array | None:
        """Return indices into dimensions of some sizes if they are known: as int32, which every device takes, and from the front.

        There is one size for all indices, or one for each part of the coordinates in the last dimension.
        """
        array = self.value(index).array
        if array is None or array.dtype == object:
            return None
        if self._operands.naming is not None and have_names(sizes):
            return self._indices_of_names(array, sizes)
        if array.dtype.kind not in "iu":
            raise Refused(f"the indices must be integers, got {array.dtype.name}")
        limits = np.array(sizes if len(sizes) > 1 else sizes[0], np.int64)
        indices = array.astype(np.int64)
        if ((indices < -limits) | (indices >= limits)).any():
            wanted = " and ".join(f"from {-size} to {size - 1}" for size in sizes)
            raise Refused(f"the indices must be {wanted}, got some from {indices.min()} to {indices.max()}")
        if array.dtype == np.int32 and (array >= 0).all():
            return array
        return np.asarray(np.where(indices < 0, indices + limits, indices), np.int32)

    def indices(self, index: int, *sizes: int) -> MLOperand:
        """Return the operand of indices into dimensions of some sizes; for those that are known see `known_indices`."""
        known = self.known_indices(index, *sizes)
        return self._operands.find(self.value(index)) if known is None else self.constant(known)

    @staticmethod
    def _indices_of_names(array: Array, sizes: Sequence[int]) -> Array | None:
        """Return known indices into a dimension with a name, if they count from the front; those that count from its end are computed."""
        if len(sizes) > 1 or array.dtype.kind not in "iu" or (array < 0).any():
            return None
        if not int(array.max()) < sizes[0]:
            raise Refused(f"the indices must be less than {sizes[0]!r}, got some up to {array.max()}")
        return array.astype(np.int32)


def normalize_axis(name: str, axis: int, rank: int) -> int:
    """Return an axis counted from the front; refuse one that is not there."""
    if not -rank <= axis < rank:
        raise Refused(f"{name} must be from {-rank} to {rank - 1}, got {axis}")
    return axis % rank


def normalize_axes(name: str, axes: Sequence[int], rank: int) -> list[int]:
    """Return axes counted from the front, each of which must be named once."""
    found = [normalize_axis(name, axis, rank) for axis in axes]
    if len(set(found)) < len(found):
        raise Refused(f"{name} must name each axis once, got {list(axes)}")
    return found


def limit_of(operand: MLOperand, *, is_least: bool) -> float:
    """Return the least or the largest number of an operand's type, which is infinite for floating-point types."""
    return extreme(operand.descriptor.dataType, largest=not is_least)


def product(sizes: Sequence[int]) -> int:
    """Return the number of elements of a shape; one that no tensor has may be too small."""
    found = 1
    if is_empty(sizes):
        return 0
    for size in sizes:
        found *= size
        if (type(found) is int or not hasattr(found, "terms")) and abs(found) > _TOO_MANY:
            break
    return found
