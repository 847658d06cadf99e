"""A description as a graph that runs: inputs from files or from a seed, and the outputs."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np

import webnn
from webnn.builder.description import FormatError
from webnn.builder.npy import open_archive, read_array, read_header
from webnn.builder.regular import open_regular
from webnn.context.once import compute
from webnn.validation import webidl
from webnn.validation.descriptor import ML_DTYPES, NUMPY_DTYPES, SMALL_TYPES, OperandDescriptor, integer_range, is_float
from webnn.validation.drafts import find_revision

__all__ = ["build", "compute", "read_archive", "read_inputs", "seeded_inputs", "split_pairs"]

Array = np.ndarray[Any, np.dtype[Any]]
#: Seeded integers are small: they may be indices.
_INDICES = 8


def split_pairs(pairs: Sequence[str], names: Sequence[str], option: str) -> dict[str, Path]:
    """Split ``NAME=FILE``; for a graph of one input or output ``FILE`` is enough.

    Raises `ValueError` if a name is unknown or given twice.
    """
    found: dict[str, Path] = {}
    for pair in pairs:
        name, equals, file = pair.rpartition("=")
        if not equals or (name not in names and pair == file):
            name, file = (names[0], pair) if len(names) == 1 else ("", pair)
        if name not in names:
            raise ValueError(f"{option} must be NAME=FILE with one of the names {', '.join(map(webidl.describe, names))}, got {pair!r}")
        if name in found:
            raise ValueError(f"{option}: {webidl.describe(name)} must be given once")
        found[name] = Path(file)
    return found


def read_inputs(files: Mapping[str, Path], descriptors: Mapping[str, OperandDescriptor]) -> dict[str, Array]:
    """Read arrays of the inputs' types and shapes from files ``.npy``; nothing in a file is run.

    Raises:
        ValueError: A file is not such an array; the message names the file, what must hold, and what was given.
        OSError: A file cannot be read.
    """
    return {name: _read(file, name, descriptors[name]) for name, file in files.items()}


def read_archive(file: Path, descriptors: Mapping[str, OperandDescriptor]) -> dict[str, Array]:
    """Read arrays of the inputs' types and shapes from a file ``.npz``, by the names of the inputs; it may lack some.

    Raises:
        ValueError: The file is not such an archive, or has an array that is not an input; the message names the file and what must hold.
        OSError: The file cannot be read.
    """
    with open_archive(file) as (archive, _):
        members = {member.removesuffix(".npy"): member for member in archive.namelist()}
        unknown = [name for name in members if name not in descriptors]
        if unknown:
            inputs = ", ".join(map(webidl.describe, descriptors)) or "none"
            raise ValueError(f"{file}: its arrays must have names of inputs, {inputs}, got {webidl.describe(unknown[0])}")
        arrays = {}
        for name, member in members.items():
            with archive.open(member) as stream:
                arrays[name] = _parse(stream, file, name, descriptors[name])
        return arrays


def _read(file: Path, name: str, descriptor: OperandDescriptor) -> Array:
    with open_regular(file) as stream:
        return _parse(stream, file, name, descriptor)


def _parse(stream: IO[bytes], file: Path, name: str, descriptor: OperandDescriptor) -> Array:
    dtype, shape = NUMPY_DTYPES[descriptor.dataType], descriptor.array_shape
    if descriptor.dataType in ML_DTYPES:
        # A .npy has no such elements: their bits are given.
        dtype = np.dtype(f"u{dtype.itemsize}")
    expected = f"must be a .npy of {dtype.name} {list(shape)} for the input {webidl.describe(name)}"
    # The header is read first, so that no more is read than the array should have.
    try:
        header = read_header(stream, file)
        # uint8 carries bool.
        wanted = (np.dtype(np.bool_), dtype) if dtype == np.uint8 else (dtype,)
        if header.dtype not in wanted or header.shape != shape:
            raise ValueError(f"{file}: {expected}, got {header.dtype} {list(header.shape)}")
        array = read_array(stream, file, header)
    except FormatError as error:
        raise FormatError(f"{expected}: {error.message}", file) from None
    return np.array(array, order="C").view(NUMPY_DTYPES[descriptor.dataType]).reshape(shape)


def seeded_inputs(descriptors: Mapping[str, OperandDescriptor], seed: int, booleans: Collection[str] = ()) -> dict[str, Array]:
    """Return random inputs, the same for the same seed, names and descriptors.

    They are normal numbers, and integers from 0 to 7; those that are named as booleans are 0 and 1.
    """
    generators = {name: np.random.default_rng([seed, *name.encode("utf-8", "surrogatepass")]) for name in descriptors}
    return {name: _draw(generators[name], each, 2 if name in booleans else _INDICES) for name, each in descriptors.items()}


def _draw(generator: np.random.Generator, descriptor: OperandDescriptor, count: int) -> Array:
    dtype = NUMPY_DTYPES[descriptor.dataType]
    if descriptor.dataType in SMALL_TYPES:
        return generator.integers(0, 256, descriptor.array_shape, dtype=np.uint8)
    if is_float(descriptor.dataType):
        return np.asarray(generator.standard_normal(descriptor.shape), dtype)
    return np.asarray(generator.integers(0, min(count, integer_range(descriptor.dataType)[1] + 1), descriptor.shape), dtype)


def build(description: webnn.GraphDescription, **settings: Any) -> tuple[webnn.MLContext, webnn.MLGraph]:
    """Build a graph in a new context of its own draft.

    ``settings`` are arguments of `webnn.ML`. The context must be kept as long as the graph computes.
    """
    context = webnn.ML(revision=find_revision(description.draft), **settings).createContextSync()
    builder = webnn.MLGraphBuilder(context)
    return context, builder.buildSync(description.build(builder))
