"""Buffers of `compute()`: the check of the views, and their transfer.

A transferred array is *detached*: its memory has moved to the array in the result, and using the old one again is an error. NumPy has no
such state, so it is kept with the object that owns the memory: the array at the end of the chain of bases, or the object with the buffer
protocol behind it. All arrays over one memory are detached together, as all views of one ``ArrayBuffer`` are.

The new array's owner is a `TransferredMemory` over the same memory, an object of its own, so that it is not detached with the old one. It
knows which of the arrays made over it is the last one: that one has the memory, the earlier ones are detached.

An input that comes by DLPack is not transferred, only read: nothing could tell its library, or another export, that it is detached.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeGuard

import numpy as np
from numpy import ndarray

from webnn.context.timeline import Living
from webnn.validation import buffers
from webnn.validation.descriptor import NUMPY_DTYPES, OperandDescriptor
from webnn.validation.errors import Requirement, argument_error

__all__ = [
    "DETACHED_REASON",
    "BufferSlot",
    "Checked",
    "Moves",
    "TransferredMemory",
    "check",
    "copy_bytes",
    "detached_reason",
    "fits",
    "pass_on",
    "read_only",
    "source",
    "take_back",
    "transfer",
    "unwritable_reason",
]

Array = np.ndarray[Any, np.dtype[Any]]

DETACHED_REASON = Requirement(
    "detached", "must not be detached: an earlier compute() transferred its memory; use the arrays of that result"
)
_DETACHED_VIEW = Requirement(
    "detached",
    "must not be detached: it is a view of an array whose whole memory an earlier compute() transferred; pass a copy each time, such as "
    "array[i].copy(), or use the arrays of that result",
)
_OVERLAP = Requirement("overlap", "must not share memory with another view of this call")


class TransferredMemory(ndarray[Any, np.dtype[Any]]):
    """Memory that a transfer made: an array over memory of the program. The arrays of a result are views of it.

    It is of a class of its own, so that NumPy takes it for the base of such a view, and the view for the base of the view's own views.

    Attributes:
        claim: A list of one number, the identity of the array that has the memory; empty while the memory is transferred, and once it went
            to another owner. Taking the number out of the list is atomic: only one thread can transfer the memory.
        address: The memory's address.
        length: Its length in bytes. This and the next two are kept because an array makes them anew for each access.
        layout: Its shape.
        kind: Its type.
        alone: The memory cannot have another owner, because it belonged to a NumPy array.
    """

    __slots__ = ("address", "alone", "claim", "kind", "layout", "length")

    alone: bool
    claim: list[int]
    address: int
    kind: np.dtype[Any]
    layout: tuple[int, ...]
    length: int

    def __array_finalize__(self, _: object) -> None:
        # An array that a program makes of such an array has no memory to transfer.
        self.claim = []
        self.alone = False

    @classmethod
    def over(cls, view: Array, source: Any, slot: BufferSlot, address: int, *, alone: bool) -> Array:
        """Make the memory of a view; return the array that has it, of the view's shape and the slot's type.

        Args:
            view: The view.
            source: An object with a buffer of the same bytes. It is not an array: NumPy would take it for the base of the new array.
            slot: The input or output.
            address: The view's address.
            alone: As above.
        """
        memory = cls(view.shape, slot.dtype, source)
        memory.address, memory.length, memory.layout, memory.kind, memory.alone = address, slot.nbytes, view.shape, slot.dtype, alone
        array = memory.view(ndarray)
        memory.claim = [id(array)]
        return array


@dataclass(frozen=True, slots=True)
class Lent:
    """The owner of an input's memory that is only read: what the program gave."""

    value: object


# Not frozen: that would take three times as long, and a graph of many sizes makes slots for each set of sizes.
@dataclass(slots=True, eq=False)
class BufferSlot:
    """A graph input or output, as the buffers see it. It does not change.

    Attributes:
        value: Its ONNX name.
        index: Its number among the inputs and outputs of the graph.
    """

    name: str
    value: str
    index: int
    descriptor: OperandDescriptor
    dtype: np.dtype[Any]
    nbytes: int

    @classmethod
    def of(cls, name: str, value: str, index: int, descriptor: OperandDescriptor) -> BufferSlot:
        """Make the slot of an input or output."""
        return cls(name, value, index, descriptor, NUMPY_DTYPES[descriptor.dataType], descriptor.byte_length)

    def over(self, address: int) -> Array:
        """Return an array over the memory at an address, which something else must keep alive."""
        memory: Any = (ctypes.c_char * self.nbytes).from_address(address)
        return ndarray(self.descriptor.array_shape, self.dtype, memory)


#: The notes of a call about its transfers, to undo them after an interrupt. Each is made just before its transfer: the claim of an owner,
#: the array that has it, and the array that gets it; or the key in `_DETACHED`, and the entry. The claim tells if there was a transfer.
Moves = list[tuple[Any, Any, Any]]

#: A checked view on its way: its slot, the view, the memory's owner, the array that lies right over the owner, and the address. A plain
#: tuple, because one is made for each view of each call.
Checked = tuple[BufferSlot, Array, Any, Array, int]


#: The owners of detached memory that are not ours, until they die. Memory belongs to the process, not to a context, and so does the record
#: of its transfer.
_DETACHED: Living[Any] = Living()


def take_back(moves: Moves) -> None:
    """Undo transfers: the former arrays have the memory again. A transfer that was noted only, or is undone already, stays as it is."""
    entries = _DETACHED.entries
    for place, former, heir in moves:
        if isinstance(place, int):
            if entries.get(place) is former:
                entries.pop(place, None)
        elif not place or place == [heir]:
            place[:] = (former,)
    moves.clear()


def _owner(view: Array) -> tuple[Any, Array]:
    """Return the object that owns a view's memory, and the array right over it: the owner itself, if an array owns its memory."""
    base = view.base
    while base is not None:
        if type(base) is TransferredMemory:
            return base, view
        if isinstance(base, np.ndarray):
            view, base = base, base.base
        elif isinstance(base, memoryview):
            exporter = base.obj
            if not isinstance(exporter, np.ndarray):
                return exporter, view
            view, base = exporter, exporter.base
        else:
            return base, view
    return view, view


def _exporter(view: Array) -> Any:
    """Return an object that is not an array, over a view's memory, which it keeps alive."""
    memory: Any = view
    return (ctypes.c_char * view.nbytes).from_buffer(memory)


def detached_reason(view: Array) -> str:
    """Say that an array's memory was transferred by an earlier `compute()`; empty if it was not."""
    if view.base is None:
        return DETACHED_REASON if view in _DETACHED else ""
    owner, top = _owner(view)
    return _say_detached(view, top) if _is_taken(owner, top) else ""


def unwritable_reason(view: Array) -> str:
    """Say why bytes cannot be written to a buffer. Only the last reason exists in JavaScript too."""
    if not view.flags.writeable:
        return Requirement("writeable", "must be writeable, got a read-only array")
    if not view.flags.c_contiguous:
        return Requirement("layout", "must be C-contiguous, got a strided view")
    return detached_reason(view)


class _Shaped(Protocol):
    """Anything with a type and a shape."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]


def fits(view: object, target: _Shaped) -> TypeGuard[Array]:
    """Tell whether something is an array of the target's type and shape that has memory of its own, or is a view of such an array.

    This is a quick way to say that its bytes can be read; what does not fit may still be right.
    """
    if type(view) is not ndarray or view.dtype is not target.dtype or view.shape != target.shape:
        return False
    owner = view if view.base is None else view.base
    return type(owner) is ndarray and owner.base is None and id(owner) not in _DETACHED.entries


def _say_detached(view: Array, top: Array) -> str:
    """Return the reason for a view whose memory is taken; a part of an array has its own text."""
    return DETACHED_REASON if view is top else _DETACHED_VIEW


def _is_taken(owner: Any, top: Array) -> bool:
    """Tell whether the array right over an owner lost its memory."""
    return owner.claim != [id(top)] if isinstance(owner, TransferredMemory) else owner in _DETACHED


def copy_bytes(source: Array, target: Array) -> None:
    """Copy an array's bytes, in row-major order, to the beginning of another one, which is C-contiguous and at least as long."""
    target.reshape(-1).view(np.uint8)[: source.nbytes] = np.ascontiguousarray(source).reshape(-1).view(np.uint8)


def read_only(arrays: Mapping[str, Array]) -> dict[str, Array]:
    """Return views that cannot be written to."""
    views = {name: array.view() for name, array in arrays.items()}
    for view in views.values():
        view.flags.writeable = False
    return views


def source(operation: str, anchor: str, value: object) -> Array:
    """Convert to ``AllowSharedBufferSource``: an array over the bytes to be read."""
    if type(value) is np.ndarray:
        return value
    reason, view = buffers.as_array(value)
    if view is None:
        raise argument_error(operation, "inputData", reason, anchor=anchor)
    return view


def check(slot: BufferSlot, value: object, *, written: bool = False) -> Checked | str:
    """Check a view: *validate buffer with descriptor*, and what this emulator needs to use the memory in place.

    Returns:
        The checked view, or what is wrong.
    """
    lent = False
    if type(value) is np.ndarray:
        view: Array = value
    else:
        reason, converted = buffers.as_array(value, written=written)
        if converted is None:
            return reason
        view, lent = converted, not written and buffers.exports_dlpack(value)
    dtype = view.dtype
    if (dtype is not slot.dtype and dtype != slot.dtype) or view.nbytes != slot.nbytes:
        return buffers.elements_mismatch(view, slot.descriptor)
    flags = view.flags
    if not flags.c_contiguous:
        advice = "tensor.contiguous()" if lent else "numpy.ascontiguousarray(array)"
        return Requirement("layout", f"must be C-contiguous, got a strided view; pass {advice}")
    if lent:
        return slot, view, Lent(value), view, view.ctypes.data
    if not flags.writeable:
        return Requirement("writeable", "must be writeable, because its memory is transferred, got a read-only array; pass a copy")
    owner: Any = view.base
    if type(owner) is TransferredMemory:
        # The whole result of an earlier compute(), as loops usually pass it.
        return (slot, view, owner, view, owner.address) if owner.claim == [id(view)] else DETACHED_REASON
    owner, top = _owner(view)
    if _is_taken(owner, top):
        return _say_detached(view, top)
    return slot, view, owner, top, ctypes.addressof(ctypes.c_char.from_buffer(view))  # type: ignore[arg-type]  # an array has a buffer


def transfer(
    given: Sequence[Checked], wanted: Sequence[Checked], moves: Moves
) -> tuple[dict[str, Array], dict[str, Array]] | tuple[str, Requirement]:
    """*Transfer* all views of a call, of inputs and outputs, or none. `#mlnamedarraybufferviews-transfer-alg`.

    Args:
        given: The views of the inputs.
        wanted: The views of the outputs.
        moves: The notes of the call.

    Returns:
        The new arrays over the same memory, by name, for both; or the name of the view at fault and what is wrong.
    """
    # The values by name. An input that was only read is returned unchanged, and may be something other than an array.
    inputs: dict[str, Any] = {}
    outputs: dict[str, Any] = {}
    foreign = False
    for views, arrays in ((given, inputs), (wanted, outputs)):
        for slot, view, owner, top, address in views:
            if isinstance(owner, TransferredMemory):
                claim, former = owner.claim, id(top)
                whole = owner.length == slot.nbytes and owner.kind is slot.dtype and owner.layout == view.shape
                array = owner.view(ndarray) if whole else None
                shared = any(place is claim for place, _, _ in moves)
                moves.append((claim, former, id(array)))
                try:
                    claim.remove(former)
                except ValueError:
                    # After the check of the view, another view of this call or another thread took the memory.
                    moves.pop()
                    return _refuse(moves, slot.name, shared=shared)
                foreign = foreign or not owner.alone
                if array is not None:
                    claim.append(id(array))
                elif owner.length != slot.nbytes:
                    array = TransferredMemory.over(view, _exporter(view), slot, address, alone=owner.alone)
                else:
                    # As a whole, but with another type or shape: there is no chain of owners.
                    array = TransferredMemory.over(view, owner.base, slot, address, alone=owner.alone)
                arrays[slot.name] = array
            elif type(owner) is Lent:
                foreign = True
                arrays[slot.name] = owner.value
            else:
                alone = type(owner) is np.ndarray
                foreign = foreign or not alone
                array = TransferredMemory.over(view, _exporter(view), slot, address, alone=alone)
                key, entry = id(owner), _DETACHED.entry(owner, array.base)
                shared = any(place == key for place, _, _ in moves)
                moves.append((key, entry, None))
                if not _DETACHED.add(owner, entry):
                    return _refuse(moves, slot.name, shared=shared)
                arrays[slot.name] = array
    # A NumPy array's own memory has one owner, before a transfer and after it; other owners may lie over one memory.
    if foreign:
        spans = sorted((address, slot.nbytes, slot.name, type(owner) is Lent) for slot, _, owner, _, address in (*given, *wanted))
        # Where the views so far end: those that were transferred, and all. Views that are only read may share memory.
        transferred = every = 0
        for address, length, name, read in spans:
            if address < (transferred if read else every):
                return _refuse(moves, name, shared=True)
            every = max(every, address + length)
            transferred = transferred if read else max(transferred, address + length)
    return inputs, outputs


def _refuse(moves: Moves, name: str, *, shared: bool) -> tuple[str, Requirement]:
    """Take back the transfers of a call, because of a view that cannot be transferred; return its name and what is wrong."""
    take_back(moves)
    return name, _OVERLAP if shared else DETACHED_REASON


def pass_on(
    inputs: Mapping[str, BufferSlot], given: Mapping[str, Any], outputs: Mapping[str, BufferSlot], wanted: Mapping[str, Any], moves: Moves
) -> tuple[dict[str, Array], dict[str, Array], list[int]] | None:
    """Check and transfer all views of a call in one pass, if each is the whole result of an earlier call.

    That is how a loop usually passes its arrays. The outcome is that of `check` and `transfer`.

    Args:
        inputs: The slots of the inputs.
        given: Their views, by name.
        outputs: The slots of the outputs.
        wanted: The views of those that are wanted, by name.
        moves: The notes of the call.

    Returns:
        The new arrays of both, and the addresses by the index of the slots, 0 for an output that is not wanted. ``None`` if a view is
        something else, or does not fit: then nothing was transferred.
    """
    if type(given) is not dict or type(wanted) is not dict or len(given) != len(inputs) or not wanted:
        return None
    newInputs: dict[str, Array] = {}
    newOutputs: dict[str, Array] = {}
    addresses = [0] * (len(inputs) + len(outputs))
    try:
        for slots, views, arrays in ((inputs, given, newInputs), (outputs, wanted, newOutputs)):
            for name, view in views.items():
                slot = slots[name]
                memory: Any = view.base
                # The program may have changed the view's type, shape and flags: C-contiguous, aligned and writeable.
                if (
                    type(memory) is not TransferredMemory
                    or type(view) is not ndarray
                    or type(name) is not str
                    or memory.kind is not slot.dtype
                    or memory.length != slot.nbytes
                    or view.dtype is not slot.dtype
                    or view.shape != memory.layout
                    or not (view.flags.carray and memory.alone)
                ):
                    raise LookupError
                array = arrays[slot.name] = memory.view(ndarray)
                claim, former, heir = memory.claim, id(view), id(array)
                moves.append((claim, former, heir))
                try:
                    claim.remove(former)
                except ValueError:
                    moves.pop()
                    raise
                claim.append(heir)
                addresses[slot.index] = memory.address
    except (AttributeError, LookupError, RuntimeError, ValueError):
        # A view is not an array; a name or a view does not fit; another thread changed a mapping; the memory was transferred before.
        take_back(moves)
        return None
    return newInputs, newOutputs, addresses
