// META: title=Conversion of ArrayBufferViews, and constants made of them
// META: script=resources/helpers.js

'use strict';

// The appendix "MLOperandDataType and ArrayBufferView compatibility" of the draft. Where there is no Float16Array, a Uint16Array holds the
// bits of float16.
const KINDS = {
  float32: [Float32Array], float16: [Float16Array, Uint16Array], int32: [Int32Array], uint32: [Uint32Array], int64: [BigInt64Array],
  uint64: [BigUint64Array], int8: [Int8Array], uint8: [Uint8Array],
};
const ALL = [Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array, Int32Array, Uint32Array, Float16Array, Float32Array, Float64Array,
             BigInt64Array, BigUint64Array, DataView];
const SIZES = {float32: 4, float16: 2, int32: 4, uint32: 4, int64: 8, uint64: 8, int8: 1, uint8: 1};

const describe = dataType => ({dataType, dimensions: [2]});

for (const [dataType, kinds] of Object.entries(KINDS)) {
  builder_test(async builder => {
    for (const View of ALL) {
      // The same number of bytes, whatever the elements are.
      const view = new View(new ArrayBuffer(16), 0, 2 * SIZES[dataType] / (View.BYTES_PER_ELEMENT ?? 1));
      const body = () => builder.constant(describe(dataType), view);
      if (kinds.includes(View)) assert_equals(body().dataType(), dataType, View.name);
      else assert_throws_js(TypeError, body, View.name);
    }
  }, `constant: the views of ${dataType}`);

  for (const View of kinds) {
    builder_test(async (builder, t, context) => {
      const convert = View.name.startsWith('Big') ? BigInt : Number;
      const source = new View(8).map((_, index) => convert(index * 11));
      const view = source.subarray(3, 5), bytes = new Uint8Array(source.buffer.slice(view.byteOffset, view.byteOffset + view.byteLength));
      const constant = builder.constant(describe(dataType), view);
      source.fill(convert(0));
      assert_equals(view.length, 2, 'it is not transferred');
      const y = await evaluate(context, builder, constant, new View(2));
      assert_equals(y.constructor, View);
      assert_array_equals(new Uint8Array(y.buffer), bytes, 'the bytes, as they were when constant() was called');
    }, `constant: a ${View.name} with an offset, as ${dataType}`);
  }
}

builder_test(async builder => {
  for (const [what, value] of Object.entries({
    'an ArrayBuffer': new ArrayBuffer(8), 'a SharedArrayBuffer': new SharedArrayBuffer(8), 'an array': [1, 2], 'an object': {length: 2, 0: 1, 1: 2},
    'a number': 1, 'a string': '12345678', 'null': null, 'a forgery': Object.create(Float32Array.prototype), 'an heir': Object.create(new Float32Array(2)),
    'a proxy': new Proxy(new Float32Array(2), {}), 'a tagged object': {[Symbol.toStringTag]: 'Float32Array', buffer: new ArrayBuffer(8), byteLength: 8},
  })) {
    assert_throws_js(TypeError, () => builder.constant(FLOATS, value), what);
  }
}, 'What is no ArrayBufferView is refused');

builder_test(async builder => {
  for (const length of [0, 1, 3, 1000]) assert_throws_js(TypeError, () => builder.constant(FLOATS, new Float32Array(length)), `${length} elements`);
  assert_array_equals(builder.constant({dataType: 'float32', dimensions: []}, new Float32Array(1)).shape(), []);
}, 'A view of another length is refused');

builder_test(async (builder, t, context) => {
  const operand = builder.neg(builder.input('x', FLOATS)), graph = await builder.build({y: operand});
  const resizable = new ArrayBuffer(8, {maxByteLength: 16}), shared = new SharedArrayBuffer(8);
  const detached = new Float32Array(2), gone = new Float32Array(new ArrayBuffer(8, {maxByteLength: 8}));
  detached.buffer.transfer();
  gone.buffer.transfer();
  const views = {
    'shared': new Float32Array(shared), 'shared, as bytes': new DataView(shared),
    'resizable': new Float32Array(resizable), 'resizable, of fixed length': new Float32Array(resizable, 0, 2), 'detached': detached,
    'detached, once resizable': gone,
  };
  for (const [what, view] of Object.entries(views)) {
    assert_throws_js(TypeError, () => builder.constant(FLOATS, view), `constant: ${what}`);
    await promise_rejects_js(t, TypeError, context.compute(graph, {x: view}, {y: new Float32Array(2)}), `an input: ${what}`);
    const x = new Float32Array(2);
    await promise_rejects_js(t, TypeError, context.compute(graph, {x}, {y: view}), `an output: ${what}`);
    assert_equals(x.length, 2, `the other view stays: ${what}`);
  }
  assert_equals(resizable.byteLength, 8);
  assert_equals(shared.byteLength, 8);
}, 'Views of shared, resizable and detached buffers are refused');

builder_test(async (builder, t, context) => {
  class Mine extends Float32Array {
    get buffer() { throw new Error('buffer'); }
    get byteLength() { throw new Error('byteLength'); }
    get byteOffset() { throw new Error('byteOffset'); }
    get length() { throw new Error('length'); }
    get [Symbol.toStringTag]() { return 'Int32Array'; }
    static get [Symbol.species]() { throw new Error('species'); }
    *[Symbol.iterator]() { throw new Error('iterator'); }
  }
  const disguised = new Float32Array([1, 2]);
  Object.defineProperties(disguised, {
    constructor: {get() { throw new Error('constructor'); }}, byteLength: {value: 4}, byteOffset: {value: 4}, length: {value: 1},
    buffer: {value: new ArrayBuffer(8)},
    [Symbol.toStringTag]: {value: 'Int32Array'},
  });
  Object.setPrototypeOf(disguised, Int32Array.prototype);
  for (const view of [new Mine([1, 2]), disguised]) {
    const y = await evaluate(context, builder = new MLGraphBuilder(context), builder.constant(FLOATS, view), new Float32Array(2));
    assert_array_equals(y, [1, 2]);
    assert_throws_js(TypeError, () => builder.constant(describe('int32'), view), 'what it says it is does not count');
  }
  const graph = await builder.build({y: builder.neg(builder.input('x', FLOATS))});
  const {inputs, outputs} = await context.compute(graph, {x: disguised}, {y: new Mine(2)});
  assert_array_equals(outputs.y, [-1, -2]);
  for (const view of [inputs.x, outputs.y]) assert_equals(Object.getPrototypeOf(view), Float32Array.prototype, 'the new views are plain');
}, 'Subclasses and disguises are seen through');

builder_test(async (builder, t, context) => {
  const original = Float32Array, intrinsic = Object.getPrototypeOf(Float32Array.prototype);
  const graph = await builder.build({y: builder.neg(builder.input('x', FLOATS))}), x = new Float32Array([1, 2]), y = new Float32Array(2);
  const buffer = Object.getOwnPropertyDescriptor(intrinsic, 'buffer'), {isView} = ArrayBuffer, {transfer} = ArrayBuffer.prototype;
  let promise;
  try {
    self.Float32Array = class {};
    ArrayBuffer.prototype.transfer = () => { throw new Error('transfer'); };
    ArrayBuffer.isView = () => false;
    Object.defineProperty(intrinsic, 'buffer', {get() { throw new Error('buffer'); }, configurable: true});
    promise = context.compute(graph, {x}, {y});
  } finally {
    self.Float32Array = original;
    ArrayBuffer.prototype.transfer = transfer;
    Object.defineProperty(intrinsic, 'buffer', buffer);
    ArrayBuffer.isView = isView;
  }
  const {outputs} = await promise;
  assert_true(outputs.y instanceof original);
  assert_array_equals(outputs.y, [-1, -2]);
}, 'The intrinsic constructors and methods are used, whatever became of the global ones');

builder_test(async builder => {
  const view = new Float32Array(2);
  const descriptor = {dataType: 'float32', get dimensions() { return [2]; }};
  assert_array_equals(builder.constant(descriptor, view).shape(), [2]);
  // The descriptor is converted first: the view is what it is afterwards.
  const detaching = {get dataType() { view.buffer.transfer(); return 'float32'; }, dimensions: [2]};
  assert_throws_js(TypeError, () => builder.constant(detaching, view), 'it is detached then');
}, 'A getter that detaches the view');
