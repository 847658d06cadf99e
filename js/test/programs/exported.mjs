// Ends while the bytes of a buffer are to come.
import {install} from 'webnn-emulator';

class GPUDevice {
  lost = new Promise(() => {});
  queue = {submit() {}};
  createBuffer({size}) { return {getMappedRange: () => new ArrayBuffer(size), unmap() {}, destroy() {}, mapAsync: () => new Promise(() => {})}; }
  createCommandEncoder() { return {copyBufferToBuffer() {}, finish() {}}; }
}
install({revision: '2026-09'});
const context = await navigator.ml.createContext();
const tensor = await context.createExportableTensor({dataType: 'float32', shape: [1], readable: true}, new GPUDevice());
context.exportToGPU(tensor).destroy();
context.readTensor(tensor).catch(() => {});
process.exit(3);
