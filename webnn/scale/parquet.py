"""The columns of a Parquet file as rows: numbers, and lists of a fixed size."""

from __future__ import annotations

import itertools
import os
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np

from webnn._extras import install_command
from webnn.builder.description import FormatError
from webnn.builder.regular import open_regular
from webnn.scale.rows import Array, Rows, file_identity
from webnn.validation.descriptor import Shape

__all__ = ["ParquetRows", "open_parquet"]

#: How many bytes of a column are read from the file at once.
_BUFFER = 1 << 20
#: Types that NumPy names otherwise. (`to_pandas_dtype` of older versions needs pandas.)
_FLOATS: Mapping[str, str] = MappingProxyType({"halffloat": "float16", "float": "float32", "double": "float64"})


@dataclass(frozen=True, slots=True, kw_only=True)
class ParquetRows(Rows):
    """A column.

    Attributes:
        starts: The first row of each row group, and the number of all rows.
    """

    flat: ClassVar[bool] = True

    path: str
    size: int
    changed: int
    column: str
    starts: tuple[int, ...]

    def source(self) -> Mapping[str, Any]:
        """Return the column, and the file's size and time of change."""
        return {"column": self.column, "size": self.size, "changed": self.changed}

    def read(self, start: int, stop: int) -> Array:
        """Return some rows."""
        return _READERS.reader(self).read(start, stop)


class _Reader:
    """Reads a column forward. Parts come in order, so that no row is decoded twice by a thread, and few are in memory."""

    def __init__(self, rows: ParquetRows) -> None:
        self.rows = rows
        self._file = _load().ParquetFile(rows.path, buffer_size=_BUFFER)
        self._error = _arrow_error()
        self._place = 0
        self._left: Array = np.empty(0)
        self._pieces: Any = iter(())

    def read(self, start: int, stop: int) -> Array:
        """Return some rows."""
        rows, groups = self.rows, len(self.rows.starts) - 1
        group = next((index for index in reversed(range(groups)) if rows.starts[index] <= start), 0)
        if start < self._place or rows.starts[group] > self._place or not self._place:
            self._place, self._left = rows.starts[group], np.empty((0, *rows.shape), rows.dtype)
            self._pieces = self._file.iter_batches(max(1, stop - start), range(group, groups), [rows.column])
        found = np.empty((stop - start, *rows.shape), rows.dtype)
        filled = 0
        while filled < len(found):
            if not len(self._left):
                try:
                    piece = next(self._pieces, None)
                except self._error as error:  # older versions cannot read lists that lack in some rows
                    raise FormatError(f"must have a column {rows.column!r} with a value in every row: {error}", rows.path) from None
                if piece is None:
                    raise FormatError(f"must have {rows.count} rows, but is shorter", rows.path)
                self._left = _values(piece.column(0), rows)
            skipped = min(max(0, start - self._place), len(self._left))
            taken = self._left[skipped : skipped + len(found) - filled]
            found[filled : filled + len(taken)] = taken
            filled += len(taken)
            self._left = self._left[skipped + len(taken) :]
            self._place += skipped + len(taken)
        return found


class _Readers(threading.local):
    """The readers of a thread: of the columns that it read last."""

    def __init__(self) -> None:
        self._open: dict[ParquetRows, _Reader] = {}

    def reader(self, rows: ParquetRows) -> _Reader:
        """Return the reader of a column."""
        if rows not in self._open:
            # Rows of another file belong to an earlier job.
            self._open = {each: reader for each, reader in self._open.items() if each.path == rows.path}
            self._open[rows] = _Reader(rows)
        return self._open[rows]


_READERS = _Readers()


def open_parquet(path: Path, columns: Mapping[str, Any]) -> dict[str, ParquetRows]:
    """Return the rows of some columns.

    Raises:
        ImportError: The package of the extra ``parquet`` is not installed.
        FormatError: The file is not a Parquet file, lacks a column, or has neither numbers nor lists of a fixed size in it.
        OSError: It cannot be read.
    """
    parquet = _load()
    import pyarrow  # noqa: PLC0415 (as in `_load`)

    try:
        with open_regular(path), parquet.ParquetFile(path) as file:
            schema, groups = file.schema_arrow, [file.metadata.row_group(index).num_rows for index in range(file.metadata.num_row_groups)]
    except pyarrow.ArrowException as error:
        raise FormatError(f"must be a Parquet file: {error}", path) from None
    identity = file_identity(path)
    starts = tuple(itertools.accumulate(groups, initial=0))
    found: dict[str, ParquetRows] = {}
    for name in columns:
        if schema.names.count(name) != 1:
            raise FormatError(f"must have one column {name!r}, got the columns {schema.names}", path)
        shape: Shape = ()
        kind = schema.field(name).type
        kind = getattr(kind, "storage_type", kind)
        while pyarrow.types.is_fixed_size_list(kind):
            shape, kind = (*shape, kind.list_size), kind.value_type
        if not (pyarrow.types.is_integer(kind) or pyarrow.types.is_floating(kind)):
            raise FormatError(f"must have numbers, or lists of a fixed size, in the column {name!r}, got {schema.field(name).type}", path)
        dtype = np.dtype(_FLOATS.get(str(kind), str(kind)))
        whole = (starts[-1], *shape)
        found[name] = ParquetRows(
            dtype=dtype,
            whole=whole,
            path=os.path.abspath(path),
            size=identity["size"],
            changed=identity["changed"],
            column=name,
            starts=starts,
        )
    return found


def _values(column: Any, rows: ParquetRows) -> Array:
    """Return the elements of a piece of a column."""
    count = len(column)
    column = getattr(column, "storage", column)
    for _ in range(len(rows.shape) + 1):
        if column.null_count:
            raise FormatError(f"must have a value in every row of the column {rows.column!r}, but lacks some", rows.path)
        if hasattr(column, "values") and hasattr(column.type, "list_size"):
            column = column.flatten()
    array: Array = column.to_numpy(zero_copy_only=False)
    return array.reshape(count, *rows.shape)


def _arrow_error() -> type[Exception]:
    import pyarrow  # noqa: PLC0415 (as in `_load`)

    error: type[Exception] = pyarrow.ArrowException
    return error


def _load() -> Any:
    # Imported when it is used: it is heavy, and an extra.
    try:
        import pyarrow.parquet  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise ImportError(f"Parquet needs the package pyarrow: {install_command('parquet')}") from error
    return pyarrow.parquet
