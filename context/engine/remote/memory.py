"""Memory that a program and the process of a context share: segments, and the tensors in them.

A segment has no name that could be left behind: it ends with the last mapping of it. On Linux it is a memfd, on other Unix systems a file
that is deleted at once, on Windows an object of the kernel.
"""

from __future__ import annotations

import contextlib
import itertools
import mmap
import os
import secrets
import sys
import tempfile
import threading
import weakref
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from webnn.context.engine.memory import Array, TensorMemory
from webnn.validation.descriptor import NUMPY_DTYPES, OperandDescriptor

Bytes = np.ndarray[Any, np.dtype[np.uint8]]

__all__ = ["Arena", "Place", "Segment", "SharedMemory"]

#: Values begin at multiples of this number of bytes, as those of the engine's own do.
_ALIGNMENT = 64
#: A larger value has a segment of its own, and with it a file descriptor in each process.
_SMALL = 1 << 20
#: Larger values begin at a page, so that it can be given back. The size of a page divides this.
_PAGES = 1 << 16
#: The most bytes of a size that stay, even if less is in use.
_FREE = 1 << 20
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
        # An interrupt at the beginning of the constructor leaves it without attributes.
        with contextlib.suppress(AttributeError):
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


class _Class:
    """The places of one size.

    Attributes:
        arrays: The arrays of what is in use, whose ends free it.
        former: Free places with former values.
        clean: Free places that are all zeros.
    """

    __slots__ = ("arrays", "clean", "former")

    def __init__(self) -> None:
        self.arrays: dict[Place, weakref.ref[Bytes]] = {}
        self.former: list[Place] = []
        self.clean: list[Place] = []


class Arena:
    """The shared memory of a context. Any thread may allocate.

    Freed memory is used again for values of about the same size, with the other process's mapping of it. More free memory of a size than is
    in use goes back to the system: a cache that grows by the token leaves little behind.

    Attributes:
        segments: The segments in use, by their numbers.
        dropped: The numbers of those that are no longer in use, for the other process to forget.
    """

    __slots__ = ("__weakref__", "_chunk", "_classes", "_lock", "_numbers", "dropped", "segments")

    def __init__(self) -> None:
        self._numbers = itertools.count(1)
        self.segments: dict[int, Segment] = {}
        #: The segment for small values, and where the next one begins.
        self._chunk = Place(0, _CHUNK, 0)
        self._classes: dict[int, _Class] = {}
        self._lock = threading.Lock()
        self.dropped: deque[int] = deque()

    def allocate(self, size: int) -> tuple[Place, Bytes, bool]:
        """Return memory, an array of its bytes, and whether it may have former values. Otherwise it is all zeros.

        It is free again when the array has ended, with all views of it.

        Raises:
            MemoryError: There is no memory.
        """
        size = _round(size)
        with self._lock:
            found = self._classes.setdefault(size, _Class())
            former = _pop(found.former)
            place = former or _pop(found.clean) or (self._take_small(size) if size <= _SMALL else Place(self.add(size), 0, size))
        array = np.frombuffer(self.segments[place.segment].map, np.uint8, place.size, place.offset)
        reference = weakref.ref(self)

        def end(_: object) -> None:
            # The garbage collector may call this while this thread holds the lock.
            del found.arrays[place]
            found.former.append(place)
            arena = reference()
            if arena is not None:
                arena._give_back(found, size)

        found.arrays[place] = weakref.ref(array, end)
        return place, array, former is not None

    def _give_back(self, found: _Class, size: int) -> None:
        """Give free memory back to the system, if more of it is free than in use."""
        most = max(_FREE // size, len(found.arrays))
        while size >= _PAGES and len(found.former) > most and (place := _pop(found.former)) is not None:
            if size > _SMALL:
                self.remove(place.segment)
            elif _clear(self.segments[place.segment], place):
                found.clean.append(place)
            else:
                found.former.append(place)
                break

    def add(self, size: int) -> int:
        """Add a segment, and return its number.

        Raises:
            MemoryError: There is no memory.
        """
        number = next(self._numbers)
        self.segments[number] = Segment(size)
        return number

    @contextlib.contextmanager
    def lend(self, size: int) -> Iterator[int]:
        """Add a segment for the time of a block, and yield its number. The process may have a mapping of its own.

        Raises:
            MemoryError: There is no memory.
        """
        number = next(self._numbers)
        try:
            self.segments[number] = Segment(size)
            yield number
        finally:
            self.segments.pop(number, None)

    def remove(self, number: int) -> None:
        """Remove a segment."""
        del self.segments[number]
        self.dropped.append(number)

    def _take_small(self, size: int) -> Place:
        """Return a new place for a small value."""
        number, offset, _ = self._chunk
        if size >= _PAGES:
            offset = -(-offset // mmap.PAGESIZE) * mmap.PAGESIZE
        if offset + size > _CHUNK:
            number, offset = self.add(_CHUNK), 0
        self._chunk = Place(number, offset + size, 0)
        return Place(number, offset, size)


def _round(size: int) -> int:
    """Return the size of the place for a value, so that places fit again: a power of two, above a limit at most an eighth more."""
    if size <= _SMALL:
        return max(_ALIGNMENT, 1 << (size - 1).bit_length())
    step = 1 << ((size - 1).bit_length() - 4)
    return -(-size // step) * step


def _pop(places: list[Place]) -> Place | None:
    """Take a place that was freed last; ``None`` if there is none. Another thread may take one at any time."""
    try:
        return places.pop()
    except IndexError:
        return None


def _clear(segment: Segment, place: Place) -> bool:
    """Give the pages of a place back to the system, which has zeros there from then on; tell whether it does that."""
    advice = getattr(mmap, "MADV_REMOVE", None)
    if advice is None:
        return False
    try:
        segment.map.madvise(advice, place.offset, place.size)
    except OSError:
        return False
    return True


class SharedMemory(TensorMemory):
    """The memory of a tensor in a segment. It is made zero when it is read, unless it was written before.

    A device may have newer numbers than the memory. They are fetched when the memory is read.

    Attributes:
        place: Where it is.
        isChanged: The program may have written it since the last dispatch with it.
    """

    __slots__ = ("_fetch", "_isFormer", "_memory", "isChanged", "place")

    def __init__(self, arena: Arena, descriptor: OperandDescriptor) -> None:
        #: Fetches the numbers of the device; ``None`` if it has no newer ones.
        self._fetch: Callable[[Place], None] | None = None
        self.isChanged = True
        self.place, array, self._isFormer = arena.allocate(descriptor.byte_length)
        super().__init__(array[: descriptor.byte_length].view(NUMPY_DTYPES[descriptor.dataType]).reshape(descriptor.array_shape))

    @property
    def array(self) -> Array:
        """The memory, to be read or written. Only jobs of the timeline may ask for it: it gets its numbers now."""
        self._complete()
        self.isChanged = True
        return self._memory

    @array.setter
    def array(self, array: Array) -> None:
        self._memory = array

    @property
    def raw(self) -> Array:
        """The memory, even if a device has newer numbers."""
        return self._memory

    def settle(self) -> None:
        """Make it zero, unless it was written."""
        if self._isFormer:
            self._memory.fill(0)
            self._isFormer = False

    @property
    def isAway(self) -> bool:
        """Tell whether the next read has to wait for a device."""
        return self._fetch is not None

    def _complete(self) -> None:
        """Have all numbers in the memory."""
        self.settle()
        if self._fetch is not None:
            self._fetch(self.place)
            self._fetch = None

    def replace(self) -> None:
        """Learn that all of it is about to be written by the program."""
        self._isFormer, self._fetch, self.isChanged = False, None, True

    def leave(self, fetch: Callable[[Place], None] | None) -> None:
        """Learn that all of it is about to be written by a dispatch, and how its numbers are fetched, if they stay on a device."""
        self._isFormer, self._fetch, self.isChanged = False, fetch, False

    def read(self) -> Array:
        """Return a copy."""
        self._complete()
        return self._memory.copy()

    def copy_to(self, target: Array) -> None:
        """Copy to an array of the same type and shape."""
        self._complete()
        target[...] = self._memory

    def write(self, source: Array) -> None:
        """Copy the bytes of an array of the same byte length, in row-major order."""
        self.replace()
        super().write(source)

    def fill(self, source: Array) -> None:
        """Copy an array of the same type and shape."""
        self.replace()
        super().fill(source)
