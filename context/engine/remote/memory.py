"""Memory that a program and the process of a context share: segments, and the tensors in them.

A segment has no name that could be left behind: it ends with the last mapping of it. On Linux it is a memfd, on other Unix systems a file
that is deleted at once, on Windows an object of the kernel.
"""

from __future__ import annotations

import itertools
import mmap
import os
import secrets
import sys
import tempfile
import threading
import weakref
from collections import deque
from typing import Any, NamedTuple

import numpy as np

from webnn.context.engine.memory import TensorMemory
from webnn.validation.descriptor import NUMPY_DTYPES, OperandDescriptor

Bytes = np.ndarray[Any, np.dtype[np.uint8]]

__all__ = ["Arena", "Place", "Segment", "SharedMemory"]

#: Values begin at multiples of this number of bytes, as those of the engine's own do.
_ALIGNMENT = 64
#: A larger value has a segment of its own, and with it a file descriptor in each process.
_SMALL = 1 << 20
#: The bytes of a segment for small values. The operating system allocates its pages on first use.
_CHUNK = 1 << 26


class Segment:
    """A piece of memory that two processes may have.

    Args:
        size: Its bytes, more than 0.
        source: The descriptor or the name of the other process's segment; by default the segment is new, and all zeros.

    Raises:
        MemoryError: There is no memory.
    """

    __slots__ = ("_descriptor", "_name", "map", "size")

    def __init__(self, size: int, source: int | str | None = None) -> None:
        self.size = size
        #: The descriptor, until the other process has it; on Windows the name.
        self._descriptor = -1
        self._name = ""
        try:
            if sys.platform == "win32":
                self._name = source if isinstance(source, str) else f"webnn-{secrets.token_hex(16)}"
                self.map = mmap.mmap(-1, size, self._name)
            else:
                self._descriptor = source if isinstance(source, int) else _make_file(size)
                self.map = mmap.mmap(self._descriptor, size)
        except OSError as error:
            self.close()
            raise MemoryError(f"no memory of {size:,} bytes can be shared: {error}") from error

    @property
    def name(self) -> str:
        """The name by which the other process opens it; empty where it has a descriptor."""
        return self._name

    @property
    def descriptor(self) -> int:
        """The descriptor by which the other process opens it; -1 where it has a name."""
        return self._descriptor

    def close(self) -> None:
        """Close the descriptor. The memory stays."""
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)

    def __del__(self) -> None:
        self.close()


def _make_file(size: int) -> int:
    """Make a file without a name."""
    if sys.platform != "linux":
        with tempfile.TemporaryFile() as file:
            file.truncate(size)
            return os.dup(file.fileno())
    import fcntl  # noqa: PLC0415 (Windows has none)

    descriptor = os.memfd_create("webnn", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    os.ftruncate(descriptor, size)
    # If the other process made it shorter, an access would end this one by SIGBUS.
    fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL)
    return descriptor


class Place(NamedTuple):
    """Bytes in a segment."""

    segment: int
    offset: int
    size: int


class Arena:
    """The shared memory of a context. Any thread may allocate.

    Attributes:
        segments: The segments in use, by their numbers.
        dropped: The numbers of those that are no longer in use, for the other process to forget.
    """

    __slots__ = ("__weakref__", "_arrays", "_chunk", "_free", "_lock", "_numbers", "dropped", "segments")

    def __init__(self) -> None:
        self._numbers = itertools.count(1)
        self.segments: dict[int, Segment] = {}
        #: The segment for small values, and where the next one begins.
        self._chunk = Place(0, _CHUNK, 0)
        #: Former small values by their sizes.
        self._free: dict[int, list[Place]] = {1 << power: [] for power in range(_SMALL.bit_length())}
        #: The arrays of what is in use, whose ends free it.
        self._arrays: dict[Place, weakref.ref[Bytes]] = {}
        self._lock = threading.Lock()
        self.dropped: deque[int] = deque()

    def allocate(self, size: int) -> tuple[Place, Bytes]:
        """Return new memory, all zeros, and an array of its bytes. It is free again when the array has ended, with all views of it.

        Raises:
            MemoryError: There is no memory.
        """
        with self._lock:
            place = self._take_small(size) if size <= _SMALL else Place(self.add(size), 0, size)
        array = np.frombuffer(self.segments[place.segment].map, np.uint8, place.size, place.offset)
        reference = weakref.ref(self)

        def end(_: object) -> None:
            # The garbage collector may call this while this thread holds the lock.
            arena = reference()
            if arena is not None:
                del arena._arrays[place]
                if place.size <= _SMALL:
                    arena._free[place.size].append(place)
                else:
                    arena.remove(place.segment)

        self._arrays[place] = weakref.ref(array, end)
        return place, array

    def add(self, size: int) -> int:
        """Add a segment, and return its number.

        Raises:
            MemoryError: There is no memory.
        """
        number = next(self._numbers)
        self.segments[number] = Segment(size)
        return number

    def remove(self, number: int) -> None:
        """Remove a segment."""
        del self.segments[number]
        self.dropped.append(number)

    def _take_small(self, size: int) -> Place:
        """Return a place for a small value. Places have sizes of powers of two, so that they fit again."""
        size = max(_ALIGNMENT, 1 << (size - 1).bit_length())
        if self._free[size]:
            place = self._free[size].pop()
            self.segments[place.segment].map[place.offset : place.offset + size] = bytes(size)
            return place
        if self._chunk.offset + size > _CHUNK:
            self._chunk = Place(self.add(_CHUNK), 0, 0)
        number, offset, _ = self._chunk
        self._chunk = Place(number, offset + size, 0)
        return Place(number, offset, size)


class SharedMemory(TensorMemory):
    """The memory of a tensor in a segment.

    Attributes:
        place: Where it is.
    """

    __slots__ = ("place",)

    def __init__(self, arena: Arena, descriptor: OperandDescriptor) -> None:
        self.place, array = arena.allocate(descriptor.byte_length)
        super().__init__(array[: descriptor.byte_length].view(NUMPY_DTYPES[descriptor.dataType]).reshape(descriptor.array_shape))
