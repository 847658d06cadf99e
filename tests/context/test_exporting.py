"""Tensors that are lent to a `GPUDevice`: every state and every operation, and the order of the work."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import webnn
from tests.support import each_row, refused
from webnn.context.faults import Faults
from webnn.gpu import GPUBufferUsage, GPUDevice, GPUMapMode

REVISION = "2026-09"
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
        self.buffer = self.context.exportToGPU(self.tensor)


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
    "export": lambda s: None if s.context.exportToGPU(s.tensor) is s.buffer else "another buffer",
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


#: The draft alone, and proposals around it, which have methods of the same names; the proposal of the draft before.
REVISIONS = [
    REVISION,
    f"{REVISION}+compute",
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
    buffer = context.exportToGPU(tensor)
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
        "gpuDevice must be a GPUDevice that has buffers, got",
    ),
    (
        lambda s: s.context.createExportableTensorSync(FLOATS, None),
        webnn.WebNNTypeError,
        "gpuDevice must be a GPUDevice, got None",
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
    (lambda s: s.context.exportToGPU(None), webnn.WebNNTypeError, "exportToGPU: tensor must be an MLTensor, got None"),
    (lambda s: Setup().context.exportToGPU(s.tensor), webnn.WebNNTypeError, "exportToGPU: tensor must be a tensor of this context"),
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
    assert first is second
    first.destroy()
    assert (await context.readTensor(tensor)).tolist() == [0] * 4
    with pytest.raises(webnn.WebNNTypeError):
        await context.createExportableTensor(FLOATS, GPUDevice())


@each_row("revision", ["2026-06", "2026-06+compute", "2024-06"])
def test_drafts_without_it(revision: str) -> None:
    context: Any = webnn.ML(revision=revision).createContextSync(GPUDevice())
    assert [name for name in dir(context) if "xport" in name] == []
    for name in NAMES:
        with refused(webnn.MissingMemberError, rule="draft", operation=name.removesuffix("Sync")) as caught:
            getattr(context, name)
        assert 'ML(revision="2026-09") has it' in str(caught.value)


NAMES = ["createExportableTensor", "createExportableTensorSync", "exportToGPU"]


def test_its_members() -> None:
    assert [name for name in dir(Setup().context) if "xport" in name and name[0] != "_"] == NAMES
