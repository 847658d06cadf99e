"""The format of recorded cases: what a graph must hold, and how its numbers and tensors are decoded."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, Any, Literal, TypeAlias, TypeVar

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from webnn.validation.descriptor import SMALL_TYPES, DataType
from webnn.validation.descriptor import pack as pack_small
from webnn.wpt_runner.foreign import find_problem, write_path

__all__ = [
    "Array",
    "CaseError",
    "Graph",
    "Model",
    "Operator",
    "RecordedFile",
    "RecordedTest",
    "Tensor",
    "decode_argument",
    "decode_number",
    "pack",
    "parse",
    "within",
]

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]

#: The largest tensor that the runner makes, in bytes: one number in a file can require any amount of memory.
_LARGEST = 1 << 30
#: The numbers that JSON cannot write.
_SPECIAL = frozenset({"NaN", "Infinity", "-Infinity", "-0"})
_BIG_INTEGER = re.compile(r"-?[0-9]{1,300}")
#: How much of a wrong value a message shows.
_SHOWN = 60

M = TypeVar("M", bound="Model")


class CaseError(ValueError):
    """A recorded case does not follow the format: what must hold and what was given; and where, as in ``"graph.operators[0].name"``."""

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
    """A part of a file that has no other members."""

    model_config = ConfigDict(strict=True, frozen=True, extra="forbid")


class _Open(Model):
    """Other tools may add members of their own."""

    model_config = ConfigDict(extra="ignore")


class _Tolerance(_Open):
    metricType: Literal["ULP", "ATOL"]
    value: Annotated[float, Field(ge=0, allow_inf_nan=False)]


class RecordedTest(_Open):
    """A case; the graph is checked when it runs."""

    name: str
    tolerance: _Tolerance
    graph: dict[str, Any]


class RecordedFile(_Open):
    """A file of cases; each case is checked on its own."""

    level: str = ""
    tests: list[Any]


class _Descriptor(Model):
    dataType: DataType
    shape: Annotated[list[Annotated[int, Field(ge=0)]], Field(max_length=32)]

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of an array with one number for each element."""
        return np.dtype(self.dataType.replace("int4", "int8"))


def pack(values: Array, dataType: DataType) -> Array:
    """Return the array that the API takes: two elements of a small type share a byte. As in web-platform-tests, four bits of each count."""
    return pack_small(values) if dataType in SMALL_TYPES else values


class Tensor(Model):
    """A recorded tensor; its data are flattened numbers, or one number that fills it."""

    data: Any
    descriptor: _Descriptor
    constant: bool = False

    @property
    def _filled(self) -> bool:
        return not isinstance(self.data, list)

    def check_size(self) -> int:
        """Return the number of elements; raises `CaseError` if it is too large, or differs from that of the data."""
        descriptor = self.descriptor
        size = math.prod(descriptor.shape)
        if size * descriptor.dtype.itemsize > _LARGEST:
            raise CaseError(f"{descriptor.dataType} {descriptor.shape} is too large, a tensor may take {_LARGEST >> 20} MiB", "descriptor")
        if not self._filled and len(self.data) != size:
            raise CaseError(f"must be {size} numbers for the shape {descriptor.shape}, got {len(self.data)}", "data")
        return size

    def array(self) -> Array:
        """Decode the tensor; raises `CaseError` if the data do not fit the descriptor."""
        self.check_size()
        values = self._decode(self.descriptor.dtype)
        return np.full(self.descriptor.shape, values[0]) if self._filled else values.reshape(self.descriptor.shape)

    def flat(self, most_of_fill: int, *, exact: bool = False) -> Array:
        """Decode the flattened tensor; at most some elements where one number represents all.

        With `exact`, floating-point numbers are not rounded to the tensor's type; they come as float64.

        Raises:
            CaseError: The data do not fit the descriptor.
        """
        dtype = self.descriptor.dtype
        size = self.check_size()
        values = self._decode(np.dtype(np.float64) if exact and dtype.kind == "f" else dtype)
        return np.full(min(size, most_of_fill), values[0]) if self._filled else values

    def _decode(self, dtype: np.dtype[Any]) -> Array:
        data = [self.data] if self._filled else self.data
        if not set(map(type, data)) <= {int, float}:
            data = [decode_number(value, f"data[{index}]") for index, value in enumerate(data)]
        if dtype.kind == "f":
            try:
                with np.errstate(over="ignore"):
                    return np.array(data, np.float64).astype(dtype)
            except OverflowError:
                raise CaseError("a number is too large for a double", "data") from None
        limits = np.iinfo(dtype)
        for index, value in enumerate(data):
            # The comparison comes first: an infinity or a NaN is not an integer.
            if not limits.min <= value <= limits.max or int(value) != value:
                raise CaseError(f"must be an integer from {limits.min} to {limits.max}, got {value!r}", f"data[{index}]")
        return np.array([int(value) for value in data], dtype)


class Operator(Model):
    """A call of one of the builder's methods: positional arguments, options, and the names of its results."""

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
    """Check data of JSON or TOML against a model.

    Raises:
        CaseError: It does not fit; the message says where, below the path, and why.
    """
    try:
        return model.model_validate(value)
    except ValidationError as error:
        kind, place, demand, given = find_problem(error, {"model_type": "must be an object"})
        shown = "" if kind == "missing" else f", got {_show(given)}"
        more = f" (and {error.error_count() - 1} more)" if error.error_count() > 1 else ""
        raise CaseError(f"{demand[0].lower()}{demand[1:]}{shown}{more}", _join(path, write_path(place))) from None


def decode_argument(value: Any, find: Callable[[str], object]) -> Any:
    """Decode the JSON of an argument or an option; names of operands are looked up by a function."""
    match value:
        case list():
            elements = []
            for index, element in enumerate(value):
                with within(f"[{index}]"):
                    elements.append(decode_argument(element, find))
            return elements
        case {"operand": str(name)} if len(value) == 1:
            return find(name)
        case {"$bigint": _}:
            return decode_number(value)
        case dict():
            raise CaseError(f"must be {{'operand': NAME}} or {{'$bigint': DIGITS}}, got {_show(value)}")
    return float(value) if isinstance(value, str) and value in _SPECIAL else value


def decode_number(value: Any, path: str = "") -> int | float:
    """Decode a number of a tensor; raises `CaseError` for anything else."""
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
