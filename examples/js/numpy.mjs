// Reads NumPy's files: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html.

const TYPES = {
  '|i1': ['int8', Int8Array], '|u1': ['uint8', Uint8Array], '<i4': ['int32', Int32Array], '<u4': ['uint32', Uint32Array],
  '<i8': ['int64', BigInt64Array], '<u8': ['uint64', BigUint64Array], '<f4': ['float32', Float32Array], '<f8': ['float64', Float64Array],
};

/**
 * Read the content of a file `.npy`.
 *
 * @param {Uint8Array} bytes The content.
 * @returns {{dataType: string, shape: number[], data: ArrayBufferView}} The array, in the order of C.
 */
export function readNpy(bytes) {
  if (String.fromCharCode(...bytes.subarray(0, 6)) !== '\x93NUMPY') throw new Error('this is no file .npy');
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const [start, length] = bytes[6] === 1 ? [10, view.getUint16(8, true)] : [12, view.getUint32(8, true)];
  const header = new TextDecoder().decode(bytes.subarray(start, start + length));
  const [, descr] = header.match(/'descr': '([^']*)'/) ?? [];
  const [, sizes] = header.match(/'shape': \(([^)]*)\)/) ?? [];
  if (!(descr in TYPES) || sizes === undefined) throw new Error(`a file .npy with this header cannot be read here: ${header.trim()}`);
  if (header.includes("'fortran_order': True")) throw new Error('an array in the order of Fortran cannot be read here');
  const [dataType, View] = TYPES[descr];
  const shape = sizes.split(',').map(size => size.trim()).filter(size => size !== '').map(Number);
  const size = shape.reduce((product, each) => product * each, 1) * View.BYTES_PER_ELEMENT;
  const content = bytes.slice(start + length, start + length + size);
  if (content.length !== size) throw new Error(`a file .npy must hold ${size} bytes for ${dataType} [${shape}], got ${content.length}`);
  return {dataType, shape, data: new View(content.buffer)};
}

/**
 * Read the content of a file `.npz`: a ZIP archive of files `.npy`.
 *
 * @param {Uint8Array} bytes The content.
 * @returns {Promise<Map<string, {dataType: string, shape: number[], data: ArrayBufferView}>>} The arrays by name.
 */
export async function readNpz(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  // The end of the archive names the place of its table; a comment may follow, which NumPy does not write.
  const end = bytes.length - 22;
  if (end < 0 || view.getUint32(end, true) !== 0x06054b50) throw new Error('this is no file .npz');
  const arrays = new Map();
  let entry = view.getUint32(end + 16, true);
  for (let count = view.getUint16(end + 10, true); count > 0; count--) {
    const [method, size] = [view.getUint16(entry + 10, true), view.getUint32(entry + 20, true)];
    const [nameLength, extraLength, commentLength] = [28, 30, 32].map(offset => view.getUint16(entry + offset, true));
    const name = new TextDecoder().decode(bytes.subarray(entry + 46, entry + 46 + nameLength));
    const local = view.getUint32(entry + 42, true);
    const start = local + 30 + view.getUint16(local + 26, true) + view.getUint16(local + 28, true);
    arrays.set(name.replace(/\.npy$/, ''), readNpy(await unpack(bytes.subarray(start, start + size), method)));
    entry += 46 + nameLength + extraLength + commentLength;
  }
  return arrays;
}

const STORED = 0, DEFLATED = 8;

async function unpack(packed, method) {
  if (method === STORED) return packed;
  if (method !== DEFLATED) throw new Error(`a file .npz packed with method ${method} cannot be read here`);
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('deflate-raw'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}
