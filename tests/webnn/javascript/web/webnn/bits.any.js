// META: title=Numbers cross the border bit by bit
// META: script=resources/helpers.js

'use strict';

// For each type: its view, the view for its bits, and bits that must arrive as they are.
const PATTERNS = {
  float32: [Float32Array, Uint32Array, [0, 0x80000000, 1, 0x007fffff, 0x807fffff, 0x7f7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc12345,
                                        0x7f800001, 0x7fffffff]],
  float16: [Float16Array, Uint16Array, [0, 0x8000, 1, 0x03ff, 0x83ff, 0x7bff, 0x7c00, 0xfc00, 0x7e00, 0xfe55, 0x7c01, 0x7fff]],
  int64: [BigInt64Array, BigUint64Array, [0n, 1n, 2n ** 53n + 1n, 2n ** 63n - 1n, 2n ** 63n, 2n ** 64n - 1n]],
  uint64: [BigUint64Array, BigUint64Array, [0n, 1n, 2n ** 53n + 1n, 2n ** 63n - 1n, 2n ** 63n, 2n ** 64n - 1n]],
  int32: [Int32Array, Uint32Array, [0, 1, 0x7fffffff, 0x80000000, 0xffffffff]],
  uint32: [Uint32Array, Uint32Array, [0, 1, 0x7fffffff, 0x80000000, 0xffffffff]],
  int8: [Int8Array, Uint8Array, [0, 1, 0x7f, 0x80, 0xff]],
  uint8: [Uint8Array, Uint8Array, [0, 1, 0x7f, 0x80, 0xff]],
};

for (const [dataType, [View, Bits, patterns]] of Object.entries(PATTERNS)) {
  builder_test(async (builder, t, context) => {
    const descriptor = {dataType, dimensions: [patterns.length]};
    const make = values => new View(new Bits(values).buffer);
    const outputs = {
      input: builder.reshape(builder.input('x', descriptor), [1, patterns.length]),
      constant: builder.reshape(builder.constant(descriptor, make(patterns)), [patterns.length, 1]),
    };
    const graph = await builder.build(outputs);
    const result = await context.compute(graph, {x: make(patterns)}, {input: new View(patterns.length), constant: new View(patterns.length)});
    for (const view of [result.inputs.x, result.outputs.input, result.outputs.constant]) {
      assert_equals(view.constructor, View);
      assert_array_equals(new Bits(view.buffer), patterns);
    }
  }, `${dataType}: what goes in comes out`);
}

builder_test(async (builder, t, context) => {
  // More than one piece of what crosses the border at a time, and no whole number of pieces.
  const length = (3 << 19) * 2 + 12344, descriptor = {dataType: 'uint8', dimensions: [length]};
  const view = new Uint8Array(length);
  for (let index = 0; index < length; index += 997) view[index] = index % 251;
  view[length - 1] = 99;
  const expected = view.slice();
  const graph = await buildCopies(builder, {y: ['x', descriptor]});
  const {outputs} = await context.compute(graph, {x: view}, {y: new Uint8Array(length)});
  const [actual, wanted] = [outputs.y, expected].map(bytes => new Uint32Array(bytes.buffer));
  assert_equals(actual.findIndex((word, index) => word !== wanted[index]), -1, 'the first difference');
}, 'uint8: a large tensor');

// The value of constant(type, value) is a double.
for (const [dataType, View, cases] of [
  ['float32', Float32Array, [[0.1, Math.fround(0.1)], [-0, -0], [16777217, 16777216]]],
  ['float16', Float16Array, [[0.1, Math.f16round(0.1)], [65504, 65504]]],
  ['int32', Int32Array, [[2 ** 31 - 1, 2 ** 31 - 1], [-(2 ** 31), -(2 ** 31)]]], ['uint32', Uint32Array, [[2 ** 32 - 1, 2 ** 32 - 1]]],
  ['int64', BigInt64Array, [[2 ** 53, 2n ** 53n], [-(2 ** 63), -(2n ** 63n)]]],
  ['uint64', BigUint64Array, [[2 ** 53, 2n ** 53n], [2 ** 63, 2n ** 63n]]],
  ['int8', Int8Array, [[-128, -128], [127, 127]]], ['uint8', Uint8Array, [[255, 255]]],
]) {
  promise_test(async () => {
    for (const [value, expected] of cases) {
      const {context, builder} = await createBuilder();
      const y = await evaluate(context, builder, builder.constant(dataType, value), new View(1));
      assert_equals(y[0], expected, String(value));
    }
  }, `constant(${dataType}, value)`);
}
