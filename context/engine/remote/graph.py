"""A graph whose session is in the process of its context: the implementation of an `MLGraph`."""

from __future__ import annotations

import contextlib
import ctypes
import itertools
import json
import warnings
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from webnn.context.buffers import BufferSlot
from webnn.context.engine.remote.channel import PLACE, SIZE, Operation, align, pack_selection, read_build, read_text
from webnn.context.engine.remote.host import EngineError
from webnn.context.engine.session import QUICK, engine_failure, looks_quick
from webnn.validation.errors import InvalidStateError, OperationError, WebNNWarning, label_prefix
from webnn.validation.named_descriptor import has_sizes, is_named

if TYPE_CHECKING:
    from webnn.builder.onnx.translate import OnnxModel
    from webnn.context.devices.selection import Selection
    from webnn.context.engine.cache.models import ModelCache
    from webnn.context.engine.memory import Dispatch
    from webnn.context.engine.remote.host import Host
    from webnn.context.engine.remote.memory import SharedMemory
    from webnn.validation.descriptor import OperandDescriptor

__all__ = ["RemoteGraph"]

#: How many operators the reason of a loss names.
_NAMED = 3
#: The longest run, in seconds, after which a graph counts as quick. It includes the way to the process and back.
_QUICK = QUICK + 1.5e-4
_NOWHERE = PLACE.pack(0, 0)


class RemoteGraph:
    """A session in the process of a context, and the shared memory that is bound to it.

    `dispatch` copies nothing, because tensors lie in shared memory. `run` copies the inputs there, and the outputs back.

    Not thread-safe: the context's timeline runs one call at a time.

    Args:
        host: The process.
        model: The translated graph.
        selection: The devices.
        profile: As for `CompiledGraph`.
        cache: As for `CompiledGraph`.

    Attributes:
        quick: As for `CompiledGraph`.
        last: As for `CompiledGraph`.
        providers: The execution providers that the session uses, best first.

    Raises:
        OperationError: As for `CompiledGraph`.
        InvalidStateError: The process has ended, and the context is lost.
    """

    in_place: ClassVar[bool] = True

    __slots__ = (
        "__weakref__",
        "_assignments",
        "_bound",
        "_copies",
        "_host",
        "_key",
        "_leaves",
        "_model",
        "_named",
        "_number",
        "_profile",
        "_reference",
        "_work",
        "inputs",
        "last",
        "outputs",
        "providers",
        "quick",
    )

    def __init__(self, host: Host, model: OnnxModel, selection: Selection, *, profile: str = "", cache: ModelCache | None = None) -> None:
        self._host = host
        self._number = next(host.graphs)
        self._key = self._number.to_bytes(4, "little")
        self._profile = profile
        about = _describe(model)
        self._work = f"a run of {about}"
        try:
            answer = _send(host, self._number, model, _header(host, model, selection, profile, cache), f"the build of {about}")
        except EngineError as error:
            if error.whole:
                raise OperationError(str(error), operation="build", rule="engine") from None
            raise engine_failure(model, "build", str(error)) from error
        # The process has the weights.
        self._model = replace(model, weights=())
        self.providers, self._assignments, self._leaves, told = host.check(read_build, answer, "build")
        for text in told:
            warnings.warn(text, WebNNWarning, stacklevel=2)
        numbers = itertools.count()
        self.inputs: Mapping[str, BufferSlot] = {
            name: BufferSlot.of(name, value, next(numbers), each) for name, (value, each) in model.inputs.items()
        }
        self.outputs: Mapping[str, BufferSlot] = {
            name: BufferSlot.of(name, value, next(numbers), each) for name, (value, each) in model.outputs.items()
        }
        #: The memory that is bound to each slot; 0 for none, and -1 if an interrupt may have prevented it.
        self._bound: list[Any] = [-1] * next(numbers)
        #: The shared memory for `run`, by the index of the slot, and its address.
        self._copies: dict[int, tuple[SharedMemory, int]] = {}
        #: Sizes differ from run to run, so that each run tells them.
        self._named = any(has_sizes(each) for _, each in model.inputs.values())
        self._reference = weakref.ref(self)
        self.quick = len(self.providers) == 1 and looks_quick(model)
        self.last: Dispatch | None = None

    def __del__(self) -> None:
        # An interrupt at the beginning of the constructor leaves it without attributes.
        with contextlib.suppress(AttributeError):
            self._host.drop(self._number)

    @property
    def op_types(self) -> Mapping[str, str]:
        """The ONNX operator of each node of the translation by the node's name."""
        return self._model.op_types()

    def end_profile(self) -> str:
        """Stop taking times; return the path of the file with them."""
        try:
            path = read_text(self._host.request(Operation.END_PROFILE, self._key, method="profile"))
        except EngineError as error:
            raise engine_failure(self._model, "profile", str(error)) from error
        # The program reads no other file, whatever the process says.
        if not path.startswith(self._profile) or Path(path).parent != Path(self._profile).parent:
            raise OperationError(f"profile: the process of the device wrote no such file: {path}", operation="profile", rule="engine")
        return path

    def assignments(self) -> list[tuple[str, list[str]]] | None:
        """Return what `CompiledGraph.assignments` returns in the process."""
        return self._assignments

    def run(self, addresses: list[int]) -> None:
        """Compute the outputs that are wanted from all inputs.

        Args:
            addresses: As for `CompiledGraph.run`.

        Raises:
            OperationError: The engine fails.
            InvalidStateError: The process has ended, and the context is lost.
        """
        copies = [self._copy_of(slot) if addresses[slot.index] else (0, 0) for slot in (*self.inputs.values(), *self.outputs.values())]
        for slot in self.inputs.values():
            ctypes.memmove(copies[slot.index][1], addresses[slot.index], slot.nbytes)
        self._compute(Operation.RUN, [memory for memory, _ in copies], [*self.inputs.values(), *self.outputs.values()])
        for slot in self.outputs.values():
            if addresses[slot.index]:
                ctypes.memmove(addresses[slot.index], copies[slot.index][1], slot.nbytes)

    def dispatch(self, call: Dispatch) -> None:
        """Compute outputs from inputs, all in the memory of tensors. The end of the process loses the context, and is not an error here.

        Raises:
            OperationError: The engine fails.
        """
        memories = [*self._bound]
        for slot, memory in zip(call.slots, call.memories, strict=True):
            memories[slot.index] = memory
        start = perf_counter()
        try:
            self._compute(Operation.DISPATCH, memories, call.slots)
        except InvalidStateError:
            return
        self.took(perf_counter() - start)
        if self.quick and not any(memory.withdrawn for memory in call.memories):
            self.last = call

    def repeat(self) -> None:
        """Compute `last` again, as `dispatch` does."""
        bound, count = self._bound, len(self.inputs)
        changes = self._leave(bound)
        try:
            self._host.request(Operation.REPEAT, self._key + changes, method="dispatch", work=self._work)
        except InvalidStateError:
            self.last = None
            return
        for memory in bound[:count]:
            memory.isChanged = False

    def took(self, seconds: float) -> None:
        """Learn how long a run took."""
        self.quick = seconds < _QUICK

    def resize(self, inputs: Mapping[str, BufferSlot], outputs: Mapping[str, BufferSlot]) -> None:
        """Give dimensions with names their sizes for the next `run`, as `CompiledGraph.resize` does."""
        if self.inputs is not inputs:
            self.forget()
            self._copies.clear()
            self.inputs, self.outputs = inputs, outputs

    def forget(self) -> None:
        """Bind everything anew the next time."""
        self.last = None
        self._bound[:] = [-1] * len(self._bound)

    def _copy_of(self, slot: BufferSlot) -> tuple[SharedMemory, int]:
        """Return the shared memory for `run`."""
        found = self._copies.get(slot.index)
        if found is None:
            memory = self._host.allocate(slot.descriptor)
            # Each run writes all of it.
            memory.replace()
            found = self._copies[slot.index] = memory, memory.array.ctypes.data
        return found

    def _compute(self, operation: Operation, memories: list[Any], slots: Sequence[BufferSlot]) -> None:
        """Run the session with shared memory for each slot, by its index; 0 for an output that is not wanted."""
        host, bound = self._host, self._bound
        isDispatch = operation == Operation.DISPATCH
        method = "dispatch" if isDispatch else "compute"
        self.last = None
        changes = self._leave(memories) if isDispatch else b""
        try:
            # The lists have the same objects: those have no equality but identity.
            if memories == bound:
                host.request(Operation.REPEAT, self._key + changes, method=method, work=self._work)
            else:
                self._bind(operation, memories, slots, changes, method)
                bound[:] = memories
        except EngineError as error:
            raise engine_failure(self._model, method, str(error)) from error
        if isDispatch:
            for memory in memories[: len(self.inputs)]:
                memory.isChanged = False

    def _leave(self, memories: list[Any]) -> bytes:
        """Have outputs fetched when they are read, if they are left on a device; return for each input whether the program has written it.

        An interrupt may come before the answer, and the process does the dispatch all the same.
        """
        count, fetch = len(self.inputs), self._host.fetch if self._leaves else None
        for memory in memories[count:]:
            memory.leave(fetch)
        return bytes([memory.isChanged for memory in memories[:count]])

    def _bind(self, operation: Operation, memories: list[Any], slots: Sequence[BufferSlot], changes: bytes, method: str) -> None:
        """Run the session with other memory than the last time."""
        host = self._host
        self._bound[:] = [-1] * len(memories)
        places = [self._key]
        for memory in memories:
            if memory == 0:
                places.append(_NOWHERE)
                continue
            memory.settle()
            segment, offset, _ = memory.place
            host.share(segment, method, self._work)
            memory.users.add(self._reference)
            places.append(PLACE.pack(segment, offset))
        places.append(changes)
        if self._named:
            ordered = sorted(slots, key=lambda slot: slot.index)
            places += [SIZE.pack(size) for slot in ordered for size in slot.descriptor.dimensions]
        host.request(operation, b"".join(places), method=method, work=self._work)


def _describe(model: OnnxModel) -> str:
    """Return the words for a graph: its first operators, with their labels."""
    named = [f"{label_prefix(label)}{operation}" for operation, _, label in model.operators[:_NAMED]]
    rest = len(model.operators) - len(named)
    return f"a graph of {', '.join([*named, *([f'{rest} more'] if rest else [])]) or 'no operator'}"


def _header(host: Host, model: OnnxModel, selection: Selection, profile: str, cache: ModelCache | None) -> dict[str, Any]:
    """Return what the process needs beside the model and the weights."""
    return {
        "packages": host.packages,
        "selection": pack_selection(selection),
        "inputs": _values(model.inputs),
        "outputs": _values(model.outputs),
        "largest": model.largest,
        "numerics": model.numerics,
        "nodes": model.node_types(),
        "engine": getattr(model, "engine", ""),
        "profile": profile,
        "cache": None if cache is None else [str(cache.folder.path), cache.folder.size],
    }


def _values(values: Mapping[str, tuple[str, OperandDescriptor]]) -> dict[str, Any]:
    # Each run tells the process the sizes that have names. A session that knew their texts would be for the sizes that they have now.
    return {
        name: [value, each.dataType, ["" if is_named(size) else size for size in each.dimensions]] for name, (value, each) in values.items()
    }


def _send(host: Host, number: int, model: OnnxModel, header: dict[str, Any], work: str) -> bytes:
    """Have the process build a graph: the header, the model and the weights travel in a segment that the weights are used in."""
    content = np.frombuffer(model.serialize(), np.uint8)
    parts = [content, *(weight.data.reshape(-1).view(np.uint8) for weight in model.weights)]
    offsets = list(itertools.accumulate([align(part.nbytes) for part in parts], initial=0))
    header["content"] = content.nbytes
    header["weights"] = [
        [weight.location, offset, part.nbytes] for weight, offset, part in zip(model.weights, offsets[1:], parts[1:], strict=False)
    ]
    head = np.frombuffer(json.dumps(header).encode(), np.uint8)
    first = align(head.nbytes)
    with host.arena.lend(first + offsets[-1]) as segment:
        array = np.frombuffer(host.arena.segments[segment].map, np.uint8)
        for offset, part in zip((0, *(first + offset for offset in offsets)), (head, *parts), strict=False):
            array[offset : offset + part.nbytes] = part
        return host.build(number, segment, head.nbytes, work)
