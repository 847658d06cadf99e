// Reports the numbers that a program reads from tensors, in the emulator and in a browser alike: an expression.
(report) => {
  const MOST = 1024;
  const {MLContext} = globalThis;
  if (typeof MLContext?.prototype.readTensor !== 'function') return;
  const {readTensor} = MLContext.prototype;
  const {apply} = Reflect, {stringify} = JSON, {isFinite} = Number;
  const types = {
    float32: Float32Array, float16: globalThis.Float16Array, int64: BigInt64Array, uint64: BigUint64Array,
    int32: Int32Array, uint32: Uint32Array, int8: Int8Array, uint8: Uint8Array,
  };
  const note = (tensor, bytes) => {
    const kind = types[tensor.dataType];
    if (!kind) return;
    const numbers = ArrayBuffer.isView(bytes) ? new kind(bytes.buffer, bytes.byteOffset) : new kind(bytes);
    const values = [...numbers.subarray(0, MOST)].map(Number).map((each) => isFinite(each) ? each : String(each));
    report(stringify({dataType: tensor.dataType, shape: [...tensor.shape], values, size: numbers.length}));
  };
  MLContext.prototype.readTensor = {
    async readTensor(tensor, ...rest) {
      const found = await apply(readTensor, this, [tensor, ...rest]);
      try {
        note(tensor, found ?? rest[0]);
      } catch {
        // The program has its numbers all the same.
      }
      return found;
    },
  }.readTensor;
}
