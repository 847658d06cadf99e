"""Tensors that are exported to the stand-in for WebGPU, from JavaScript: in quickjs, in Node, and in the file of the explainer's sample."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import webnn
from tests.context.test_exporting import REVISION
from tests.shared import ROOT
from tests.webnn.javascript.node_support import Outcome, run
from tests.webnn.javascript.test_realm import Page
from tests.wpt_runner.clock import Clock
from webnn.javascript.dispatch import Begun, Dispatcher
from webnn.javascript.idl import load_idl

PROGRAM = """
const adapter = await navigator.gpu.requestAdapter(), device = await adapter.requestDevice();
console.log([navigator.gpu, adapter, device, device.queue].map(each => each.constructor.name).join());
const context = await navigator.ml.createContext(device), builder = new MLGraphBuilder(context);
const descriptor = {dataType: 'float32', shape: [4]}, refused = error => console.log(error.name, error.message);
const graph = await builder.build({y: builder.relu(builder.input('x', descriptor))});
const x = await context.createExportableTensor({...descriptor, writable: true, readable: true}, device);
const y = await context.createExportableTensor(descriptor, device);
const zeros = new Float32Array(4);
for (let count = 0; count < 3; count++) { context.writeTensor(x, zeros); context.dispatch(graph, {x}, {y}); }

const buffer = context.exportToGPU(x);
console.log(buffer instanceof GPUBuffer, buffer === context.exportToGPU(x), buffer.size, buffer.usage, device.queue === device.queue);
try { context.writeTensor(x, zeros); } catch (error) { refused(error); }
try { context.dispatch(graph, {x}, {y}); } catch (error) { refused(error); }
await context.readTensor(x).catch(refused);
device.queue.writeBuffer(buffer, 0, new Float32Array([9, -1, 2, 9]), 1, 2);
buffer.destroy();
context.dispatch(graph, {x}, {y});

const result = context.exportToGPU(y), usage = GPUBufferUsage.COPY_DST | GPUBufferUsage.MAP_READ;
const copy = device.createBuffer({size: 16, usage}), encoder = device.createCommandEncoder();
encoder.copyBufferToBuffer(result, copy);
device.queue.submit([encoder.finish()]);
await device.queue.onSubmittedWorkDone();
await copy.mapAsync(GPUMapMode.READ);
const range = copy.getMappedRange();
console.log(new Float32Array(range).join());
copy.unmap();
console.log(range.byteLength, range.detached);
try { copy.getMappedRange(); } catch (error) { refused(error); }
await result.mapAsync(GPUMapMode.READ).catch(refused);
try { device.createBuffer({usage}); } catch (error) { refused(error); }

const other = await adapter.requestDevice();
await context.createExportableTensor(descriptor, other).catch(refused);
await context.createExportableTensor(descriptor, {}).catch(refused);
const plain = await context.createTensor(descriptor);
try { context.exportToGPU(plain); } catch (error) { refused(error); }
device.lost.then(({reason, message}) => console.log(reason, message));
device.destroy();
try { context.exportToGPU(x); } catch (error) { refused(error); }
"""
LINES = """\
GPU,GPUAdapter,GPUDevice,GPUQueue
true true 16 140 true
TypeError writeTensor: tensor must not be exported: destroy its GPUBuffer first
TypeError dispatch: inputs['x'] must not be exported: destroy its GPUBuffer first
TypeError readTensor: tensor must not be exported: destroy its GPUBuffer first
0,2,0,0
0 true
OperationError getMappedRange: buffer must be mapped by mapAsync()
OperationError mapAsync: buffer must have the usage MAP_READ, got COPY_SRC|COPY_DST|STORAGE
TypeError createBuffer: descriptor must have the member size (GPUBufferDescriptor)
TypeError createExportableTensor: gpuDevice must be the GPUDevice that the context was made from
TypeError createExportableTensor: gpuDevice must be an GPUDevice, got an object (of another type)
TypeError exportToGPU: tensor must be made by createExportableTensor()
InvalidStateError exportToGPU: the GPUDevice must not be lost, but it is: destroy() was called
destroyed destroy() was called"""

WITHOUT = """
const context = await navigator.ml.createContext(new GPUDevice());
const names = Object.getOwnPropertyNames(globalThis).filter(name => name.startsWith('GPU'));
console.log('gpu' in navigator, names.join(), 'exportToGPU' in context);
"""


def test_quickjs(monkeypatch: pytest.MonkeyPatch) -> None:
    printed = Page(Clock(monkeypatch), revision=REVISION).run_async(PROGRAM)
    assert printed == LINES.splitlines()


@pytest.mark.processes
def test_node(tmp_path: Path) -> None:
    assert run(tmp_path, PROGRAM, revision=REVISION) == Outcome(0, f"{LINES}\n", "")


async def test_operations_that_go_on_after_the_call() -> None:
    """As in pages, where operations that return promises are begun."""
    dispatcher = Dispatcher(webnn.ML(revision=REVISION), load_idl(REVISION), on_lost=lambda *_: None)

    async def ask(interface: str, member: str, handle: int | None, *arguments: Any) -> Any:
        begun = dispatcher.begin(json.dumps([interface, member, handle, arguments, [], []]), [])
        if isinstance(begun, Begun):
            await begun.future
            begun = begun.answer()
        answer = json.loads(begun[0])
        return answer.get("error") or answer["value"]

    device = (await ask("GPUDevice", "constructor", None))["$h"]
    context = (await ask("ML", "createContext", 0, {"$h": device}))["$h"]
    descriptor = {"dataType": "float32", "shape": [2], "readable": True}
    tensor = (await ask("MLContext", "createExportableTensor", context, descriptor, {"$h": device}))["$h"]
    buffer = await ask("MLContext", "exportToGPU", context, {"$h": tensor})
    assert (buffer["$i"], await ask("MLContext", "exportToGPU", context, {"$h": tensor})) == ("GPUBuffer", buffer)
    error = await ask("MLContext", "readTensor", context, {"$h": tensor})
    assert error == ["TypeError", "readTensor: tensor must not be exported: destroy its GPUBuffer first"]
    assert await ask("GPUBuffer", "mapAsync", buffer["$h"], 1) == [
        "OperationError", "mapAsync: buffer must have the usage MAP_READ, got COPY_SRC|COPY_DST|STORAGE",
    ]  # fmt: skip
    assert await ask("GPUBuffer", "destroy", buffer["$h"]) is None
    assert await ask("MLContext", "readTensor", context, {"$h": tensor}) is None
    assert dispatcher.faults == []


@pytest.mark.processes
def test_the_sample_of_the_explainer(tmp_path: Path) -> None:
    program = (ROOT / "examples/js/exportable_tensors.mjs").read_text(encoding="utf-8")
    refused = "TypeError: dispatch: inputs['input'] must not be exported: destroy its GPUBuffer first"
    assert run(tmp_path, program, revision=REVISION) == Outcome(0, f"{refused}\n0 0.25 0.5 1\n{refused}\n0 0.5 1 1\n", "")


@pytest.mark.processes
def test_without_the_name(tmp_path: Path) -> None:
    assert run(tmp_path, WITHOUT, revision="2026-06") == Outcome(0, "false GPUDevice false\n", "")
