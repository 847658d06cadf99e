"""How the rows of a data set become runs of a graph: which rows are one run, and which runs are one part."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from webnn.scale.parquet import open_parquet
from webnn.scale.rows import Rows, open_array, open_npy, open_npz
from webnn.validation import webidl
from webnn.validation.descriptor import NUMPY_DTYPES, SMALL_TYPES, OperandDescriptor, Shape
from webnn.validation.errors import WebNNTypeError

if TYPE_CHECKING:
    from webnn.builder.description import GraphDescription

__all__ = ["Plan", "make_plan", "open_data", "outputs_of", "wrong"]

#: By default a part has this number of bytes of rows, and at most this number of rows.
_PART_BYTES, _PART_ROWS = 16 << 20, 1024
_ARRAY, _DATA = ".npy", ".npy, .npz or .parquet"


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Which rows are one run, and which are one part.

    Attributes:
        together: How many rows one run takes; ``None`` if each row is a whole input.
        size: How many rows a part has; the last one may have fewer. A multiple of ``together``.
    """

    rows: int
    together: int | None
    size: int

    @property
    def parts(self) -> int:
        """How many parts there are."""
        return -(-self.rows // self.size)

    def part(self, index: int) -> tuple[int, int]:
        """Return the first row of a part, and that after its last one."""
        return index * self.size, min((index + 1) * self.size, self.rows)

    def runs(self, rows: int) -> Iterator[tuple[int, int]]:
        """Yield the runs of a part: their first row, and that after their last one. The last run may have to be padded."""
        step = self.together or 1
        for start in range(0, rows, step):
            yield start, min(start + step, rows)

    def result(self, descriptor: OperandDescriptor) -> Shape:
        """Return the shape of one row of an output."""
        return descriptor.array_shape if self.together is None else descriptor.array_shape[1:]


def wrong(argument: str, requirement: str, given: str = "") -> WebNNTypeError:
    """Return the error of an argument of `webnn.batch`."""
    return WebNNTypeError(f"batch: {argument} {requirement}{f', got {given}' if given else ''}", operation="batch", argument=argument)


def open_data(data: Any, inputs: Mapping[str, OperandDescriptor], folder: Callable[[], Path]) -> dict[str, Rows]:
    """Return the rows of each input.

    Raises:
        WebNNTypeError: Inputs are missing or unknown, or the data is of another kind.
        FormatError: A file is not what it should be.
        ImportError: The package that reads it is not installed.
        OSError: It cannot be read.
    """
    if not inputs:
        raise wrong("model", "must have an input", "a graph without one")
    if isinstance(data, Mapping):
        found = {name: _open_one(value, name, _ARRAY) for name, value in data.items()}
    elif isinstance(data, str | Path) and Path(data).suffix.lower() == ".npz":
        found = dict(open_npz(Path(data), folder))
    elif isinstance(data, str | Path) and Path(data).suffix.lower() == ".parquet":
        found = dict(open_parquet(Path(data), inputs))
    elif len(inputs) == 1:
        found = {name: _open_one(data, name, _DATA) for name in inputs}
    else:
        raise wrong("data", f"must be a mapping with the inputs {_names(inputs)}, or a file .npz or .parquet", webidl.describe(data))
    unknown = [name for name in found if name not in inputs]
    if unknown:
        raise wrong("data", f"must have the inputs {_names(inputs)}", webidl.describe(unknown[0]))
    missing = [name for name in inputs if name not in found]
    if missing:
        raise wrong("data", f"must have the inputs {_names(inputs)}, but lacks {_names(missing)}")
    return {name: found[name] for name in inputs}


def _open_one(value: Any, name: str, files: str) -> Rows:
    """Return the rows of one input: an array, or a file with one."""
    argument = f"data[{webidl.describe(name)}]"
    is_path = isinstance(value, str | Path)
    if not isinstance(value, np.ndarray) and not (is_path and Path(value).suffix.lower() == _ARRAY):
        raise wrong(argument, f"must be an array of NumPy, or a file {files}", webidl.describe(str(value) if is_path else value))
    if not isinstance(value, np.ndarray):
        return open_npy(Path(value))
    if value.ndim == 0:
        raise wrong(argument, "must have an axis that counts the samples", f"{value.dtype} []")
    return open_array(value)


def make_plan(
    inputs: Mapping[str, OperandDescriptor], outputs: Mapping[str, OperandDescriptor], rows: Mapping[str, Rows], size: Any
) -> Plan:
    """Decide which rows are one run, and which are one part. Raises `WebNNTypeError` if types, shapes or numbers of rows do not fit."""
    runs: dict[str, int | None] = {}
    for name, descriptor in inputs.items():
        found, argument = rows[name], f"data[{webidl.describe(name)}]"
        if found.dtype != NUMPY_DTYPES[descriptor.dataType]:
            raise wrong(argument, f"must have elements of {NUMPY_DTYPES[descriptor.dataType]}", str(found.dtype))
        runs[name] = _rows_of_a_run(descriptor, found, argument)
    first = next(iter(inputs))
    for name in inputs:
        where = f"data[{webidl.describe(name)}]"
        if rows[name].count != rows[first].count:
            raise wrong(where, f"must have as many rows as data[{webidl.describe(first)}], {rows[first].count}", str(rows[name].count))
        if runs[name] != runs[first]:
            raise wrong(where, f"must be {_kind(runs[first])}, as data[{webidl.describe(first)}] is", _kind(runs[name]))
    together = runs[first]
    if together is not None:
        for name, descriptor in outputs.items():
            if descriptor.dataType in SMALL_TYPES or not descriptor.shape or descriptor.shape[0] != together:
                raise wrong(
                    "data",
                    f"must have rows that are whole inputs: a run of {together} rows cannot be divided, because the output "
                    f"{webidl.describe(name)} has no first axis of {together}",
                    str(descriptor),
                )
    bytes_of_a_row = sum(each.dtype.itemsize * math.prod(each.shape) for each in rows.values())
    return Plan(rows=rows[first].count, together=together, size=_convert_size(size, together, bytes_of_a_row))


def _rows_of_a_run(descriptor: OperandDescriptor, rows: Rows, argument: str) -> int | None:
    whole = descriptor.array_shape
    shapes = [whole] if descriptor.dataType in SMALL_TYPES or not whole else [whole, whole[1:]]
    fitting = [shape for shape in shapes if rows.shape == shape]
    if rows.flat:
        fitting += [shape for shape in shapes if math.prod(rows.shape) == math.prod(shape)]
    if fitting:
        return None if fitting[0] is whole else whole[0]
    wanted = " or ".join([str(list(shape)) for shape in shapes])
    raise wrong(argument, f"must have rows of the shape {wanted}, of the input or of one of its rows", str(list(rows.shape)))


def _convert_size(value: Any, together: int | None, bytes_of_a_row: int) -> int:
    step = together or 1
    if value is None:
        return max(1, min(_PART_ROWS, _PART_BYTES // max(1, bytes_of_a_row)) // step) * step
    try:
        size = webidl.enforceRangeUnsignedLong(value)
    except webidl.ConversionError as error:
        raise wrong("batchSize", error.reason) from error.__cause__
    if size == 0 or size % step:
        raise wrong("batchSize", "must be at least 1" if step == 1 else f"must be a multiple of {step}, the rows of one run", str(size))
    return size


def _kind(together: int | None) -> str:
    return "rows that are whole inputs" if together is None else f"rows of which a run takes {together}"


def _names(names: Any) -> str:
    return ", ".join(map(webidl.describe, names))


def outputs_of(description: GraphDescription) -> dict[str, OperandDescriptor]:
    """Return the types and shapes of the outputs of a graph."""
    known = description.descriptors()
    return {name: known[value] for name, value in description.outputs.items()}
