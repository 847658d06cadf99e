// Reads the weights of an ONNX file: https://onnx.ai/onnx/repo-docs/IR.html. The file is in the format of protocol buffers.

const FLOAT32 = 1, FLOAT16 = 10;
/** Numbers of fields: of a model, a graph, and a tensor. */
const GRAPH = 7, INITIALIZER = 5, DIMS = 1, DATA_TYPE = 2, NAME = 8, RAW_DATA = 9;

/** Yields the number and the value of each field of a message: an integer, or bytes. */
function* fields(bytes) {
  let at = 0;
  const varint = () => {
    let value = 0, factor = 1, byte;
    do {
      byte = bytes[at++];
      if (byte === undefined) throw new RangeError('model.onnx ends too early');
      value += (byte & 0x7f) * factor;
      factor *= 128;
    } while (byte & 0x80);
    return value;
  };
  while (at < bytes.length) {
    const key = varint(), kind = key & 7, number = Math.floor(key / 8);
    if (kind === 0) {
      yield [number, varint()];
      continue;
    }
    const size = {1: 8, 2: 0, 5: 4}[kind] || varint();
    if (kind === 3 || kind === 4 || at + size > bytes.length) throw new RangeError('model.onnx is not a model');
    yield [number, bytes.subarray(at, at += size)];
  }
}

function toFloat32(half) {
  const sign = half & 0x8000 ? -1 : 1, exponent = (half >> 10) & 31, fraction = half & 1023;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * (exponent ? (1 + fraction / 1024) * 2 ** (exponent - 15) : fraction * 2 ** -24);
}

/**
 * Returns the weights with a floating-point type by their names: {shape, values}, with values in a Float32Array.
 * @param {ArrayBuffer} file
 */
export function readWeights(file) {
  const weights = new Map();
  for (const [ofModel, graph] of fields(new Uint8Array(file))) {
    if (ofModel !== GRAPH) continue;
    for (const [ofGraph, tensor] of fields(graph)) {
      if (ofGraph !== INITIALIZER) continue;
      let name = '', type = 0, data = new Uint8Array(0);
      const shape = [];
      for (const [number, value] of fields(tensor)) {
        if (number === DIMS) shape.push(value);
        if (number === DATA_TYPE) type = value;
        if (number === NAME) name = new TextDecoder().decode(value);
        if (number === RAW_DATA) data = value;
      }
      // A copy, which begins at a whole number of elements.
      const raw = data.slice().buffer;
      if (type === FLOAT32) weights.set(name, {shape, values: new Float32Array(raw)});
      if (type === FLOAT16) weights.set(name, {shape, values: Float32Array.from(new Uint16Array(raw), toFloat32)});
    }
  }
  return weights;
}
