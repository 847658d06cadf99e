"""Buffers of `compute()`: the check of the views, and their transfer.

A transferred array is *detached*: its memory has moved to the array in the result, and using the old one again is an error. NumPy has no
such state, so detached memory is remembered here, by the object that owns it: the array at the end of the chain of bases, or the object
with the buffer protocol behind it. All arrays over one memory are detached together, as all views of one ``ArrayBuffer`` are.

The new array's owner is a `ctypes` array over the same memory: an object of its own, so that it is not detached with the old one.
"""

from __future__ import annotations

import ctypes
import threading
import weakref
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from webnn.validation import buffers
from webnn.validation.descriptor import NUMPY_DTYPES, OperandDescriptor

__all__ = ["BufferSlot", "Transfer", "check", "is_detached", "transfer"]

Array = np.ndarray[Any, np.dtype[Any]]

_ELEMENT_OF_MEMORY = ctypes.c_char


@dataclass(frozen=True, slots=True)
class BufferSlot:
    """A graph input or output, as the buffers see it.

    Attributes:
        name: Its name in the graph.
        value: Its ONNX name.
        descriptor: Its descriptor.
        dtype: The NumPy type of its elements.
        nbytes: Its byte length.
        memory: The `ctypes` type of memory of this length.
    """

    name: str
    value: str
    descriptor: OperandDescriptor
    dtype: np.dtype[Any]
    nbytes: int
    memory: Any

    @classmethod
    def of(cls, name: str, value: str, descriptor: OperandDescriptor) -> BufferSlot:
        """Make the slot of an input or output."""
        nbytes = descriptor.byte_length
        return cls(name, value, descriptor, NUMPY_DTYPES[descriptor.dataType], nbytes, _ELEMENT_OF_MEMORY * nbytes)


class Transfer(NamedTuple):
    """A checked view on its way: its memory, and the object that owns it."""

    slot: BufferSlot
    view: Array
    owner: Any
    #: A `ctypes` array over the view's memory: the new owner.
    memory: Any
    address: int


class _DetachedMemory:
    """The memory that was transferred, by the identity of its owner. Entries go when the owner goes."""

    __slots__ = ("_entries", "lock")

    def __init__(self) -> None:
        self._entries: dict[int, weakref.ref[Any]] = {}
        self.lock = threading.Lock()

    def __contains__(self, owner: object) -> bool:
        return id(owner) in self._entries

    def add(self, owner: Any, memory: Any) -> None:
        """Remember an owner; if it cannot be watched, as long as the new owner of its memory lives, which keeps it alive."""
        key = id(owner)
        entries = self._entries

        def forget(_: object) -> None:
            entries.pop(key, None)

        try:
            entries[key] = weakref.ref(owner, forget)
        except TypeError:
            entries[key] = weakref.ref(memory, forget)


#: Memory belongs to the process, not to a context, and so does the record of what was transferred.
_DETACHED = _DetachedMemory()


def _owner(view: Array) -> Any:
    """Return the object that owns a view's memory."""
    base = view.base
    while base is not None:
        if isinstance(base, np.ndarray):
            view, base = base, base.base
        elif isinstance(base, memoryview):
            exporter = base.obj
            if not isinstance(exporter, np.ndarray):
                return exporter
            view, base = exporter, exporter.base
        else:
            return base
    return view


def is_detached(view: Array) -> bool:
    """Tell whether an array's memory was transferred by an earlier `compute()`."""
    return _owner(view) in _DETACHED


def check(slot: BufferSlot, value: object) -> tuple[str, Transfer | None]:
    """Check a view: *validate buffer with descriptor*, and what this emulator needs to use the memory in place.

    Returns:
        An empty string and the checked view, or what is wrong.
    """
    if isinstance(value, np.ndarray):
        view: Array = value
    else:
        reason, converted = buffers.as_array(value)
        if converted is None:
            return reason, None
        view = converted
    if view.dtype != slot.dtype or view.nbytes != slot.nbytes:
        return buffers.mismatch(view, slot.descriptor), None
    owner = _owner(view)
    if owner in _DETACHED:
        return (
            "must not be detached: an earlier compute() transferred this memory; use the arrays of its result",
            None,
        )
    try:
        # A result of an earlier compute(), whole: go back to its source, or a loop would build an ever longer chain of owners.
        source = owner.source if type(owner) is slot.memory and hasattr(owner, "source") else view
        memory = slot.memory.from_buffer(source)
        memory.source = source
    except (TypeError, ValueError, BufferError):
        if not view.flags.c_contiguous:
            return "must be C-contiguous, got a strided view; pass numpy.ascontiguousarray(array)", None
        if not view.flags.writeable:
            return (
                "must be writeable, because its memory is transferred, got a read-only array; pass a copy",
                None,
            )
        raise
    return "", Transfer(slot, view, owner, memory, ctypes.addressof(memory))


def transfer(transfers: Sequence[Transfer]) -> tuple[str, str, list[Array]]:
    """*Transfer* all views, or none. `#mlnamedarraybufferviews-transfer-alg`.

    Returns:
        Two empty strings and the new arrays over the same memory; or the name of the view at fault and what is wrong.
    """
    with _DETACHED.lock:
        owners: set[int] = set()
        for each in transfers:
            owner = each.owner
            if owner in _DETACHED:
                return (
                    each.slot.name,
                    "must not be detached: another call transferred this memory meanwhile",
                    [],
                )
            if id(owner) in owners:
                return each.slot.name, "must not share memory with another view of this call", []
            owners.add(id(owner))
        # Different owners may still lie over one memory, if a program made them so.
        spans = sorted([(each.address, each.slot.nbytes, each.slot.name) for each in transfers])
        for index in range(1, len(spans)):
            address, length, _ = spans[index - 1]
            if address + length > spans[index][0]:
                return spans[index][2], "must not share memory with another view of this call", []
        for each in transfers:
            _DETACHED.add(each.owner, each.memory)
    return "", "", [np.ndarray(each.view.shape, each.slot.dtype, each.memory) for each in transfers]
