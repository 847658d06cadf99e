"""The memory of a session: the bytes of all that its page has made and keeps.

It counts memory, not handles: an array counts until nothing uses it, be it a tensor, a graph or a result that is on its way.
"""

from __future__ import annotations

import asyncio
import weakref
from collections import deque
from collections.abc import Iterable
from typing import Any

import numpy as np

import webnn
from webnn.javascript.calls import HostCall
from webnn.javascript.views import Array

__all__ = ["MEMORY", "Memory"]

#: The most bytes of a session by default. A page may have a constant of 2 GiB, and a tensor of that size.
MEMORY = 4 << 30
#: The bytes that objects need beside their arrays, as measured: an operand with options, a graph, and each operator of a graph.
_OBJECT, _GRAPH, _OPERATOR = 1 << 10, 1 << 16, 1 << 12
#: The operations whose results are arrays.
_COPIES = frozenset({"compute", "readTensor"})


class _Reference(weakref.ref[Any]):
    """A reference to something that is counted, with its identity and its size."""

    __slots__ = ("key", "size")
    key: int
    size: int


class Memory:
    """Counts the memory of a session. The session's thread calls all methods.

    Attributes:
        most: The most bytes that it may hold.
    """

    def __init__(self, most: int = MEMORY) -> None:
        self.most = most
        self._held = 0
        #: The counted objects, by their identity.
        self._living: dict[int, _Reference] = {}
        #: Counted objects that are gone. Any thread appends.
        self._gone: deque[_Reference] = deque()

    @property
    def held(self) -> int:
        """How many bytes the session holds."""
        while self._gone:
            gone = self._gone.popleft()
            self._held -= gone.size
            del self._living[gone.key]
        return self._held

    def run(self, call: HostCall, *, strict: bool) -> Any:
        """Carry out a call of the page, as `HostCall.run`. Raises `webnn.UnknownError` if there is no memory for the copy that it makes."""
        size = _size_of_copy(call) if call.member in _COPIES else 0
        if size:
            self._admit(call, size)
        result = call.run(strict=strict)
        if size and isinstance(result, asyncio.Future) and not result.done():
            # The copy itself counts once it is there.
            self._held += size
            result.add_done_callback(lambda _: self._add(-size))
        return result

    def keep(self, call: HostCall, text: str, result: Any) -> None:
        """Count the result of a call of the page, which it keeps from now on.

        Raises `webnn.UnknownError` if there is no memory for it; it does not count then.
        """
        held = self.held
        if type(result) is webnn.MLOperand and result._value is None and id(result) not in self._living:
            # The result of most calls, in the quickest way.
            size = _OBJECT + len(text)
            if held + size > self.most:
                self._admit(call, size)
            self._refer(result).size = size
            self._held = held + size
            return
        parts = [(each, self._grow(each, size)) for each, size in _parts(call, text, result)]
        if more := sum(size for _, size in parts):
            self._admit(call, more)
        for each, size in parts:
            if (reference := self._living.get(id(each))) is None:
                reference = self._refer(each)
            reference.size += size
        self._held = held + more

    def _refer(self, part: object) -> _Reference:
        """Begin to count a part, and return its reference, whose size is 0."""
        reference = self._living[id(part)] = _Reference(part, self._gone.append)
        reference.key, reference.size = id(part), 0
        return reference

    def _grow(self, part: object, size: int) -> int:
        """Return by how much a part grows, of which ``size`` bytes are used. Arrays of one memory count together, at most as all of it."""
        if (known := self._living.get(id(part))) is None:
            return size
        return max(0, min(size, part.nbytes - known.size)) if isinstance(part, np.ndarray) else 0

    def _add(self, size: int) -> None:
        self._held += size

    def _admit(self, call: HostCall, size: int) -> None:
        wanted = self.held + size
        if wanted > self.most:
            raise webnn.UnknownError(
                f"{call.member}: all that a page keeps must have at most {self.most:,} bytes (webnn serve --memory-limit), got {wanted:,}, "
                f"{size:,} of them by this call",
                operation=call.member,
                rule="memory",
            )


def _size_of_copy(call: HostCall) -> int:
    """Return how many bytes of results a call makes; 0 if its arguments are wrong."""
    first, *rest = call.values or [None]
    if isinstance(first, webnn.MLTensor):
        return first._descriptor.byte_length
    return sum(each.nbytes for given in rest if isinstance(given, dict) for each in given.values() if isinstance(each, np.ndarray))


def _parts(call: HostCall, text: str, result: Any) -> Iterable[tuple[Any, int]]:
    """Yield the parts of a result, each with the bytes of it that are used. Objects keep names, which the text of a call has."""
    if call.member in _COPIES:
        values = result["outputs"].values() if call.member == "compute" else [*call.values[1:], result]
        arrays: list[Array] = [each for each in values if isinstance(each, np.ndarray)]
    else:
        # Numbers, texts and dictionaries go to the page at once.
        made = [each for each in (result if isinstance(result, list | tuple) else [result]) if hasattr(type(each), "__weakref__")]
        for each in made:
            yield each, _size_of(each) + len(text)
        arrays = [array for each in made for array in _arrays(each)]
    for array in arrays:
        yield _root(array), array.nbytes


def _size_of(made: object) -> int:
    """Return how many bytes an object needs beside its arrays."""
    if isinstance(made, webnn.MLGraph):
        return _GRAPH + _OPERATOR * (0 if made._source is None else len(made._source.operators))
    return _OBJECT


def _arrays(made: Any) -> list[Array]:
    """Return the memory of a tensor, a constant, or a buffer of WebGPU."""
    if isinstance(made, webnn.MLTensor):
        return [] if made._memory is None else [made._memory.raw]
    held = getattr(made, "_value", getattr(made, "_bytes", None))
    return [held] if isinstance(held, np.ndarray) else []


def _root(array: Array) -> Array:
    """Return the array that lives as long as any view of the same memory."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array
