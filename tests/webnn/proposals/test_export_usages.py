"""The usage of exported buffers."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import webnn
from tests.support import each_row
from tests.webnn.javascript.engines import needs_quickjs
from tests.webnn.javascript.node_support import Outcome, run
from tests.webnn.javascript.test_realm import Page
from tests.wpt_runner.clock import Clock
from webnn.gpu import GPUBufferUsage, GPUDevice, GPUMapMode

REVISION: Any = "2026-09+export-usages"
FLOATS: Any = {"dataType": "float32", "shape": [4], "readable": True, "writable": True}
NUMBERS = np.float32([1, -2, 3, -4])
USUAL = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST
U = GPUBufferUsage


def setup(revision: Any = REVISION) -> tuple[Any, GPUDevice]:
    device = GPUDevice()
    return webnn.ML(revision=revision).createContextSync(device), device


USAGES = [USUAL, U.STORAGE, U.STORAGE | U.INDIRECT, U.VERTEX | U.COPY_DST, U.MAP_READ, U.MAP_READ | U.COPY_DST, U.MAP_WRITE | U.COPY_SRC]


@each_row("usage", USAGES)
def test_buffers_have_the_usage(usage: GPUBufferUsage) -> None:
    context, device = setup()
    tensor = context.createExportableTensorSync(FLOATS, device, usage)
    # Each export has it, and a second call returns the same buffer.
    for _ in range(2):
        buffer = context.exportToGPU(tensor)
        assert buffer.usage == usage
        assert context.exportToGPU(tensor) is buffer
        buffer.destroy()


def test_the_default_is_that_of_the_draft() -> None:
    context, device = setup()
    for arguments in ((), (USUAL,), (int(USUAL),)):
        assert context.exportToGPU(context.createExportableTensorSync(FLOATS, device, *arguments)).usage == USUAL
    draft, device = setup("2026-09")
    with pytest.raises(TypeError):
        draft.createExportableTensorSync(FLOATS, device, USUAL)
    assert draft.exportToGPU(draft.createExportableTensorSync(FLOATS, device)).usage == USUAL


def test_a_buffer_that_is_mapped() -> None:
    context, device = setup()
    tensor = context.createExportableTensorSync(FLOATS, device, U.MAP_READ | U.COPY_DST)
    context.writeTensor(tensor, NUMBERS)
    buffer = context.exportToGPU(tensor)
    with pytest.raises(webnn.WebNNTypeError, match="must not be exported"):
        context.writeTensor(tensor, NUMBERS)
    device.queue.writeBuffer(buffer, 0, np.float32([9]))
    buffer.mapSync(GPUMapMode.READ)
    assert buffer.getMappedRange().view(np.float32).tolist() == [9, -2, 3, -4]
    buffer.destroy()
    assert context.readTensorSync(tensor).tolist() == [9, -2, 3, -4]


def test_the_usage_is_exact() -> None:
    """WebGPU refuses other uses, which the usual one has."""
    context, device = setup()
    buffer = context.exportToGPU(context.createExportableTensorSync(FLOATS, device, U.STORAGE))
    with pytest.raises(webnn.OperationError, match=r"must have the usage COPY_DST, got STORAGE$"):
        device.queue.writeBuffer(buffer, 0, NUMBERS)
    with pytest.raises(webnn.OperationError, match=r"must have the usage MAP_READ, got STORAGE$"):
        buffer.mapSync(GPUMapMode.READ)


REFUSED = [
    # usages, and the message behind "usage "
    (0, "must be a sum of GPUBufferUsage flags, got 0"),
    (0x400, "must be a sum of GPUBufferUsage flags, got 1024"),
    (-1, "must be from 0 to 4294967295 (unsigned long), got -1"),
    ("STORAGE", "must be"),
    (U.MAP_READ | U.STORAGE, "with MAP_READ must have no other flag than COPY_DST, got MAP_READ | STORAGE"),
    (U.MAP_READ | U.MAP_WRITE, "with MAP_READ must have no other flag than COPY_DST"),
    (U.MAP_WRITE | U.COPY_DST, "with MAP_WRITE must have no other flag than COPY_SRC"),
]


@each_row(("usage", "message"), REFUSED)
def test_what_is_refused(usage: Any, message: str) -> None:
    context, device = setup()
    with pytest.raises(webnn.WebNNTypeError) as caught:
        context.createExportableTensorSync(FLOATS, device, usage)
    assert (caught.value.operation, caught.value.argument) == ("createExportableTensor", "usage")
    assert str(caught.value).startswith(f"createExportableTensor: usage {message}")

    async def promise() -> None:
        with pytest.raises(webnn.WebNNTypeError):
            await context.createExportableTensor(FLOATS, device, usage)

    asyncio.run(promise())


def test_other_errors_stay() -> None:
    context, device = setup()
    with pytest.raises(webnn.WebNNTypeError, match="must be the GPUDevice that the context was made from"):
        context.createExportableTensorSync(FLOATS, GPUDevice(), U.STORAGE)
    with pytest.raises(webnn.WebNNTypeError, match="gpuDevice must be a GPUDevice, got 3"):
        context.createExportableTensorSync(FLOATS, 3, U.STORAGE)
    for usage in (USUAL, U.STORAGE):
        with pytest.raises(webnn.WebNNTypeError, match="must be a GPUDevice that has buffers"):
            context.createExportableTensorSync(FLOATS, webnn.GPUDevice(), usage)
    tensor = context.createExportableTensorSync(FLOATS, device, U.MAP_READ)
    device.destroy()
    with pytest.raises(webnn.InvalidStateError, match="GPUDevice must not be lost"):
        context.exportToGPU(tensor)
    with pytest.raises(webnn.InvalidStateError, match="GPUDevice must not be lost"):
        context.createExportableTensorSync(FLOATS, device, U.MAP_READ)


class OtherDevice(GPUDevice):
    """One whose buffers have the usage of the draft alone, as those of another package."""

    @property
    def _hasUsages(self) -> bool:
        return False


def test_a_device_of_another_package() -> None:
    device = OtherDevice()
    context: Any = webnn.ML(revision=REVISION).createContextSync(device)
    assert context.exportToGPU(context.createExportableTensorSync(FLOATS, device)).usage == USUAL
    with pytest.raises(webnn.WebNNTypeError, match="usage must be 140, that of the draft, for this device, got 128"):
        context.createExportableTensorSync(FLOATS, device, U.STORAGE)


def test_a_device_that_is_lost_meanwhile() -> None:
    """The tensor goes with its bytes, as in the draft."""
    context, device = setup()
    tensor = context.createExportableTensorSync(FLOATS, device, U.MAP_READ)
    context.exportToGPU(tensor)
    device.lose("gone")
    with pytest.raises(webnn.InvalidStateError):
        context.readTensorSync(tensor)


def test_a_graph_is_described_without_it() -> None:
    context, _ = setup()
    builder = webnn.MLGraphBuilder(context)
    assert webnn.describe({"y": builder.relu(builder.input("x", dataType="float32", shape=[2]))}).draft == "2026-06"


JAVASCRIPT = """
const device = await (await navigator.gpu.requestAdapter()).requestDevice();
const context = await navigator.ml.createContext(device);
const descriptor = {dataType: 'float32', shape: [2], writable: true};
const tensor = await context.createExportableTensor(descriptor, device, GPUBufferUsage.MAP_READ);
context.writeTensor(tensor, new Float32Array([5, 6]));
const buffer = await context.exportToGPU(tensor);
await buffer.mapAsync(GPUMapMode.READ);
console.log(buffer.usage, new Float32Array(buffer.getMappedRange()).join());
try { await context.createExportableTensor(descriptor, device, 0); } catch (error) { console.log(error.name, error.message); }
"""
PRINTED = ["1 5,6", "TypeError createExportableTensor: usage must be a sum of GPUBufferUsage flags, got 0"]


@needs_quickjs
def test_quickjs(monkeypatch: pytest.MonkeyPatch) -> None:
    page = Page(Clock(monkeypatch), revision=REVISION)
    assert page.run_async(JAVASCRIPT) == PRINTED


@pytest.mark.processes
def test_node(tmp_path: Path) -> None:
    assert run(tmp_path, JAVASCRIPT, revision=REVISION) == Outcome(0, "".join(f"{line}\n" for line in PRINTED), "")
