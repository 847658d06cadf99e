"""Tensors that are lent to a `GPUDevice`: every state and every operation, and the order of the work."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import webnn
from tests.support import PATIENCE, each_row
from webnn.context import timeline
from webnn.context.faults import Faults
from webnn.gpu import GPUBufferUsage, GPUDevice, GPUMapMode

REVISION = "2026-06+exportable-tensors"
FLOATS: Any = {"dataType": "float32", "shape": [4]}
USAGE = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST
FIRST, SECOND = np.float32([1, -2, 3, -4]), np.float32([-5, 6, -7, 8])


def read(buffer: Any) -> Any:
    """Read the numbers of a buffer as a program does."""
    device = buffer._device
    copy = device.createBuffer(size=buffer.size, usage=GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST)
    encoder = device.createCommandEncoder()
    encoder.copyBufferToBuffer(buffer, copy)
    device.queue.submit([encoder.finish()])
    copy.mapSync(GPUMapMode.READ)
    return copy.getMappedRange().view(np.float32)


class Setup:
    """A context of a device with a graph, a tensor, and another one that is never exported."""

    def __init__(self, *, exportable: bool = True, revision: Any = REVISION) -> None:
        self.device = GPUDevice()
        self.context: Any
        self.context = webnn.ML(revision=revision).createContextSync(self.device)
        builder = webnn.MLGraphBuilder(self.context)
        self.graph = builder.buildSync({"y": builder.relu(builder.input("x", FLOATS))})
        usage = {**FLOATS, "readable": True, "writable": True}
        self.other = self.context.createTensorSync(usage)
        context = self.context
        self.tensor = context.createExportableTensorSync(usage, self.device) if exportable else context.createTensorSync(usage)
        self.context.writeTensor(self.tensor, FIRST)
        self.buffer: Any = None

    def export(self) -> None:
        self.buffer = self.context.exportToGPUSync(self.tensor)


# The states: each function leads to one.


def available(setup: Setup) -> None: ...


def exported(setup: Setup) -> None:
    setup.export()


def returned(setup: Setup) -> None:
    setup.export()
    setup.buffer.destroy()


def destroyed(setup: Setup) -> None:
    setup.tensor.destroy()


def destroyed_while_exported(setup: Setup) -> None:
    setup.export()
    setup.tensor.destroy()


def device_lost(setup: Setup) -> None:
    setup.device.destroy()


def device_lost_while_exported(setup: Setup) -> None:
    setup.export()
    setup.device.lose("the driver failed")


def context_lost(setup: Setup) -> None:
    setup.context.destroy()


def context_lost_while_exported(setup: Setup) -> None:
    setup.export()
    setup.context.destroy()


OPERATIONS: dict[str, Callable[[Setup], object]] = {
    "dispatch from it": lambda s: s.context.dispatch(s.graph, {"x": s.tensor}, {"y": s.other}),
    "dispatch to it": lambda s: s.context.dispatch(s.graph, {"x": s.other}, {"y": s.tensor}),
    "read": lambda s: s.context.readTensorSync(s.tensor).tolist(),
    "write": lambda s: s.context.writeTensor(s.tensor, SECOND),
    "export": lambda s: None if s.context.exportToGPUSync(s.tensor) is s.buffer else "another buffer",
    "destroy it": lambda s: s.tensor.destroy(),
    "destroy the buffer": lambda s: s.buffer and s.buffer.destroy(),
    "write the buffer": lambda s: s.buffer and s.device.queue.writeBuffer(s.buffer, 0, SECOND),
    "read the buffer": lambda s: s.buffer and read(s.buffer).tolist(),
}

LENT = "TypeError: {} must not be exported: destroy its GPUBuffer first"
LOST = "InvalidStateError: {}: the context must not be lost"
GONE = "InvalidStateError: {}: tensor must not be destroyed"
#: The return value of an operation, or the beginning of its error, where it differs from column 1. Rows of buffers: if there is one.
ORDINARY: dict[str, Any] = {
    "read": FIRST.tolist(),
    "export": "another buffer",
    "read the buffer": FIRST.tolist(),
}
ENDED = {
    "dispatch from it": "TypeError: dispatch: inputs['x'] must not be destroyed",
    "dispatch to it": "TypeError: dispatch: outputs['y'] must not be destroyed",
    "read": GONE.format("readTensor"),
    "write": GONE.format("writeTensor"),
    "export": GONE.format("exportToGPU"),
}
LOST_CONTEXT = {
    **dict.fromkeys(["dispatch from it", "dispatch to it"], LOST.format("dispatch")),
    "read": LOST.format("readTensor"),
    "write": LOST.format("writeTensor"),
    "export": LOST.format("exportToGPU"),
}
BUFFER_GONE = {
    "write the buffer": "OperationError: writeBuffer: buffer must not be destroyed",
    "read the buffer": "OperationError: submit: source must not be destroyed",
}
NOT_EXPORTABLE = {"export": "TypeError: exportToGPU: tensor must be made by createExportableTensor()"}
STATES: list[tuple[Callable[[Setup], None], dict[str, Any]]] = [
    (available, {"read the buffer": None}),
    (
        exported,
        {
            "dispatch from it": LENT.format("dispatch: inputs['x']"),
            "dispatch to it": LENT.format("dispatch: outputs['y']"),
            "read": LENT.format("readTensor: tensor"),
            "write": LENT.format("writeTensor: tensor"),
            "export": None,
        },
    ),
    (returned, BUFFER_GONE),
    (destroyed, {**ENDED, "read the buffer": None}),
    (destroyed_while_exported, ENDED),
    (
        device_lost,
        {"export": "InvalidStateError: exportToGPU: the GPUDevice must not be lost, but it is: destroy() was", "read the buffer": None},
    ),
    (
        device_lost_while_exported,
        {**ENDED, **BUFFER_GONE, "read the buffer": "OperationError: createBuffer: the GPUDevice must not be lost, but it is: the driver"},
    ),
    (context_lost, {**LOST_CONTEXT, "read the buffer": None}),
    (context_lost_while_exported, LOST_CONTEXT),
]


def attempt(setup: Setup, operation: str) -> Any:
    try:
        return OPERATIONS[operation](setup)
    except (webnn.WebNNTypeError, webnn.DOMException) as error:
        return f"{'TypeError' if isinstance(error, webnn.WebNNTypeError) else error.name}: {error}"


@each_row(("lead", "expected", "operation"), [(lead, expected, each) for lead, expected in STATES for each in OPERATIONS])
def test_every_operation_in_every_state(lead: Callable[[Setup], None], expected: dict[str, Any], operation: str) -> None:
    setup = Setup()
    lead(setup)
    found, wanted = attempt(setup, operation), expected.get(operation, ORDINARY.get(operation))
    if isinstance(wanted, str):
        assert isinstance(found, str)
        assert found.startswith(wanted), f"{found}, not {wanted}"
    else:
        assert found == wanted


@each_row("operation", OPERATIONS)
def test_a_tensor_that_is_not_exportable(operation: str) -> None:
    setup = Setup(exportable=False)
    wanted = {**ORDINARY, **NOT_EXPORTABLE, "read the buffer": None}.get(operation)
    assert attempt(setup, operation) == wanted


#: This proposal alone, and others around it, which have methods of the same names.
REVISIONS = [
    REVISION,
    f"{REVISION}+dynamic-shapes+zero-size",
    "2026-06+dynamic-shapes+low-precision+exportable-tensors",
    "2026-06+compute-policy+exportable-tensors+subgraphs+browsers",
]


@each_row("revision", REVISIONS)
def test_numbers_come_and_go(revision: str) -> None:
    setup = Setup(revision=revision)
    setup.export()
    assert (setup.buffer.size, setup.buffer.usage) == (16, USAGE)
    np.testing.assert_array_equal(read(setup.buffer), FIRST)
    setup.device.queue.writeBuffer(setup.buffer, 0, SECOND)
    setup.buffer.destroy()
    setup.context.dispatch(setup.graph, {"x": setup.tensor}, {"y": setup.other})
    np.testing.assert_array_equal(setup.context.readTensorSync(setup.other), np.maximum(SECOND, 0))
    np.testing.assert_array_equal(setup.context.readTensorSync(setup.tensor), SECOND)
    first = setup.buffer
    setup.export()
    assert setup.buffer is not first
    for operation in ("dispatch from it", "dispatch to it", "read", "write"):
        assert attempt(setup, operation).startswith("TypeError: ")
    np.testing.assert_array_equal(read(setup.buffer), SECOND)


DESCRIPTORS = [
    # a descriptor, and the size of its buffer
    ({"dataType": "int8", "shape": [3]}, 4),
    ({"dataType": "uint8", "shape": [2, 3, 4]}, 24),
    ({"dataType": "float16", "shape": []}, 4),
    ({"dataType": "int64", "shape": [2]}, 16),
]


@each_row(("descriptor", "size"), DESCRIPTORS)
def test_sizes(descriptor: Any, size: int) -> None:
    device = GPUDevice()
    context: Any = webnn.ML(revision=REVISION).createContextSync()
    tensor = context.createExportableTensorSync({**descriptor, "readable": True}, device)
    buffer = context.exportToGPUSync(tensor)
    assert buffer.size == size
    device.queue.writeBuffer(buffer, 0, np.arange(1, size + 1, dtype=np.uint8))
    buffer.destroy()
    found = context.readTensorSync(tensor).reshape(-1).view(np.uint8)
    assert found.tolist() == list(range(1, len(found) + 1))


WRONG: list[tuple[Callable[[Setup], object], type[Exception], str]] = [
    (
        lambda s: s.context.createExportableTensorSync(FLOATS, GPUDevice()),
        webnn.WebNNTypeError,
        "gpuDevice must be the GPUDevice that the context was made from",
    ),
    (
        lambda s: s.context.createExportableTensorSync(FLOATS, webnn.GPUDevice()),
        webnn.WebNNTypeError,
        "gpuDevice must be a webnn.gpu.GPUDevice, got",
    ),
    (
        lambda s: s.context.createExportableTensorSync(FLOATS, None),
        webnn.WebNNTypeError,
        "gpuDevice must be a webnn.gpu.GPUDevice, got None",
    ),
    (
        lambda s: s.context.createExportableTensorSync({"dataType": "float32"}, s.device),
        webnn.WebNNTypeError,
        "createExportableTensor: descriptor",
    ),
    (
        lambda s: s.context.createExportableTensorSync({"dataType": "float32", "shape": [0]}, s.device),
        webnn.WebNNTypeError,
        "createExportableTensor: descriptor",
    ),
    (lambda s: s.context.exportToGPUSync(None), webnn.WebNNTypeError, "exportToGPU: tensor must be an MLTensor, got None"),
    (lambda s: Setup().context.exportToGPUSync(s.tensor), webnn.WebNNTypeError, "exportToGPU: tensor must be a tensor of this context"),
    (lambda s: s.context.dispatch(s.graph, 7, {}), webnn.WebNNTypeError, "dispatch: inputs must be"),
    (lambda s: s.context.dispatch(s.graph, {"x": 7}, {}), webnn.WebNNTypeError, r"dispatch: inputs\['x'\] must be an MLTensor"),
    (lambda s: s.context.writeTensor(None, FIRST), webnn.WebNNTypeError, "writeTensor: tensor must be an MLTensor"),
    (lambda s: s.context.readTensorSync([]), webnn.WebNNTypeError, "readTensor: tensor must be an MLTensor"),
]


@each_row(("call", "kind", "message"), WRONG)
def test_what_is_refused(call: Callable[[Setup], object], kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        call(Setup())


def test_a_device_that_is_lost() -> None:
    setup = Setup()
    setup.device.destroy()
    with pytest.raises(webnn.InvalidStateError, match=r"^createExportableTensor: the GPUDevice must not be lost, but it is: destroy\(\)"):
        setup.context.createExportableTensorSync(FLOATS, setup.device)


def test_faults_reach_these_tensors() -> None:
    context: Any = webnn.ML(revision=REVISION, faults=Faults(memoryLimit=8)).createContextSync()
    with pytest.raises(webnn.UnknownError):
        context.createExportableTensorSync(FLOATS, GPUDevice())


async def test_promises() -> None:
    setup = Setup()
    context = setup.context
    tensor = await context.createExportableTensor({**FLOATS, "readable": True}, setup.device)
    first, second = context.exportToGPU(tensor), context.exportToGPU(tensor)
    with pytest.raises(webnn.WebNNTypeError, match="must not be exported"):
        await context.readTensor(tensor)
    assert await first is await second
    (await first).destroy()
    assert (await context.readTensor(tensor)).tolist() == [0] * 4
    wrong: list[tuple[Callable[[], Any], type[Exception]]] = [
        (lambda: context.createExportableTensor(FLOATS, GPUDevice()), webnn.WebNNTypeError),
        (lambda: context.exportToGPU(setup.other), webnn.WebNNTypeError),
    ]
    for call, kind in wrong:
        with pytest.raises(kind):
            await call()


class Busy:
    """A timeline that is busy until it is told to go on."""

    def __init__(self, context: Any) -> None:
        self._started, self._goes_on = threading.Event(), threading.Event()
        context._state.timeline.hurry(self._wait)
        assert self._started.wait(PATIENCE)

    def _wait(self) -> None:
        self._started.set()
        assert self._goes_on.wait(PATIENCE)

    def end(self) -> None:
        self._goes_on.set()


async def test_work_before_the_export_comes_first() -> None:
    setup = Setup()
    busy = Busy(setup.context)
    setup.context.writeTensor(setup.other, SECOND)
    setup.context.dispatch(setup.graph, {"x": setup.other}, {"y": setup.tensor})
    before = setup.context.readTensor(setup.tensor)
    pending = setup.context.exportToGPU(setup.tensor)
    # The export has begun with the call.
    for operation in ("dispatch from it", "dispatch to it", "write"):
        assert attempt(setup, operation).startswith("TypeError: ")
    assert not pending.done()
    busy.end()
    np.testing.assert_array_equal(read(await pending), np.maximum(SECOND, 0))
    np.testing.assert_array_equal(await before, np.maximum(SECOND, 0))


ENDS: list[tuple[Callable[[Setup], None], str]] = [
    # what happens while the export waits, and the error of the promise
    (destroyed, "^exportToGPU: tensor must not be destroyed$"),
    (device_lost, "^exportToGPU: the GPUDevice must not be lost"),
    (context_lost, "^the context was lost"),
]


@pytest.mark.parametrize(("end", "message"), ENDS)
async def test_an_export_that_never_comes(end: Callable[[Setup], None], message: str) -> None:
    setup = Setup()
    busy = Busy(setup.context)
    pending = setup.context.exportToGPU(setup.tensor)
    end(setup)
    busy.end()
    with pytest.raises(webnn.InvalidStateError, match=message):
        await pending


async def test_a_promise_that_the_program_cancels() -> None:
    setup = Setup()
    busy = Busy(setup.context)
    setup.context.exportToGPU(setup.tensor).cancel()
    busy.end()
    buffer = await setup.context.exportToGPU(setup.tensor)
    buffer.destroy()
    assert attempt(setup, "read") == FIRST.tolist()


def test_what_is_queued_after_the_buffer_is_destroyed_sees_its_bytes() -> None:
    setup = Setup()
    setup.export()
    setup.device.queue.writeBuffer(setup.buffer, 0, SECOND)
    busy = Busy(setup.context)
    setup.buffer.destroy()
    setup.context.dispatch(setup.graph, {"x": setup.tensor}, {"y": setup.other})
    busy.end()
    np.testing.assert_array_equal(setup.context.readTensorSync(setup.other), np.maximum(SECOND, 0))


def test_an_interrupted_export(monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that stops waiting, as Ctrl-C does, can use the tensor."""
    setup = Setup()

    def interrupt(job: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(timeline.Timeline, "run", lambda self, job: interrupt(job))
        with pytest.raises(KeyboardInterrupt):
            setup.export()
    assert attempt(setup, "read") == FIRST.tolist()


def test_the_same_call_again() -> None:
    """A call with the tensors of the last one takes a shorter way, which an export must end."""
    setup = Setup()
    call = {"x": setup.tensor}, {"y": setup.other}
    for _ in range(3):
        setup.context.dispatch(setup.graph, *call)
    setup.export()
    with pytest.raises(webnn.WebNNTypeError, match="must not be exported"):
        setup.context.dispatch(setup.graph, *call)


def test_two_threads() -> None:
    """One computes and one exports: the buffer always has the numbers of a whole computation, and none is lost."""
    setup = Setup()
    builder = webnn.MLGraphBuilder(setup.context)
    x = builder.input("x", FLOATS)
    count = builder.buildSync({"y": builder.add(x, builder.constant(FLOATS, np.ones(4, np.float32)))})
    back = builder_of_copy(setup)
    setup.context.writeTensor(setup.tensor, np.zeros(4, np.float32))
    done, counted = threading.Event(), [0]
    errors: list[BaseException] = []

    def compute() -> None:
        try:
            for _ in range(300):
                try:
                    setup.context.dispatch(count, {"x": setup.tensor}, {"y": setup.other})
                    setup.context.dispatch(back, {"x": setup.other}, {"y": setup.tensor})
                except webnn.WebNNTypeError:
                    continue
                counted[0] += 1
        except BaseException as error:
            errors.append(error)
        finally:
            done.set()

    def export() -> None:
        try:
            while not done.is_set():
                buffer = setup.context.exportToGPUSync(setup.tensor)
                assert len(set(read(buffer).tolist())) == 1
                buffer.destroy()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=each) for each in (compute, export)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    assert errors == []
    assert setup.context.readTensorSync(setup.tensor).tolist() == [counted[0]] * 4


def test_a_full_timeline_stops_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    """A call that must wait for the timeline, with the tensor's lock, does not keep the timeline from an export of the tensor."""
    monkeypatch.setattr(timeline, "_MOST_JOBS", 1)
    setup = Setup()

    def compute() -> None:
        for _ in range(200):
            with contextlib.suppress(webnn.WebNNTypeError):
                setup.context.writeTensor(setup.tensor, FIRST)
                setup.context.dispatch(setup.graph, {"x": setup.tensor}, {"y": setup.other})

    def export() -> None:
        for _ in range(200):
            setup.context.exportToGPUSync(setup.tensor).destroy()

    threads = [threading.Thread(target=each, daemon=True) for each in (compute, compute, export, export)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
        assert not thread.is_alive()
    assert attempt(setup, "read") == FIRST.tolist()


def builder_of_copy(setup: Setup) -> webnn.MLGraph:
    builder = webnn.MLGraphBuilder(setup.context)
    return builder.buildSync({"y": builder.identity(builder.input("x", FLOATS))})


def test_locks_are_taken_in_one_order() -> None:
    setup = Setup()
    tensors = [setup.context.createExportableTensorSync(FLOATS, setup.device) for _ in range(2)]

    def compute(first: Any, second: Any) -> None:
        for _ in range(100):
            setup.context.dispatch(setup.graph, {"x": first}, {"y": second})

    threads = [threading.Thread(target=compute, args=pair, daemon=True) for pair in (tensors, tensors[::-1])]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
        assert not thread.is_alive()


def test_nothing_of_it_without_the_name() -> None:
    context: Any = webnn.ML(revision="2026-06").createContextSync(GPUDevice())
    assert [name for name in dir(context) if "xport" in name] == []
    with_it: Any = Setup().context
    assert [name for name in dir(with_it) if "xport" in name and name[0] != "_"] == [
        "createExportableTensor", "createExportableTensorSync", "exportToGPU", "exportToGPUSync",
    ]  # fmt: skip
