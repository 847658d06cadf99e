"""Tensors that are exported to a real device of WebGPU: wgpu-py, for example on a software driver of Vulkan (docs/devices.md).

``WEBNN_REQUIRE_SIMULATORS=wgpu`` makes these tests fail where there is no device.
"""

from __future__ import annotations

import os
import pickle
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import webnn
from tests.context.test_exporting_threads import Busy
from tests.support import PATIENCE, each_row, refused
from webnn.context.gpu import find_device
from webnn.gpu import GPUBufferUsage, native

wgpu = pytest.importorskip("wgpu", reason="wgpu is not installed")

REVISION: Any = "2026-09"
FLOATS: Any = {"dataType": "float32", "shape": [4], "readable": True, "writable": True}
FIRST = np.float32([1, -2, 3, -4])
DOUBLE = """
@group(0) @binding(0) var<storage, read_write> numbers: array<f32>;
@compute @workgroup_size(4) fn main(@builtin(global_invocation_id) id: vec3<u32>) { numbers[id.x] = 2 * numbers[id.x]; }
"""


def make_device() -> Any:
    try:
        return wgpu.gpu.request_adapter_sync(power_preference="high-performance").request_device_sync()
    except RuntimeError as error:
        reason = f"wgpu finds no device: {error}"
    if "wgpu" in os.environ.get("WEBNN_REQUIRE_SIMULATORS", "").split():
        pytest.fail(reason, pytrace=False)
    return pytest.skip(reason)


@pytest.fixture
def device() -> Iterator[Any]:
    made = make_device()
    yield made
    made.destroy()


def make(device: Any, *, of_device: bool = True, descriptor: Any = FLOATS) -> tuple[Any, Any]:
    context = webnn.ML(revision=REVISION).createContextSync(device if of_device else None)
    return context, context.createExportableTensorSync(descriptor, device)


def double(device: Any, buffer: Any) -> None:
    """Double the numbers of a buffer, with a shader."""
    module = device.create_shader_module(code=DOUBLE)
    pipeline = device.create_compute_pipeline(layout="auto", compute={"module": module, "entry_point": "main"})
    resource = {"buffer": buffer, "offset": 0, "size": buffer.size}
    group = device.create_bind_group(layout=pipeline.get_bind_group_layout(0), entries=[{"binding": 0, "resource": resource}])
    encoder = device.create_command_encoder()
    work = encoder.begin_compute_pass()
    work.set_pipeline(pipeline)
    work.set_bind_group(0, group)
    work.dispatch_workgroups(1)
    work.end()
    device.queue.submit([encoder.finish()])


@each_row("of_device", [True, False])
def test_a_shader_computes_on_a_tensor(of_device: bool) -> None:
    device = make_device()
    context, tensor = make(device, of_device=of_device)
    builder = webnn.MLGraphBuilder(context)
    graph = builder.buildSync({"y": builder.abs(builder.input("x", {"dataType": "float32", "shape": [4]}))})
    result = context.createExportableTensorSync(FLOATS, device)
    context.writeTensor(tensor, FIRST)
    for factor in (2, 4):
        buffer = context.exportToGPU(tensor)
        assert isinstance(buffer, wgpu.GPUBuffer)
        assert (buffer.size, buffer.usage) == (16, GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST)
        assert context.exportToGPU(tensor) is buffer
        double(device, buffer)
        with refused(rule="exported", operation="dispatch", argument="inputs['x']"):
            context.dispatch(graph, {"x": tensor}, {"y": result})
        buffer.destroy()
        buffer.destroy()
        context.dispatch(graph, {"x": tensor}, {"y": result})
        output = context.exportToGPU(result)
        np.testing.assert_array_equal(np.frombuffer(device.queue.read_buffer(output), np.float32), np.abs(FIRST) * factor)
        output.destroy()
        np.testing.assert_array_equal(context.readTensorSync(tensor), FIRST * factor)
    device.destroy()


def test_the_buffer_that_is_destroyed_is_gone(device: Any) -> None:
    context, tensor = make(device)
    buffer = context.exportToGPU(tensor)
    buffer.destroy()
    # wgpu-native ends the process where a command uses such a buffer.
    with pytest.raises(wgpu.GPUValidationError, match="has been destroyed"):
        device.queue.write_buffer(buffer, 0, FIRST)


@each_row(
    ("descriptor", "size"),
    [({"dataType": "int8", "shape": [3]}, 4), ({"dataType": "float16", "shape": []}, 4), ({"dataType": "int64", "shape": [2]}, 16)],
)
def test_sizes(descriptor: Any, size: int) -> None:
    device = make_device()
    context, tensor = make(device, descriptor={**descriptor, "readable": True})
    buffer = context.exportToGPU(tensor)
    assert buffer.size == size
    device.queue.write_buffer(buffer, 0, np.arange(1, size + 1, dtype=np.uint8))
    buffer.destroy()
    found = context.readTensorSync(tensor).reshape(-1).view(np.uint8)
    assert found.tolist() == list(range(1, len(found) + 1))
    device.destroy()


def test_a_device_has_one_adapter(device: Any) -> None:
    assert find_device(device) is find_device(device)
    assert isinstance(find_device(device), native.NativeDevice)
    assert find_device(device.queue) is None
    with pytest.raises(TypeError, match="a device of wgpu-py cannot be pickled"):
        pickle.dumps(find_device(device))
    assert "lost" not in repr(find_device(device))
    other = make_device()
    context, _ = make(device)
    with refused(rule="owner", operation="createExportableTensor", argument="gpuDevice"):
        context.createExportableTensorSync(FLOATS, other)
    other.destroy()


def test_a_device_that_is_destroyed(device: Any) -> None:
    context, exported = make(device)
    kept = context.createExportableTensorSync(FLOATS, device)
    buffer = context.exportToGPU(exported)
    device.destroy()
    assert "lost" in repr(find_device(device))
    # The bytes of the tensor that was exported are gone, and those of the other one are here.
    with refused(webnn.InvalidStateError, rule="destroyed", operation="readTensor"):
        context.readTensorSync(exported)
    assert context.readTensorSync(kept).tolist() == [0] * 4
    uses: list[Callable[[], object]] = [lambda: context.exportToGPU(kept), lambda: context.createExportableTensorSync(FLOATS, device)]
    for use in uses:
        with pytest.raises(webnn.InvalidStateError, match=r"the GPUDevice must not be lost, but it is: destroy\(\) was called"):
            use()
    buffer.destroy()


def test_a_driver_that_fails(device: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    context, tensor = make(device)
    buffer = context.exportToGPU(tensor)

    def fail(*_: object, **__: object) -> None:
        raise wgpu.GPUValidationError("Parent device is lost")

    monkeypatch.setattr(type(device.queue), "read_buffer", fail)
    buffer.destroy()
    with refused(webnn.InvalidStateError, rule="destroyed", operation="readTensor"):
        context.readTensorSync(tensor)
    with pytest.raises(webnn.InvalidStateError, match="the GPUDevice must not be lost, but it is: Parent device is lost"):
        context.createExportableTensorSync(FLOATS, device)


def test_a_device_without_memory(device: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    context, tensor = make(device)

    def fail(*_: object, **__: object) -> None:
        raise wgpu.GPUOutOfMemoryError("Not enough memory left")

    with monkeypatch.context() as patch:
        patch.setattr(type(device), "create_buffer", fail)
        with pytest.raises(webnn.UnknownError, match="exportToGPU: the GPUDevice must make a buffer of 16 bytes: Not enough memory left"):
            context.exportToGPU(tensor)
    # The tensor can be used again.
    assert context.readTensorSync(tensor).tolist() == [0] * 4


def test_work_before_and_after(device: Any) -> None:
    """The export waits for the work before it, in another thread than the program's; later work sees the bytes of the buffer."""
    context, tensor = make(device)
    busy = Busy(context)
    context.writeTensor(tensor, FIRST)
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.append(context.exportToGPU(tensor)), daemon=True)
    thread.start()
    busy.end()
    thread.join(PATIENCE)
    double(device, found[0])
    busy = Busy(context)
    found[0].destroy()
    context.writeTensor(context.createTensorSync(FLOATS), FIRST)
    busy.end()
    np.testing.assert_array_equal(context.readTensorSync(tensor), FIRST * 2)
