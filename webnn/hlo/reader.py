"""Reads StableHLO: texts, MLIR bytecode, portable artifacts, and results of `jax.export`.

MLIR does the parsing, by the package jaxlib, the extra ``stablehlo``. It runs in a process of its own (`webnn.hlo.child`), because it does
not survive every file.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from webnn._extras import install_command
from webnn.builder.description import FormatError
from webnn.builder.regular import open_regular
from webnn.hlo import child
from webnn.hlo.decode import decode
from webnn.hlo.ir import Module
from webnn.hlo.text import parse_location
from webnn.hlo.types import TensorType

__all__ = ["StableHLOMissingError", "read"]

#: The most bytes of a source: MLIR needs several times as much memory for a text.
_MOST_TEXT, _MOST_BYTECODE = 1 << 30, 4 << 30
#: The memory that reading may take, in bytes, where the system can limit it: a constant part, and a multiple of the source.
_MEMORY, _MEMORY_FACTOR = 2 << 30, 8
#: How long reading may take, in seconds: a constant part, and one for each MB of the source.
_SECONDS, _SECONDS_PER_MB = 60.0, 0.5
_MAGIC = b"ML\xefR"
#: The errors of data that do not have the neutral form.
_NOT_NEUTRAL = (ValueError, LookupError, TypeError, AttributeError, OverflowError, RecursionError)
#: A character that every text with a function has, and a usual path has not.
_TEXT = re.compile(r'[\n{"]')


class StableHLOMissingError(ImportError):
    """The package that reads StableHLO is not installed."""


def read(
    source: str | bytes | bytearray | memoryview | os.PathLike[str] | Any,
    *,
    expand_composites: bool = False,
    shapes: Mapping[str, Sequence[int]] | None = None,
) -> Module:
    """Read a StableHLO program.

    Older versions are upgraded. Operations of CHLO and deprecated ones are replaced by those of StableHLO. A function that a
    device may have as one operation, such as ``chlo.erf``, becomes a composite with that name. Where an operation has no replacement, the
    program is read as it is.

    Args:
        source: A file; a text with a line break, a brace or a quotation mark; bytes of a text, of MLIR bytecode or of a portable artifact;
            or an object with ``mlir_module_serialized`` or ``mlir_module()``, such as ``jax.export.Exported``.
        expand_composites: Replace composites by calls of the functions that compute them.
        shapes: The shapes of arguments whose sizes the program leaves open, by their names; other sizes follow. It is read twice.

    Raises:
        FormatError: It is not a valid module, with the line and the column of a text; or a shape does not fit; or it takes too much
            memory or time.
        StableHLOMissingError: The package jaxlib is not installed.
        ImportError: A constant has elements that need a newer ml_dtypes.
        OSError: The file cannot be read.
        TypeError: The source is nothing of that.
    """
    data, file = _load(source)
    most = _MOST_BYTECODE if data.startswith(_MAGIC) else _MOST_TEXT
    if len(data) > most:
        raise FormatError(f"a module may have {most} bytes, got {len(data)}", file)
    composites = "expand" if expand_composites else "keep"
    module = _decode(_run(data, file, composites), file)
    if not shapes:
        return module
    return _decode(_run(data, file, composites, _order_shapes(module, shapes, file)), file)


def _decode(output: bytes, file: str) -> Module:
    try:
        return decode(output, file)
    except _NOT_NEUTRAL as error:
        raise FormatError(f"the module has no neutral form: {error}", file) from error


def _order_shapes(module: Module, shapes: Mapping[str, Sequence[int]], file: str) -> list[list[int] | None]:
    """Return the shape of each argument of the main function, None where none is given."""
    main = module.find("main") or (module.functions[0] if len(module.functions) == 1 else None)
    if main is None or main.body is None:
        raise FormatError("shapes can be given for a module with a function @main, or with one function", file)
    types = dict(zip(main.argument_names, main.type.inputs, strict=True))
    for name, shape in shapes.items():
        if name not in types:
            raise FormatError(f"shapes[{name!r}] must name an argument, there are: {', '.join(map(repr, types)) or 'none'}", file)
        type = types[name]
        known = type.shape if isinstance(type, TensorType) else None
        if known is None or len(known) != len(shape) or any(size not in (None, new) for size, new in zip(known, shape, strict=True)):
            raise FormatError(f"shapes[{name!r}] must fit {type}, got {list(shape)}", file)
        if any(size < 0 for size in shape):
            raise FormatError(f"shapes[{name!r}] must have sizes of 0 or greater, got {list(shape)}", file)
    return [list(shapes[name]) if name in shapes else None for name in types]


def _load(source: Any) -> tuple[bytes, str]:
    """Return the bytes of a source, and its name."""
    if isinstance(source, str) and _TEXT.search(source):
        return source.encode("utf-8", "surrogatepass"), "<text>"
    if isinstance(source, (str, os.PathLike)):
        with open_regular(source) as file:
            return file.readall(), os.fspath(source)
    if isinstance(source, (bytes, bytearray, memoryview)):
        return bytes(source), "<bytes>"
    serialized = getattr(source, "mlir_module_serialized", None)
    if isinstance(serialized, (bytes, bytearray)):
        return bytes(serialized), f"<{type(source).__name__}>"
    module = getattr(source, "mlir_module", None)
    text = module() if callable(module) else None
    if isinstance(text, str):
        return text.encode(), f"<{type(source).__name__}>"
    raise TypeError(
        f"the source must be a file, a text, bytes, or have mlir_module_serialized or mlir_module(), got {type(source).__name__}"
    )


def _run(data: bytes, file: str, composites: str, shapes: Sequence[Sequence[int] | None] = ()) -> bytes:
    """Let the other process read the module, and return its output."""
    if importlib.util.find_spec("jaxlib") is None:
        raise StableHLOMissingError(f"StableHLO programs need the package jaxlib: {install_command('stablehlo')}")
    memory = _MEMORY + _MEMORY_FACTOR * len(data)
    seconds = _SECONDS + _SECONDS_PER_MB * len(data) / 1e6
    try:
        command = [sys.executable, "-I", child.__file__, str(memory), composites, json.dumps(shapes)]
        ended = subprocess.run(command, input=data, capture_output=True, timeout=seconds, check=False)
    except subprocess.TimeoutExpired:
        raise FormatError(f"MLIR must read it within {seconds:.0f} s, and has not", file) from None
    if ended.returncode == child.MISSING:
        reason = ended.stderr.decode("utf-8", "replace").strip()
        raise StableHLOMissingError(f"StableHLO programs need the package jaxlib, which does not load: {reason}")
    if ended.returncode == child.FAILED:
        found = json.loads(ended.stdout)
        place = parse_location(found["location"], file)
        # MLIR says 0 for bytecode, where it has no lines.
        raise FormatError(found["message"].strip(), place.file or file, line=place.line, column=place.column, path=place.name)
    if ended.returncode:
        raise FormatError(f"MLIR does not survive it, or needs more than {memory} bytes of memory (exit code {ended.returncode})", file)
    return ended.stdout
