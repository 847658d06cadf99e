"""The `GPUDevice` of a context among its options."""

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
from webnn.gpu import GPUDevice
from webnn.validation.drafts import find_revision

REVISION: Any = "2026-09+interop-device"
FLOATS: Any = {"dataType": "float32", "shape": [4], "readable": True, "writable": True}


@each_row("options", [{}, {"powerPreference": "low-power"}, {"accelerated": False}, {"deviceType": "cpu"}])
def test_with_other_options(options: Any) -> None:
    """Tensors are exported to the device, and computed with."""
    device = GPUDevice()
    ml = webnn.ML(revision=REVISION)
    for context in (
        ml.createContextSync({**options, "interopDevice": device}),
        ml.createContextSync(**options, interopDevice=device),  # type: ignore[call-arg]  # the proposal's own member
    ):
        builder = webnn.MLGraphBuilder(context)
        graph = builder.buildSync({"y": builder.relu(builder.input("x", dataType="float32", shape=[4]))})
        x, y = (context.createExportableTensorSync(FLOATS, device) for _ in range(2))
        buffer = context.exportToGPU(x)
        device.queue.writeBuffer(buffer, 0, np.float32([1, -2, 3, -4]))
        buffer.destroy()
        context.dispatch(graph, {"x": x}, {"y": y})
        assert context.readTensorSync(y).tolist() == [1, 0, 3, 0]
        with pytest.raises(webnn.WebNNTypeError, match="gpuDevice must be the GPUDevice that the context was made from"):
            context.createExportableTensorSync(FLOATS, GPUDevice())


def test_without_it() -> None:
    """A context exports to any device."""
    context = webnn.ML(revision=REVISION).createContextSync()
    for device in (GPUDevice(), GPUDevice()):
        assert context.exportToGPU(context.createExportableTensorSync(FLOATS, device)).size == 16


def test_the_choice_of_a_device_stays() -> None:
    """The option is a hint."""
    ml = webnn.ML(revision=REVISION)
    options: Any
    for options in ({}, {"accelerated": False}, {"powerPreference": "high-performance"}):
        plain, own = ml.createContextSync(options), ml.createContextSync({**options, "interopDevice": GPUDevice()})
        assert own.accelerated == plain.accelerated


REFUSED = [
    # arguments of createContext, and the message
    ({"interopDevice": 3}, r"^createContext: options.interopDevice must be a GPUDevice, got 3$"),
    ({"interopDevice": "gpu"}, r"^createContext: options.interopDevice must be a GPUDevice, got 'gpu'$"),
    ({"interopDevice": {}}, r"^createContext: options.interopDevice must be a GPUDevice"),
    (GPUDevice(), r"^createContext: options must be a dictionary in the draft .*: give the GPUDevice as its member interopDevice$"),
    (webnn.GPUDevice(), r"^createContext: options must be a dictionary"),
]


@each_row(("options", "message"), REFUSED)
def test_what_is_refused(options: Any, message: str) -> None:
    ml = webnn.ML(revision=REVISION)
    with pytest.raises(webnn.WebNNTypeError, match=message):
        ml.createContextSync(options)

    async def promise() -> None:
        with pytest.raises(webnn.WebNNTypeError, match=message):
            await ml.createContext(options)

    asyncio.run(promise())


def test_a_device_without_buffers() -> None:
    """It makes a context, as in the draft."""
    device = webnn.GPUDevice()
    context = webnn.ML(revision=REVISION).createContextSync({"interopDevice": device})  # type: ignore[typeddict-unknown-key]  # as above
    with pytest.raises(webnn.WebNNTypeError, match="must be a GPUDevice that has buffers"):
        context.createExportableTensorSync(FLOATS, device)


def test_compute() -> None:
    """The context is not one of type "webgpu"."""
    context: Any = webnn.ML(revision=find_revision("2026-09+compute+interop-device")).createContextSync(interopDevice=GPUDevice())  # type: ignore[call-arg]  # as above
    builder: Any = webnn.MLGraphBuilder(context)
    graph = builder.buildSync({"y": builder.abs(builder.input("x", dataType="float32", shape=[2]))})
    result = context.computeSync(graph, {"x": np.float32([-1, 2])}, {"y": np.empty(2, np.float32)})
    assert result["outputs"]["y"].tolist() == [1, 2]


def test_the_draft_does_not_know_it() -> None:
    ml = webnn.ML(revision="2026-09")
    device = GPUDevice()
    assert ml.createContextSync(device).exportToGPU is not None
    with pytest.warns(UserWarning, match="interopDevice"):
        ml.createContextSync({"interopDevice": device})  # type: ignore[typeddict-unknown-key]  # as above


def test_with_others() -> None:
    context = webnn.ML(revision=find_revision("2026-09+interop-device+export-usages")).createContextSync(
        interopDevice=(device := GPUDevice())  # type: ignore[call-arg]  # as above
    )
    created: Any = context.createExportableTensorSync
    assert context.exportToGPU(created(FLOATS, device, 1)).usage == 1
    with pytest.raises(ValueError, match="both change the options of createContext"):
        find_revision("2026-09+interop-device+compute-policy")


JAVASCRIPT = """
const device = await (await navigator.gpu.requestAdapter()).requestDevice();
const context = await navigator.ml.createContext({interopDevice: device, powerPreference: 'low-power'});
const descriptor = {dataType: 'float32', shape: [2], writable: true};
const buffer = await context.exportToGPU(await context.createExportableTensor(descriptor, device));
console.log(buffer.size);
for (const options of [{interopDevice: {}}, {interopDevice: null}])
  try { await navigator.ml.createContext(options); } catch (error) { console.log(error.name); }
console.log(await navigator.ml.createContext(device) instanceof MLContext);
"""
PRINTED = ["8", "TypeError", "TypeError", "true"]


@needs_quickjs
def test_quickjs(monkeypatch: pytest.MonkeyPatch) -> None:
    page = Page(Clock(monkeypatch), revision=REVISION)
    assert page.run_async(JAVASCRIPT) == PRINTED


@pytest.mark.processes
def test_node(tmp_path: Path) -> None:
    assert run(tmp_path, JAVASCRIPT, revision=REVISION) == Outcome(0, "".join(f"{line}\n" for line in PRINTED), "")
