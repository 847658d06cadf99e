"""Tests of implementations of `exportable-tensors`, for `webnn wpt new`."""

from __future__ import annotations

from webnn.proposals.proposal import Script

__all__ = ["DEVICE", "TESTS"]

#: A context of a device, and the descriptor of tensors that it exports.
DEVICE = """
const adapter = await navigator.gpu.requestAdapter();
const device = await adapter.requestDevice();
const mlContext = await navigator.ml.createContext(device);
const descriptor =
    {dataType: 'float16', shape: [4], readable: true, writable: true};
"""
_SETUP = f"""{DEVICE}\
const tensor = await mlContext.createExportableTensor(descriptor, device);
const data = new Uint16Array([0x3c00, 0x4000, 0x4200, 0x4400]);
mlContext.writeTensor(tensor, data);
"""
TESTS = (
    Script(
        "exportToGPU() waits for the work before it, and its buffer returns the bytes",
        f"""{_SETUP}
const buffer = mlContext.exportToGPU(tensor);
assert_equals(buffer.size, 8);
assert_equals(
    buffer.usage,
    GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST);
const copy = device.createBuffer(
    {{size: 8, usage: GPUBufferUsage.COPY_DST | GPUBufferUsage.MAP_READ}});
const encoder = device.createCommandEncoder();
encoder.copyBufferToBuffer(buffer, 0, copy, 0, 8);
device.queue.submit([encoder.finish()]);
await copy.mapAsync(GPUMapMode.READ);
assert_array_equals(new Uint16Array(copy.getMappedRange()), data);
device.queue.writeBuffer(buffer, 4, new Uint16Array([0, 0x3800]));
buffer.destroy();
assert_array_equals(
    new Uint16Array(await mlContext.readTensor(tensor)),
    [0x3c00, 0x4000, 0, 0x3800]);
""",
    ),
    Script(
        "WebNN cannot use a tensor that is exported",
        f"""{_SETUP}
const other = await mlContext.createTensor(descriptor);
const builder = new MLGraphBuilder(mlContext);
const graph = await builder.build(
    {{y: builder.relu(builder.input('x', descriptor))}});
const buffer = mlContext.exportToGPU(tensor);
assert_throws_js(TypeError, () => mlContext.writeTensor(tensor, data));
assert_throws_js(
    TypeError, () => mlContext.dispatch(graph, {{x: tensor}}, {{y: other}}));
assert_throws_js(
    TypeError, () => mlContext.dispatch(graph, {{x: other}}, {{y: tensor}}));
await promise_rejects_js(t, TypeError, mlContext.readTensor(tensor));
assert_equals(mlContext.exportToGPU(tensor), buffer);
buffer.destroy();
mlContext.dispatch(graph, {{x: tensor}}, {{y: other}});
assert_array_equals(new Uint16Array(await mlContext.readTensor(other)), data);
""",
    ),
    Script(
        "exportToGPU() refuses tensors that are not exportable or of another context",
        f"""{_SETUP}
const other = await navigator.ml.createContext(device);
assert_throws_js(TypeError, () => other.exportToGPU(tensor));
const plain = await mlContext.createTensor(descriptor);
assert_throws_js(TypeError, () => mlContext.exportToGPU(plain));
""",
    ),
    Script(
        "exportToGPU() refuses a tensor that is destroyed, and a device that is",
        f"""{_SETUP}
const gone = await mlContext.createExportableTensor(descriptor, device);
gone.destroy();
assert_throws_dom('InvalidStateError', () => mlContext.exportToGPU(gone));
device.destroy();
assert_throws_dom('InvalidStateError', () => mlContext.exportToGPU(tensor));
await promise_rejects_dom(
    t, 'InvalidStateError',
    mlContext.createExportableTensor(descriptor, device));
assert_array_equals(
    new Uint16Array(await mlContext.readTensor(tensor)), data);
""",
    ),
)
