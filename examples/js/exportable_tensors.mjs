// Frames that WebGPU makes, a graph that computes on them, and results that WebGPU reads, without a copy in JavaScript between the two:
//
//   webnn run --revision 2026-09 examples/js/exportable_tensors.mjs
//
// The program is that of WebNN's MLTensor explainer (https://github.com/webmachinelearning/webnn/blob/main/mltensor-explainer.md#webgpu-interop),
// with these changes:
// - createExportableTensor(descriptor, gpuDevice) in place of createTensor({..., exportableToGPU: true}), and exportToGPU() without a promise, as
//   in the draft 2026-09;
// - the device comes from navigator.gpu, and the graph is there: it makes the frame brighter, to at most 1;
// - queue.writeBuffer in place of the shader that fills a tensor from a video, and a copy in place of the one that renders: the emulated device
//   has no shaders;
// - a loop in place of requestVideoFrameCallback;
// - tensorizedGpuBufferAfterInference.destroy() in place of release(), which GPUBuffer does not have.
const gpuDevice = await (await navigator.gpu.requestAdapter()).requestDevice();
const mlContext = await navigator.ml.createContext(gpuDevice);

const descriptor = {dataType: 'float32', shape: [1, 1, 2, 2]};
const builder = new MLGraphBuilder(mlContext);
const input = builder.input('input', descriptor);
const graph = await builder.build({output: builder.clamp(builder.mul(input, builder.constant('float32', 2)), {maxValue: 1})});

// Create a couple MLTensors to be shared with WebGPU.
const mlTensor1 = await mlContext.createExportableTensor(descriptor, gpuDevice);
const mlTensor2 = await mlContext.createExportableTensor(descriptor, gpuDevice);
const screen = gpuDevice.createBuffer({size: 16, usage: GPUBufferUsage.COPY_DST | GPUBufferUsage.MAP_READ});

const applyEffectToFrame = async frame => {
  // Wait for all ML work involving `mlTensor1` to complete, then rent it out to WebGPU.
  const tensorizedGpuBuffer = mlContext.exportToGPU(mlTensor1);
  gpuDevice.queue.writeBuffer(tensorizedGpuBuffer, 0, frame);

  // WebNN cannot use the tensor meanwhile.
  try {
    mlContext.dispatch(graph, {input: mlTensor1}, {output: mlTensor2});
  } catch (error) {
    console.log(`${error.name}: ${error.message}`);
  }

  // Return the buffer to WebNN.
  tensorizedGpuBuffer.destroy();

  mlContext.dispatch(graph, {input: mlTensor1}, {output: mlTensor2});

  // Wait for all ML work involving `mlTensor2` to complete, then rent it out to WebGPU.
  const tensorizedGpuBufferAfterInference = mlContext.exportToGPU(mlTensor2);
  const encoder = gpuDevice.createCommandEncoder();
  encoder.copyBufferToBuffer(tensorizedGpuBufferAfterInference, 0, screen, 0, 16);
  gpuDevice.queue.submit([encoder.finish()]);

  // Return the buffer to WebNN for the next frame.
  tensorizedGpuBufferAfterInference.destroy();
};

for (const brightness of [0.125, 0.25]) {
  await applyEffectToFrame(new Float32Array([0, 1, 2, 4]).map(each => each * brightness));
  await screen.mapAsync(GPUMapMode.READ);
  console.log(new Float32Array(screen.getMappedRange()).join(' '));
  screen.unmap();
}
