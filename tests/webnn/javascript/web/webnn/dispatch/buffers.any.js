// META: title=Conversion of buffers: AllowSharedBufferSource
// META: script=../resources/helpers.js
// META: script=../resources/tensors.js

'use strict';

// https://webidl.spec.whatwg.org/#js-buffer-source-types

const BYTES = new Uint8Array(new Float32Array([1.5, -2]).buffer);
const fill = buffer => { new Uint8Array(buffer).set(BYTES); return buffer; };
// The bytes of a buffer or a view, whatever its own properties say.
function bytesOf(source) {
  if (!ArrayBuffer.isView(source)) return new Uint8Array(source);
  const read = name => Reflect.get(Object.getPrototypeOf(Uint8Array.prototype), name, source);
  return new Uint8Array(read('buffer'), read('byteOffset'), read('byteLength'));
}
function around(Buffer, View, offset = 8, length = 8) {
  const buffer = new Buffer(32);
  new Uint8Array(buffer, offset, 8).set(BYTES);
  return new View(buffer, offset, length / View.BYTES_PER_ELEMENT);
}

const SOURCES = {
  'an ArrayBuffer': () => fill(new ArrayBuffer(8)),
  'a SharedArrayBuffer': () => fill(new SharedArrayBuffer(8)),
  'a Float32Array': () => new Float32Array([1.5, -2]),
  'a Float32Array in the middle of a buffer': () => around(ArrayBuffer, Float32Array),
  'a Float32Array of a SharedArrayBuffer': () => around(SharedArrayBuffer, Float32Array),
  'a Uint8Array': () => BYTES.slice(),
  'a Uint8Array at an odd place': () => around(ArrayBuffer, Uint8Array, 3),
  'a Uint8Array of a SharedArrayBuffer': () => around(SharedArrayBuffer, Uint8Array, 3),
  'an object of a subclass': () => new class Mine extends Float32Array { get buffer() { return null; } get byteLength() { return 1; } }([1.5, -2]),
  'a buffer without a prototype': () => Object.setPrototypeOf(fill(new ArrayBuffer(8)), null),
};
for (const [what, make] of Object.entries(SOURCES)) {
  context_test(async (context, builder) => {
    assert_array_equals(new Float32Array(await evaluate(context, builder, builder.constant(PAIR, make()))), [1.5, -2]);
    const tensor = await createTensor(context, PAIR);
    context.writeTensor(tensor, make());
    assert_array_equals(new Float32Array(await context.readTensor(tensor)), [1.5, -2]);
    const constant = await context.createConstantTensor(PAIR, make());
    const second = new MLGraphBuilder(context);
    assert_array_equals(new Float32Array(await evaluate(context, second, second.constant(constant))), [1.5, -2]);
    const output = make();
    bytesOf(output).fill(0);
    assert_equals(await context.readTensor(tensor, output), undefined);
    assert_array_equals(bytesOf(output), BYTES);
  }, `${what}: constant(), writeTensor(), createConstantTensor(), readTensor()`);
}

// These have no element type that the draft knows; the bytes of a tensor may come from any buffer.
const BYTES_ONLY = {
  'a DataView': () => new DataView(fill(new ArrayBuffer(8))),
  'a DataView in the middle of a buffer': () => { const view = around(ArrayBuffer, Uint8Array, 3); return new DataView(view.buffer, 3, 8); },
  'a DataView of a SharedArrayBuffer': () => new DataView(fill(new SharedArrayBuffer(8))),
  'a Uint8ClampedArray': () => new Uint8ClampedArray(BYTES),
  'a Uint16Array': () => new Uint16Array(BYTES.slice().buffer),
  'a Float64Array': () => new Float64Array(BYTES.slice().buffer),
};
for (const [what, make] of Object.entries(BYTES_ONLY)) {
  context_test(async (context, builder, t) => {
    const tensor = await createTensor(context, PAIR);
    context.writeTensor(tensor, make());
    assert_array_equals(new Float32Array(await context.readTensor(tensor)), [1.5, -2]);
    const output = make(), bytes = new Uint8Array(output.buffer, output.byteOffset, output.byteLength);
    bytes.fill(0);
    assert_equals(await context.readTensor(tensor, output), undefined);
    assert_array_equals(bytes, BYTES);
    assert_throws_js(TypeError, () => builder.constant(PAIR, make()));
    await promise_rejects_js(t, TypeError, context.createConstantTensor(PAIR, make()));
  }, `${what}: writeTensor(), readTensor(); not constant(), createConstantTensor()`);
}

context_test(async context => {
  const pixels = await createTensor(context, {dataType: 'uint8', shape: [1, 1, 4]}), data = new Uint8ClampedArray([0, 300, -1, 127.5]);
  context.writeTensor(pixels, data);
  assert_array_equals(new Uint8Array(await context.readTensor(pixels)), [0, 255, 0, 128]);
  assert_throws_js(TypeError, () => context.writeTensor(pixels, data.subarray(1)), 'too small');
}, 'The data of an image');

function detached(make) {
  const value = make();
  (ArrayBuffer.isView(value) ? value.buffer : value).transfer();
  return value;
}
const REFUSED = {
  'a resizable ArrayBuffer': () => new ArrayBuffer(8, {maxByteLength: 16}),
  'a view of a resizable ArrayBuffer': () => new Float32Array(new ArrayBuffer(8, {maxByteLength: 16})),
  'a view that follows a resizable ArrayBuffer': () => new Uint8Array(new ArrayBuffer(8, {maxByteLength: 16})),
  'a detached ArrayBuffer': () => detached(() => new ArrayBuffer(8)),
  'a detached Float32Array': () => detached(() => new Float32Array(2)),
  'a detached DataView': () => detached(() => new DataView(new ArrayBuffer(8))),
  'a buffer that is too small': () => new ArrayBuffer(7),
  'an empty buffer': () => new ArrayBuffer(0),
  'an array': () => [1.5, -2],
  'an object like a buffer': () => ({byteLength: 8, slice() {}}),
  'an object with the prototype of a buffer': () => Object.create(ArrayBuffer.prototype),
  'a proxy of a buffer': () => new Proxy(new ArrayBuffer(8), {}),
  'a number': () => 8, 'a text': () => '12345678', 'null': () => null, 'undefined': () => undefined, 'a function': () => () => {},
};
context_test(async (context, builder, t) => {
  const tensor = await createTensor(context, PAIR);
  for (const [what, make] of Object.entries(REFUSED)) {
    assert_throws_js(TypeError, () => builder.constant(PAIR, make()), `${what}: constant`);
    assert_throws_js(TypeError, () => context.writeTensor(tensor, make()), `${what}: writeTensor`);
    await promise_rejects_js(t, TypeError, context.createConstantTensor(PAIR, make()), `${what}: createConstantTensor`);
    await promise_rejects_js(t, TypeError, context.readTensor(tensor, make()), `${what}: readTensor`);
  }
  assert_throws_js(TypeError, () => context.writeTensor(tensor, new ArrayBuffer(9)), 'too large');
  assert_throws_js(TypeError, () => builder.constant(PAIR, new Int32Array(2)), 'elements of another type');
}, 'What is refused');

context_test(async (context, builder) => {
  const data = new Float32Array([1, 2]), y = builder.constant(PAIR, data), tensor = await createTensor(context, PAIR);
  context.writeTensor(tensor, data);
  const promise = context.createConstantTensor(PAIR, data);
  data.fill(9);
  const second = new MLGraphBuilder(context), constant = second.constant(await promise);
  data.buffer.transfer();
  assert_array_equals(new Float32Array(await evaluate(context, builder, y)), [1, 2]);
  assert_array_equals(new Float32Array(await context.readTensor(tensor)), [1, 2]);
  assert_array_equals(new Float32Array(await evaluate(context, second, constant)), [1, 2]);
}, 'The bytes are those of the call');
