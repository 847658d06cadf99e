"""The format of recorded cases: what a graph must hold, and how its numbers and tensors are decoded."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, Any, Literal, TypeAlias, TypeVar

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

__all__ = ["Array", "CaseError", "Descriptor", "Graph", "Operator", "Tensor", "Test", "TestFile", "decode_argument", "parse", "within"]

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]

#: The largest tensor that the runner makes, in bytes: one number in a file can stand for any amount of memory.
_LARGEST = 1 << 30
#: The numbers that JSON cannot write.
_SPECIAL = frozenset({"NaN", "Infinity", "-Infinity", "-0"})
#: Data types of which two elements share a byte, with the type that holds one element. As in web-platform-tests, the low four bits of a
#: recorded number count.
_SMALL: dict[str, np.dtype[Any]] = {"int4": np.dtype(np.int8), "uint4": np.dtype(np.uint8)}
_BIG_INTEGER = re.compile(r"-?[0-9]{1,300}")
#: How much of a wrong value a message shows.
_SHOWN = 60

M = TypeVar("M", bound="Model")


class CaseError(ValueError):
    """A recorded case does not follow the format.

    Args:
        message: What must hold, and what was given.
        path: Where, for example ``"graph.operators[0].name"``.
    """

    def __init__(self, message: str, path: str = "") -> None:
        super().__init__(message, path)
        self.message = message
        self.path = path

    def __str__(self) -> str:
        return f"{self.path}: {self.message}" if self.path else self.message


@contextmanager
def within(path: str) -> Iterator[None]:
    """Prefix the path of every `CaseError` that is raised inside the block."""
    try:
        yield
    except CaseError as error:
        raise CaseError(error.message, _join(path, error.path)) from None


def _join(path: str, inner: str) -> str:
    return f"{path}.{inner}" if path and inner and not inner.startswith("[") else path + inner


class Model(BaseModel):
    model_config = ConfigDict(strict=True, frozen=True, extra="forbid")


class _Open(Model):
    """Other tools may add members of their own."""

    model_config = ConfigDict(extra="ignore")


class Tolerance(_Open):
    """How far a result may be from its expectation."""

    metricType: Literal["ULP", "ATOL"]
    value: Annotated[float, Field(ge=0, allow_inf_nan=False)]


class Test(_Open):
    """A case; the graph is checked when it runs."""

    #: Not a test of pytest.
    __test__ = False

    name: str
    tolerance: Tolerance
    graph: dict[str, Any]


class TestFile(_Open):
    """A file of cases; each case is checked on its own."""

    __test__ = False

    level: str = ""
    tests: list[Any]


class Descriptor(Model):
    """The type and shape of a tensor."""

    dataType: Literal["float32", "float16", "int32", "uint32", "int64", "uint64", "int8", "uint8", "int4", "uint4"]
    shape: Annotated[list[Annotated[int, Field(ge=0)]], Field(max_length=32)]

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of an array with one number for each element."""
        return _SMALL[self.dataType] if self.dataType in _SMALL else np.dtype(self.dataType)

    def pack(self, values: Array) -> Array:
        """Return the array that the API takes: of small types, two elements are in a byte, the first one in the low bits."""
        if self.dataType not in _SMALL:
            return values
        nibbles = np.append(values.reshape(-1), np.zeros(values.size % 2, values.dtype)).view(np.uint8) & 15
        return nibbles[::2] | nibbles[1::2] << 4

    def unpack(self, values: Array) -> Array:
        """Undo `pack`."""
        if self.dataType not in _SMALL:
            return values
        packed = values.reshape(-1).view(np.uint8)
        numbers = np.stack([packed & 15, packed >> 4], axis=1).reshape(-1)[: math.prod(self.shape)]
        # The sign of four bits becomes that of eight.
        signed = (numbers << 4).view(np.int8) >> 4 if self.dataType == "int4" else numbers
        return signed.reshape(self.shape)


class Tensor(Model):
    """A recorded tensor.

    Attributes:
        data: Its numbers, flattened; one number stands for a tensor filled with it.
        descriptor: Its type and shape.
        constant: It is a constant of the graph.
    """

    data: Any
    descriptor: Descriptor
    constant: bool = False

    @property
    def filled(self) -> bool:
        """One number fills the tensor."""
        return not isinstance(self.data, list)

    def check_size(self) -> int:
        """Return the number of elements.

        Raises:
            CaseError: It is too large, or differs from that of the data.
        """
        descriptor = self.descriptor
        size = math.prod(descriptor.shape)
        if size * descriptor.dtype.itemsize > _LARGEST:
            raise CaseError(f"{descriptor.dataType} {descriptor.shape} is too large, a tensor may take {_LARGEST >> 20} MiB", "descriptor")
        if not self.filled and len(self.data) != size:
            raise CaseError(f"must be {size} numbers for the shape {descriptor.shape}, got {len(self.data)}", "data")
        return size

    def array(self) -> Array:
        """Decode the tensor.

        Raises:
            CaseError: The data do not fit the descriptor.
        """
        self.check_size()
        values = self._decode(self.descriptor.dtype)
        return np.full(self.descriptor.shape, values[0]) if self.filled else values.reshape(self.descriptor.shape)

    def flat(self, most_of_fill: int, *, exact: bool = False) -> Array:
        """Decode the flattened tensor.

        Args:
            most_of_fill: How many elements to return at most where one number stands for all.
            exact: Do not round floating-point numbers to the tensor's type; they come as float64.

        Raises:
            CaseError: The data do not fit the descriptor.
        """
        dtype = self.descriptor.dtype
        size = self.check_size()
        values = self._decode(np.dtype(np.float64) if exact and dtype.kind == "f" else dtype)
        return np.full(min(size, most_of_fill), values[0]) if self.filled else values

    def _decode(self, dtype: np.dtype[Any]) -> Array:
        data = [self.data] if self.filled else self.data
        if not set(map(type, data)) <= {int, float}:
            data = [_decode_number(value, f"data[{index}]") for index, value in enumerate(data)]
        if dtype.kind == "f":
            try:
                with np.errstate(over="ignore"):
                    return np.array(data, np.float64).astype(dtype)
            except OverflowError:
                raise CaseError("a number is too large for a double", "data") from None
        limits = np.iinfo(dtype)
        for index, value in enumerate(data):
            # The comparison comes first: an infinity or a NaN is no integer.
            if not limits.min <= value <= limits.max or int(value) != value:
                raise CaseError(f"must be an integer from {limits.min} to {limits.max}, got {value!r}", f"data[{index}]")
        return np.array([int(value) for value in data], dtype)


class Operator(Model):
    """A call of one of the builder's methods.

    Attributes:
        name: The method.
        arguments: The positional arguments, without the options.
        options: The options; an empty dictionary counts as none.
        outputs: The names of what it returns.
    """

    name: str
    arguments: list[Any]
    options: dict[str, Any] | None = None
    outputs: Annotated[list[str], Field(min_length=1)]


class Graph(Model):
    """A graph and what it must compute."""

    inputs: dict[str, Tensor]
    operators: list[Operator]
    expectedOutputs: Annotated[dict[str, Tensor], Field(min_length=1)]


def parse(model: type[M], value: object, path: str = "") -> M:
    """Check a value against a model.

    Args:
        model: The model.
        value: What JSON or TOML gave.
        path: The value's path, for messages.

    Raises:
        CaseError: It does not fit; the message says where and why.
    """
    try:
        return model.model_validate(value)
    except ValidationError as error:
        first, *others = error.errors(include_url=False)
        for key in first["loc"]:
            # "[key]" marks that the key itself is at fault, not its value.
            if key != "[key]":
                path = _join(path, f"[{key}]" if isinstance(key, int) else key)
        message = "must be an object" if first["type"] == "model_type" else first["msg"][0].lower() + first["msg"][1:]
        given = "" if first["type"] == "missing" else f", got {_show(first['input'])}"
        more = f" (and {len(others)} more)" if others else ""
        raise CaseError(f"{message}{given}{more}", path) from None


def decode_argument(value: Any, find: Callable[[str], object]) -> Any:
    """Decode an argument or an option.

    Args:
        value: What JSON gave.
        find: Returns the operand of a name.

    Raises:
        CaseError: It is an object of an unknown kind.
    """
    if isinstance(value, list):
        elements = []
        for index, element in enumerate(value):
            with within(f"[{index}]"):
                elements.append(decode_argument(element, find))
        return elements
    if isinstance(value, dict):
        match value:
            case {"operand": str(name)} if len(value) == 1:
                return find(name)
            case {"$bigint": _}:
                return _decode_number(value)
        raise CaseError(f"must be {{'operand': NAME}} or {{'$bigint': DIGITS}}, got {_show(value)}")
    return float(value) if isinstance(value, str) and value in _SPECIAL else value


def _decode_number(value: Any, path: str = "") -> int | float:
    match value:
        case bool():
            pass
        case int() | float():
            return value
        case str() if value in _SPECIAL:
            return float(value)
        case {"$bigint": str(digits)} if len(value) == 1 and _BIG_INTEGER.fullmatch(digits):
            return int(digits)
    raise CaseError(f"must be a number, 'NaN', 'Infinity', '-Infinity', '-0' or {{'$bigint': DIGITS}}, got {_show(value)}", path)


def _show(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
