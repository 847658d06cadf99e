"""The steps of the methods of `MLContext` that use tensors: create, dispatch, write and read.

They check at the call. The job for the timeline refers to the tensors' memory, not to the tensors, which may be destroyed before it runs.

The specification creates the data of a tensor on the timeline. A program can notice the difference only if the context is lost. So the data
is created at the call, and a new tensor does not wait for queued work.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np

from webnn.context import buffers
from webnn.context.buffers import fits
from webnn.context.engine.memory import Dispatch, TensorMemory
from webnn.context.graph import MLGraph
from webnn.context.promise import Pending, rejected
from webnn.context.state import Steps
from webnn.context.tensor import MLTensor
from webnn.context.timeline import BUSY
from webnn.validation import webidl
from webnn.validation.buffers import as_array, bytes_mismatch, from_bits, tensor_data_mismatch
from webnn.validation.descriptor import NUMPY_DTYPES
from webnn.validation.errors import InvalidStateError, OperationError, UnknownError, argument_error
from webnn.validation.operand_descriptor import convertDescriptor, convertTensorDescriptor
from webnn.validation.operation import Call

if TYPE_CHECKING:
    import asyncio

    from webnn.context.backend import Implementation
    from webnn.context.buffers import BufferSlot
    from webnn.context.state import ContextState
    from webnn.validation.descriptor import OperandDescriptor

__all__ = ["TensorSteps", "convert_tensors", "create_tensor"]

T = TypeVar("T", bound=MLTensor)
#: The implementation of a graph, and the slot and the memory of each tensor of a call.
_Checked: TypeAlias = "tuple[Implementation, Sequence[BufferSlot], list[TensorMemory]]"
Array = np.ndarray[Any, np.dtype[Any]]
_DISPATCH = "#api-mlcontext-dispatch"
_READ = "#api-mlcontext-readtensor"
_READ_INTO = "#api-mlcontext-readtensor-byob"
_WRITE = "#api-mlcontext-writetensor"
_STRING = frozenset({str})
#: The most bytes that an awaited read copies on the event loop's thread.
_SHORT = 2**16
#: How many checked combinations of tensors a graph remembers.
_MOST_CHECKED = 64


class TensorSteps(Steps):
    """Makes the tensors of a context, reads and writes them, and runs its graphs on them."""

    __slots__ = ()

    def create(self, descriptor: object, members: Mapping[str, Any]) -> asyncio.Future[MLTensor]:
        """Run the steps of `MLContext.createTensor`."""
        return self.promise(lambda: _make(self._state, descriptor, members))

    def create_sync(self, descriptor: object, members: Mapping[str, Any]) -> MLTensor:
        """Run the steps of `MLContext.createTensor`, and return the tensor."""
        return self.finish(lambda: _make(self._state, descriptor, members))

    def create_constant(self, descriptor: object, inputData: object) -> asyncio.Future[MLTensor]:
        """Run the steps of `MLContext.createConstantTensor`."""
        return self.promise(lambda: _make_constant(self._state, descriptor, inputData))

    def create_constant_sync(self, descriptor: object, inputData: object) -> MLTensor:
        """Run the steps of `MLContext.createConstantTensor`, and return the tensor."""
        return self.finish(lambda: _make_constant(self._state, descriptor, inputData))

    def promise(self, create: Callable[[], MLTensor]) -> asyncio.Future[MLTensor]:
        """Return the promise of a new tensor. The next round of the event loop resolves it, unless the context is lost before."""
        pending: Pending[MLTensor] = Pending(self._state.loss.promises)
        try:
            tensor = create()
        except Exception as error:  # a failed step rejects the promise
            pending.reject(error)
        else:
            pending.resolve(lambda: tensor)
        return pending.future

    def finish(self, create: Callable[[], MLTensor]) -> MLTensor:
        """Return a new tensor. Faults can come in between."""
        return create()

    def dispatch(self, graph: MLGraph, inputs: Mapping[str, MLTensor], outputs: Mapping[str, MLTensor]) -> None:
        """Run the steps of `MLContext.dispatch`. A quick graph runs at once if the timeline is idle: handing it over would take longer."""
        state = self._state
        timeline = state.timeline
        try:
            implementation: Any = graph._implementation
            last = implementation.last
            # A call with the tensors of the last one is as valid, and they are bound.
            known = last is not None and graph._state is state and type(inputs) is dict and type(outputs) is dict
            if known and last.inputs == inputs and last.outputs == outputs and timeline.attempt(_repeat, implementation, last) is True:
                return
        except Exception:  # something has another class, or the engine fails: the steps say what it is
            implementation = None
        job = self.prepare_dispatch(graph, inputs, outputs)
        if implementation is None or not implementation.quick or not self.prompt or timeline.attempt(job) is BUSY:
            timeline.post(job)

    def prepare_dispatch(self, graph: MLGraph, inputs: Mapping[str, MLTensor], outputs: Mapping[str, MLTensor]) -> Callable[[], None]:
        """Run the steps of `MLContext.dispatch` before those of the timeline, and return these."""
        # After the checks, only destruction can make the call invalid, so everything else is checked once. Mappings and names of other
        # classes are checked each time, because they may change with each use.
        state = self._state
        implementation, slots = None, None
        memory: list[TensorMemory] = []
        key: tuple[object, ...] | None = None
        if type(inputs) is dict and type(outputs) is dict:
            try:
                implementation = graph._implementation if type(graph) is MLGraph and graph._state is state else None
                named = [*inputs.values(), *outputs.values()]
                key = (len(inputs), *inputs, *outputs, *[tensor._token for tensor in named])
                slots = graph._checked.get(key)
                memory = [held for tensor in named if (held := tensor._memory) is not None]
            except Exception:  # something has another class; the steps raise the error
                key = None
        if implementation is None or slots is None or len(memory) != len(slots):
            found = None if implementation is None or key is None else self._fit_all(implementation, inputs, outputs)
            implementation, slots, memory = self._check(graph, inputs, outputs) if found is None else found
            if key is not None and not _STRING.issuperset(map(type, (*inputs, *outputs))):
                key = None
            if key is not None:
                if len(graph._checked) >= _MOST_CHECKED:
                    graph._checked.clear()
                graph._checked[key] = slots
        # 8. On the timeline: execute the graph. A context that cannot is lost.
        loss, observe = state.loss, state.on_compute
        repeatable = key is not None and observe is None and self.direct
        call = Dispatch(slots, memory, dict(inputs) if repeatable else None, dict(outputs) if repeatable else None)

        def job() -> None:
            if loss.info is None:
                if observe is not None:
                    observe(graph, buffers.read_only(_named_inputs(call, implementation)))
                try:
                    implementation.dispatch(call)
                except OperationError as error:
                    loss.lose(str(error))

        return job

    def _fit_all(self, built: Implementation, *given: Mapping[str, MLTensor]) -> _Checked | None:
        """Return what `_check` returns for a call that is valid at first sight; of others nothing: the steps judge them one by one."""
        state, slots, memory = self._state, list["BufferSlot"](), list[TensorMemory]()
        for named, known in zip(given, (built.inputs, built.outputs), strict=True):
            if len(named) != len(known):
                return None
            for name, tensor in named.items():
                slot = known.get(name) if type(name) is str else None
                held = tensor._memory if type(tensor) is MLTensor and tensor._state is state and not tensor._isConstant else None
                if slot is None or held is None or tensor._descriptor != slot.descriptor:
                    return None
                slots.append(slot)
                memory.append(held)
        return (built, slots, memory) if len({*map(id, memory)}) == len(memory) else None

    def _check(self, graph: MLGraph, inputs: Mapping[str, MLTensor], outputs: Mapping[str, MLTensor]) -> _Checked:
        """Run those steps of `MLContext.dispatch` one by one; return the implementation, and the slot and the memory of each tensor."""
        if not webidl.isInstance(graph, MLGraph):
            raise argument_error("dispatch", "graph", f"must be an MLGraph, got {webidl.describe(graph)}", _DISPATCH, rule="conversion")
        given = convert_tensors("inputs", inputs)
        wanted = convert_tensors("outputs", outputs)
        state = self._state
        checks = state.revision.checks
        if checks.lost_first:
            state.loss.check("dispatch")
        # [1] The graph belongs to this context.
        if graph._state is not state:
            raise argument_error("dispatch", "graph", "must be a graph of this context, but another one built it", _DISPATCH, rule="owner")
        # [2] It was not destroyed.
        implementation = graph._implementation
        if implementation is None:
            if state.loss.info is not None:
                raise state.loss.error("dispatch")
            raise InvalidStateError("dispatch: graph must not be destroyed", operation="dispatch", rule="destroyed")
        # 3. All tensors.
        places: dict[MLTensor, str] = {}
        every = [
            (f"{argument}[{webidl.describe(name)}]", tensor)
            for argument, named in (("inputs", given), ("outputs", wanted))
            for name, tensor in named
        ]
        for place, tensor in every:
            # [4] No tensor is there twice.
            first = places.setdefault(tensor, place)
            isShared = checks.shared_inputs and first.startswith("inputs") and place.startswith("inputs")
            if first is not place and not isShared:
                raise argument_error(
                    "dispatch", place, f"must be a tensor of its own, but it is that of {places[tensor]}, too", _DISPATCH, rule="overlap"
                )
        memory: list[TensorMemory] = []
        for place, tensor in every:
            # [5.1] Every tensor belongs to this context.
            if tensor._state is not state:
                raise argument_error(
                    "dispatch", place, "must be a tensor of this context, but another one made it", _DISPATCH, rule="owner"
                )
            # [5.2] It was not destroyed.
            held = tensor._memory
            if held is None and not checks.lost_first:
                raise argument_error("dispatch", place, "must not be destroyed", _DISPATCH, rule="destroyed")
            if held is not None:
                memory.append(held)
        # [6] The inputs are those of the graph.
        slots = _fit("inputs", given, implementation.inputs)
        # [7] The outputs are those of the graph.
        slots += _fit("outputs", wanted, implementation.outputs)
        if len(memory) < len(every):
            raise _destroyed(state, "dispatch")
        return implementation, slots, memory

    def write(self, tensor: MLTensor, inputData: object) -> None:
        """Run the steps of `MLContext.writeTensor`."""
        state = self._state
        if type(tensor) is MLTensor and tensor._state is state and tensor._writable:
            # The steps for an array of the tensor's own type and shape.
            memory, timeline = tensor._memory, state.timeline
            if memory is not None and fits(inputData, memory) and timeline.attempt(memory.fill, inputData) is not BUSY:
                return
        if type(tensor) is not MLTensor and not webidl.isInstance(tensor, MLTensor):
            raise argument_error("writeTensor", "tensor", f"must be an MLTensor, got {webidl.describe(tensor)}", _WRITE, rule="conversion")
        view = buffers.source("writeTensor", _WRITE, inputData)
        # [1] The tensor belongs to this context.
        if tensor._state is not state:
            raise argument_error("writeTensor", "tensor", "must be a tensor of this context, but another one made it", _WRITE, rule="owner")
        # [3] It is writable.
        if not tensor._writable:
            raise argument_error("writeTensor", "tensor", "must be made with writable: true", _WRITE, rule="usage")
        # [4] The buffer has the tensor's byte length, and is not detached.
        reason = bytes_mismatch(view, tensor._descriptor) or buffers.detached_reason(view)
        if reason:
            raise argument_error("writeTensor", "inputData", reason, _WRITE)
        # [2] It was not destroyed. The error is another one than the draft's, and so comes last: docs/spec-issues.md.
        memory = tensor._memory
        if memory is None:
            raise _destroyed(state, "writeTensor")
        # 5.-7. On the timeline: copy the bytes. On an idle one that is now; otherwise they must be copied once more before.
        timeline, loss = state.timeline, state.loss
        if timeline.attempt(memory.write, view) is not BUSY:
            return
        copied = self.stage(view)

        def job() -> None:
            if loss.info is None:
                memory.write(copied)

        timeline.post(job, copied.nbytes)

    def stage(self, view: Array) -> Array:
        """Copy data that is to be written later, when the timeline is no longer busy."""
        return view.copy()

    def read(self, tensor: MLTensor, outputData: object) -> asyncio.Future[Any]:
        """Run the steps of `MLContext.readTensor`, and return the promise."""
        try:
            return self.queue_read(tensor, outputData)
        except Exception as error:  # a failed step rejects the promise
            return rejected(error)

    def queue_read(self, tensor: MLTensor, outputData: object) -> asyncio.Future[Any]:
        """Run the steps of `MLContext.readTensor`, queue those of the timeline, and return the promise."""
        state = self._state
        memory, view = self._check_read(tensor, outputData)
        # 6.-7. (7.-8.) The promise ends with the tensor, if it is pending.
        pending: Pending[Array | None] = Pending(tensor._pending)

        # 8. (9.) On the timeline: copy the bytes. A short copy takes less than the hand-over to another thread.
        timeline = state.timeline
        short = self.prompt and tensor._descriptor.byte_length <= _SHORT
        if short and (data := timeline.attempt(memory.read_at_once)) is not BUSY:
            pending.resolve_soon(lambda: data if view is None else _put(data, view))
            return pending.future

        def job() -> None:
            if tensor._memory is None:
                pending.reject(_destroyed(state, "readTensor"))
            elif not pending.future.done():
                try:
                    copied = memory.read()
                except (OperationError, InvalidStateError) as error:  # the numbers are on a device, which fails
                    pending.reject(error)
                    return
                pending.resolve(lambda: copied if view is None else _put(copied, view))

        timeline.hurry(job)
        return pending.future

    def read_sync(self, tensor: MLTensor, outputData: Any) -> Array | None:
        """Run the steps of `MLContext.readTensor`, and wait for the data."""
        state = self._state
        if type(tensor) is MLTensor and tensor._state is state and tensor._readable and self.direct:
            # The steps for a new array, or for one of the tensor's own type and shape.
            memory, timeline = tensor._memory, state.timeline
            if memory is not None and (outputData is None or (fits(outputData, memory) and outputData.flags.carray)):
                data = timeline.attempt(memory.read) if outputData is None else timeline.attempt(memory.copy_to, outputData)
                if data is not BUSY:
                    return data
        memory, view = self._check_read(tensor, outputData)

        # The steps of the timeline: copy the bytes. The promise would be rejected with the tensor's other ones.
        def job() -> Array | None:
            if tensor._memory is None:
                raise _destroyed(state, "readTensor")
            if view is None:
                return memory.read()
            buffers.copy_bytes(memory.array, view)
            return None

        return state.timeline.run(job)

    def _check_read(self, tensor: MLTensor, outputData: object) -> tuple[TensorMemory, Array | None]:
        """Run the steps of both forms of `MLContext.readTensor` up to the promise."""
        anchor = _READ if outputData is None else _READ_INTO
        if not webidl.isInstance(tensor, MLTensor):
            raise argument_error("readTensor", "tensor", f"must be an MLTensor, got {webidl.describe(tensor)}", anchor, rule="conversion")
        reason, view = ("", None) if outputData is None else as_array(outputData, written=True)
        if reason:
            raise argument_error("readTensor", "outputData", reason, anchor)
        state = self._state
        # [3] The tensor belongs to this context.
        if tensor._state is not state:
            raise argument_error("readTensor", "tensor", "must be a tensor of this context, but another one made it", anchor, rule="owner")
        # [5] It is readable.
        if not tensor._readable:
            raise argument_error("readTensor", "tensor", "must be made with readable: true", anchor, rule="usage")
        if tensor._memory is None and state.revision.checks.data_last:
            raise _destroyed(state, "readTensor")
        # [6] The buffer has room for the tensor, and is not detached.
        if view is not None:
            reason = bytes_mismatch(view, tensor._descriptor, larger=True) or buffers.unwritable_reason(view)
            if reason:
                raise argument_error("readTensor", "outputData", reason, anchor)
        # [4] It was not destroyed. As for `write`, this comes last.
        memory = tensor._memory
        if memory is None:
            raise _destroyed(state, "readTensor")
        return memory, view


def _repeat(implementation: Implementation, last: Dispatch) -> bool:
    """Repeat the last dispatch of a graph; tell whether it still is the last one."""
    if implementation.last is not last:
        return False
    implementation.repeat()
    return True


def _make(state: ContextState, descriptor: object, members: Mapping[str, Any]) -> MLTensor:
    """Run the steps of `MLContext.createTensor`."""
    call = Call("createTensor", "#api-mlcontext-createtensor", state.revision)
    if members and descriptor is not None:
        raise call.error("descriptor", "must be given as a dictionary or as keyword arguments, not as both", rule="once")
    given: Any = members or descriptor
    return create_tensor(state, call, MLTensor, *convertTensorDescriptor(call, given))


def create_tensor(state: ContextState, call: Call, kind: type[T], operand: OperandDescriptor, readable: bool, writable: bool) -> T:
    """Run the steps of `MLContext.createTensor` behind the conversion of its argument.

    Args:
        state: The state of the context.
        call: The call, for errors.
        kind: The class of the tensor.
        operand: The type and the shape.
        readable: `MLContext.readTensor` may read the data.
        writable: `MLContext.writeTensor` may write the data.
    """
    # [3] The context is not lost.
    state.loss.check(call.operation)
    # The dimensions are valid and supported: docs/spec-issues.md.
    call.check_dimensions("descriptor", operand)
    if call.revision.acceptance is not None:
        call.revision.acceptance.accept_tensor(call, "input", "descriptor", operand)
    # 4. Create the tensor.
    created = kind._create(state, operand, readable=readable, writable=writable)
    # 6. Create its data, all zeros.
    return _finish(call, created, lambda: state.allocate(operand))


def _make_constant(state: ContextState, descriptor: object, inputData: object) -> MLTensor:
    """Run the steps of `MLContext.createConstantTensor`."""
    call = Call("createConstantTensor", "#api-mlcontext-createconstanttensor", state.revision)
    operand = convertDescriptor(call, descriptor)
    view = buffers.source(call.operation, call.anchor, inputData)
    if call.revision.acceptance is not None:
        call.revision.acceptance.accept_constant_tensor(call)
    # [3] The context is not lost.
    state.loss.check("createConstantTensor")
    # [4] The dimensions are valid and supported.
    call.check_dimensions("descriptor", operand)
    view = from_bits(view, operand, call.revision.types)
    # [5] Type and length of the buffer match, and it is not detached.
    reason = tensor_data_mismatch(view, operand) or buffers.detached_reason(view)
    if reason:
        raise call.error("inputData", reason)
    if call.revision.acceptance is not None:
        call.revision.acceptance.accept_tensor(call, "constant", "descriptor", operand)

    def data() -> TensorMemory:
        memory = np.empty(operand.array_shape, NUMPY_DTYPES[operand.dataType])
        buffers.copy_bytes(view, memory)
        return TensorMemory(memory)

    # 8. Create the tensor.
    created = MLTensor._create(state, operand, isConstant=True)
    # 6.-7., 10. Create its data, a copy of the bytes.
    return _finish(call, created, data)


def _finish(call: Call, created: T, data: Callable[[], TensorMemory]) -> T:
    """Give a tensor its data, and register it to be destroyed with its context."""
    # [#api-mlcontext-createtensor 6.1.2, #api-mlcontext-createconstanttensor 10.1.2] There is memory.
    try:
        created._memory = data()
    except MemoryError as error:
        raise UnknownError(
            f"{call.operation}: there must be memory for {created._descriptor}: {error}",
            operation=call.operation,
            rule="memory",
        ) from error
    # [#api-mlcontext-createtensor 6.2, #api-mlcontext-createconstanttensor 10.2] The context is not lost meanwhile.
    created._state.loss.add(created, call.operation)
    return created


def convert_tensors(argument: str, named: Mapping[str, MLTensor]) -> list[tuple[str, MLTensor]]:
    """Convert an argument of `MLContext.dispatch` to ``record<USVString, MLTensor>``."""
    convert = partial(webidl.record, named, _require_tensor, webidl.usvString, "a mapping from names to tensors")
    return list(webidl.convert_argument(convert, "dispatch", argument, _DISPATCH).items())


_require_tensor = webidl.interface(MLTensor, "MLTensor")


def _fit(argument: str, named: list[tuple[str, MLTensor]], slots: Mapping[str, BufferSlot]) -> list[BufferSlot]:
    """*Validate tensors with descriptors*, `#validate-tensors-with-descriptors`; return the slot of each tensor."""
    # [1] There are as many as the graph has.
    if len(named) != len(slots):
        names = [name for name, _ in named]
        raise argument_error(
            "dispatch", argument, f"must be the {argument} of the graph, {list(slots)}, got {names}", _DISPATCH, rule="name"
        )
    found: list[BufferSlot] = []
    for name, tensor in named:
        # [2.1] A constant cannot be an input or output.
        if tensor._isConstant:
            raise argument_error(
                "dispatch", f"{argument}[{webidl.describe(name)}]", "must not be a constant tensor", _DISPATCH, rule="usage"
            )
        # [2.2] The graph has one of this name.
        slot = slots.get(name)
        if slot is None:
            given = webidl.describe(name)
            raise argument_error(
                "dispatch", argument, f"must name {argument} of the graph, {list(slots)}, got {given}", _DISPATCH, rule="name"
            )
        # [2.3] Type and shape are the graph's.
        if tensor._descriptor != slot.descriptor:
            place = f"{argument}[{webidl.describe(name)}]"
            raise argument_error("dispatch", place, f"must be {slot.descriptor}, got {tensor._descriptor}", _DISPATCH, rule="shape")
        found.append(slot)
    return found


def _put(copied: Array, view: Array) -> None:
    """Write the bytes to the program's buffer: the last steps of `MLContext.readTensor`, on the event loop."""
    # [9.1.3.2] The buffer was not detached meanwhile.
    reason = buffers.detached_reason(view)
    if reason:
        raise argument_error("readTensor", "outputData", reason, _READ_INTO)
    # 9.1.3.3. Write the bytes.
    buffers.copy_bytes(copied, view)


def _destroyed(state: ContextState, operation: str) -> InvalidStateError:
    """Make the error of a call with a destroyed tensor: destroyed by itself, or with its context."""
    if state.loss.info is not None:
        return state.loss.error(operation)
    return InvalidStateError(f"{operation}: tensor must not be destroyed", operation=operation, rule="destroyed")


def _named_inputs(call: Dispatch, implementation: Implementation) -> dict[str, Array]:
    """Return the memory of the inputs of a dispatch by name."""
    pairs = zip(call.slots, call.memories, strict=True)
    return {slot.name: memory.array for slot, memory in pairs if slot.index < len(implementation.inputs)}
