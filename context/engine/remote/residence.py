"""Numbers that stay on a device: a dispatch leaves its outputs there, and the next one finds its inputs.

Otherwise each input would go to the device and each output come back, whether the program reads it or not, and a dispatch would wait for
the device. Numbers come back when the program asks for them. It says which inputs it has written since.

A plug-in that lends memory of its device can have this. It is tried once for each device.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from webnn.context.engine import plugins, runtime
from webnn.context.engine.memory import Dispatch, TensorMemory
from webnn.validation.descriptor import ML_DTYPES, NUMPY_DTYPES, SMALL_TYPES

if TYPE_CHECKING:
    from webnn.context.buffers import BufferSlot
    from webnn.context.devices.selection import Device, Selection
    from webnn.context.engine.session import CompiledGraph
    from webnn.validation.descriptor import OperandDescriptor

__all__ = ["Make", "Residence", "Run"]

Bytes = np.ndarray[Any, np.dtype[np.uint8]]
#: Runs a graph again. The argument tells for each input whether the program has written it.
Run = Callable[[bytes], None]
#: Makes memory of a device: a value of the engine, of a shape and a type.
Make = Callable[[Sequence[int], Any], Any]

#: The engine makes no values of these types from NumPy's.
_ELSEWHERE = frozenset((*SMALL_TYPES, *ML_DTYPES))


class _Value(TensorMemory):
    """The numbers of a tensor in two places: the memory that the program sees, and that of a device.

    Attributes:
        make: Made the memory of the device.
        isBehind: The memory of the device has older numbers than the program's.
        isAhead: It has newer ones.
    """

    __slots__ = ("_seen", "isAhead", "isBehind", "make")

    def __init__(self, array: np.ndarray[Any, np.dtype[Any]], make: Make) -> None:
        super().__init__(array)
        self.make = make
        self._value = make(array.shape, array.dtype)
        self._seen = runtime.load().OrtValue.ortvalue_from_numpy(array)
        self.isBehind, self.isAhead = True, False

    def send(self) -> None:
        """Copy the numbers to the device."""
        runtime.load().copy_tensors([self._seen], [self._value])
        self.isBehind = self.isAhead = False

    def fetch(self) -> None:
        """Copy the numbers to where the program sees them, if those of the device are newer."""
        if self.isAhead:
            runtime.load().copy_tensors([self._value], [self._seen])
            self.isAhead = False


class Residence:
    """The numbers of the tensors of a context, by their addresses in the memory that the program sees."""

    def __init__(self) -> None:
        self._values: dict[int, _Value] = {}
        #: Makes memory of a device, by the words of the engine for the device; ``None`` where that fails.
        self._makers: dict[tuple[str, int, int], Make | None] = {}

    def find(self, graph: CompiledGraph, selection: Selection) -> Make | None:
        """Return what makes memory for a graph; ``None`` if its numbers do not stay on the device.

        With options of the program for a plug-in, its sessions may compute with another device than the one that lends memory.
        """
        device, (provider, options) = selection.devices[0], selection.providers[0]
        known = plugins.PLUGINS.get(provider)
        ours = {*device.options, *([] if known is None else [known.cpu_nodes])}
        kinds = {slot.descriptor.dataType for slot in (*graph.inputs.values(), *graph.outputs.values())}
        if not device.plugin or not options.keys() <= ours or not kinds.isdisjoint(_ELSEWHERE):
            return None
        return self._lend(device)

    def _lend(self, device: Device) -> Make | None:
        ort = runtime.load()
        try:
            info = device.handle.memory_info(ort.OrtDeviceMemoryType.DEFAULT)
            place = device.type, info.device_id, info.device_vendor_id
        except Exception:  # an engine that is too old, or a plug-in without memory of its own
            return None
        if place not in self._makers:
            self._makers[place] = _try(place)
        return self._makers[place]

    def prepare(self, graph: CompiledGraph, slots: Sequence[BufferSlot], memories: Sequence[Bytes], make: Make, changed: bytes) -> Run:
        """Return what runs a graph with numbers on a device.

        Args:
            graph: The graph.
            slots: Its inputs and outputs, with sizes.
            memories: Where the program sees the bytes of each.
            make: Makes the device's memory.
            changed: Tells for each input whether the program has written it.
        """
        count = len(graph.inputs)
        # An output is written whole.
        isNew = [*map(bool, changed), *[True] * (len(slots) - count)]
        values = [self._take(slot.descriptor, memory, new, make) for slot, memory, new in zip(slots, memories, isNew, strict=True)]
        inputs, outputs = values[:count], values[count:]
        call = Dispatch(slots, values, None, None)

        def run(changed: bytes) -> None:
            for value, isChanged in zip(inputs, changed, strict=False):
                if isChanged or value.isBehind:
                    value.send()
            graph.dispatch(call)
            for value in outputs:
                value.isBehind, value.isAhead = False, True

        return run

    def _take(self, descriptor: OperandDescriptor, memory: Bytes, isNew: bool, make: Make) -> _Value:
        """Return the numbers of a tensor.

        The memory may have been that of another one, whose numbers must not come back over those of this one: then it is new.
        """
        array = memory.view(NUMPY_DTYPES[descriptor.dataType]).reshape(descriptor.array_shape)
        address = array.ctypes.data
        value = self._values.get(address)
        if value is not None and (value.make, value.dtype, value.shape) == (make, array.dtype, array.shape):
            return value
        if value is not None and not isNew:
            value.fetch()
        value = self._values[address] = _Value(array, make)
        return value

    def fetch(self, address: int) -> None:
        """Have the newest numbers of a tensor where the program sees them."""
        value = self._values.get(address)
        if value is not None:
            value.fetch()

    def replace(self, address: int) -> None:
        """Learn that a graph without numbers on a device writes a tensor."""
        value = self._values.get(address)
        if value is not None:
            value.isBehind, value.isAhead = True, False

    def forget(self, first: int, size: int) -> None:
        """Forget the tensors in a part of the memory, which ends."""
        for address in [each for each in self._values if first <= each < first + size]:
            del self._values[address]

    def clear(self) -> None:
        """Forget all tensors."""
        self._values.clear()


def _try(place: tuple[str, int, int]) -> Make | None:
    """Return what makes memory of a device, if numbers come back from there as they went."""
    ort = runtime.load()

    def make(shape: Sequence[int], dtype: Any) -> Any:
        return ort.OrtValue.ortvalue_from_shape_and_type(list(shape), dtype, *place)

    sent, received = np.arange(1, 6, dtype=np.float32), np.zeros(5, np.float32)
    try:
        there, ours, back = make(sent.shape, sent.dtype), *map(ort.OrtValue.ortvalue_from_numpy, (sent, received))
        ort.copy_tensors([ours], [there])
        ort.copy_tensors([there], [back])
    except Exception:  # whatever a plug-in does, numbers go with each dispatch then
        return None
    return make if np.array_equal(sent, received) else None
