"""Digests: of memory, and the key of a stored model, which has everything in it that the optimized form depends on."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import itertools
import platform
import struct
import sys
import threading
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from webnn.context.devices.selection import usable_cores
from webnn.context.engine import runtime

__all__ = ["crc32", "digest", "make_key", "sha256"]

Array = np.ndarray[Any, np.dtype[Any]]

#: To be raised if the sessions of stored models are configured in another way than before.
_FORMAT = 1
#: Memory is hashed in pieces of this length, by several threads if it is longer than `_THREADED`.
_PIECE = 2**20
_THREADED = 2**22
_MOST_THREADS = 8
#: The lines of /proc/cpuinfo that say what a processor can do; others differ from one moment to the next.
_CPU_FIELDS = frozenset(
    {
        *("vendor_id", "cpu family", "model", "model name", "stepping", "flags"),
        *("Features", "CPU implementer", "CPU architecture", "CPU variant", "CPU part", "CPU revision"),
        *("cpu", "isa", "uarch"),
    }
)


def sha256(piece: Array) -> bytes:
    """Hash bytes: nobody can find others with the same hash.

    Of the standard library's functions of this kind it is the fastest on processors that have it in hardware: 1.4 GB/s on one core, where
    BLAKE2b has 0.8.
    """
    return hashlib.sha256(piece.data).digest()


def crc32(piece: Array) -> bytes:
    """Sum bytes up, to find damage: 4 GB/s."""
    return zlib.crc32(piece.data).to_bytes(4, "little")


def digest(memory: Sequence[Array], function: Callable[[Array], bytes] = sha256) -> bytes:
    """Return a digest of arrays of bytes, with their lengths: the SHA-256 hash of what a function makes of their pieces."""
    pieces = [array[start : start + _PIECE] for array in memory for start in range(0, array.nbytes, _PIECE)]
    digests = [b""] * len(pieces)
    numbers = itertools.count()

    def work() -> None:
        # The counter gives each number to one thread.
        while (number := next(numbers)) < len(pieces):
            digests[number] = function(pieces[number])

    size = sum(array.nbytes for array in memory)
    helpers = min(usable_cores(), _MOST_THREADS, size // _THREADED) - 1
    threads: list[threading.Thread] = []
    # A process that ends, or has too many threads, can start no more: the others do the work.
    with contextlib.suppress(RuntimeError):
        for _ in range(helpers):
            thread = threading.Thread(target=work, daemon=True)
            thread.start()
            threads.append(thread)
    work()
    for thread in threads:
        thread.join()
    # A thread that failed leaves a piece undone.
    digests = [each or function(piece) for each, piece in zip(digests, pieces, strict=True)]
    lengths = struct.pack(f"<{len(memory) + 1}Q", len(memory), *(array.nbytes for array in memory))
    return hashlib.sha256(lengths + b"".join(digests)).digest()


def make_key(content: bytes, weights: Sequence[tuple[str, Array]], settings: str) -> bytes:
    """Return the key of a model.

    Args:
        content: The model, without the weights.
        weights: The name and the bytes of each weight.
        settings: The options of the session, and its providers.
    """
    described = "\0".join((str(_FORMAT), _engine(), _processor(), settings, *(name for name, _ in weights)))
    return digest([_bytes(described.encode()), _bytes(content), *(data for _, data in weights)])


def _bytes(data: bytes) -> Array:
    return np.frombuffer(data, np.uint8)


@functools.cache
def _engine() -> str:
    """Return the engine's version, and how it was built."""
    build = getattr(runtime.load(), "get_build_info", None)
    return f"{runtime.version()} {'' if build is None else build()}"


@functools.cache
def _processor() -> str:
    """Describe the processor: the optimizer lays weights out for its vector instructions."""
    found = [sys.platform, platform.machine(), str(_vector_instructions())]
    info = Path("/proc/cpuinfo")
    if info.exists():
        # Of the first processor: the kernel writes only the part of the file that is read.
        with info.open(errors="replace") as stream:
            first = itertools.takewhile(str.strip, stream)
            found += [line.strip() for line in first if line.partition(":")[0].strip() in _CPU_FIELDS]
    else:
        found.append(_apple_processor() if sys.platform == "darwin" else platform.processor())
    return "\n".join(found)


def _vector_instructions() -> Any:
    """Return what NumPy knows of the processor's vector instructions."""
    return np.show_config(mode="dicts")["SIMD Extensions"]


def _apple_processor() -> str:
    """Return the name of the processor of a Mac."""
    import ctypes  # noqa: PLC0415 (on macOS only)

    name, size = ctypes.create_string_buffer(256), ctypes.c_size_t(256)
    failed = ctypes.CDLL(None).sysctlbyname(b"machdep.cpu.brand_string", name, ctypes.byref(size), None, 0)
    return "" if failed else name.value.decode(errors="replace")
