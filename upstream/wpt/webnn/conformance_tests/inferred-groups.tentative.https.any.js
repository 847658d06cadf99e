// META: title=test WebNN API inferred-groups
// META: global=window
// META: variant=?cpu
// META: variant=?gpu
// META: variant=?npu
// META: script=../resources/utils_validation.js
// META: timeout=long

'use strict';

const kInfinities = {
  float32: 0x7f800000,
  float16: 0x7c00,
  bfloat16: 0x7f80,
  float8e4m3: 0x7e,
};

const computeGraph = async (graph, inputs, outputs) => {
  const tensors = {inputs: {}, outputs: {}};
  for (const [name, [descriptor, data]] of Object.entries(inputs)) {
    tensors.inputs[name] =
        await context.createTensor({...descriptor, writable: true});
    context.writeTensor(tensors.inputs[name], data);
  }
  for (const [name, {dataType, shape}] of Object.entries(outputs)) {
    tensors.outputs[name] =
        await context.createTensor({dataType, shape, readable: true});
  }
  context.dispatch(graph, tensors.inputs, tensors.outputs);
  return tensors.outputs;
};

const toOrdered = (bits, infinity, sign) => {
  if (infinity === undefined) {
    return BigInt(bits);
  }
  const magnitude = BigInt(bits) & (sign - 1n);
  if (magnitude > BigInt(infinity)) {
    return 'NaN';
  }
  return BigInt(bits) & sign ? -magnitude : magnitude;
};

const assertOutputEquals =
    async (tensor, dataType, shape, expected, ulp, name) => {
  assert_equals(tensor.dataType, dataType, `data type of ${name}`);
  assert_array_equals(tensor.shape, shape, `shape of ${name}`);
  const infinity = kInfinities[dataType];
  const sign = 1n << BigInt(8 * expected.BYTES_PER_ELEMENT - 1);
  const Bits = expected instanceof Float32Array ? Uint32Array :
                                                  expected.constructor;
  const actual = new Bits(await context.readTensor(tensor));
  const wanted = new Bits(expected.buffer);
  assert_equals(actual.length, wanted.length, `length of ${name}`);
  for (let i = 0; i < actual.length; i++) {
    const [a, b] = [actual[i], wanted[i]].map(
        (bits) => toOrdered(bits, infinity, sign));
    const distance = a === b ? 0n :
        a === 'NaN' || b === 'NaN' ? undefined : (a > b ? a - b : b - a);
    assert_true(
        distance !== undefined && distance <= BigInt(ulp),
        `${name}[${i}] must be within ${ulp} ULP of the bits ${wanted[i]}, ` +
            `got ${actual[i]}`);
  }
};

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input1 = builder.input(
      'x', {dataType: 'float32', shape: [1, 4, 2, 2]});
  const constant1 = builder.constant(
      {dataType: 'float32', shape: [4, 1, 1, 1]},
      new Float32Array([1, 2, 3, 4]));
  const conv2d1 = builder.conv2d(input1, constant1);
  const outputs = {y: conv2d1};
  const graph = await builder.build(outputs);
  const inputs = {
    x: [
      {dataType: 'float32', shape: [1, 4, 2, 2]},
      new Float32Array([
        0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
      ])
    ]
  };
  const results = await computeGraph(graph, inputs, outputs);
  await assertOutputEquals(
      results['y'], 'float32', [1, 4, 2, 2],
      new Float32Array([
        0, 1, 2, 3, 8, 10, 12, 14, 24, 27, 30, 33, 48, 52, 56, 60
      ]), 0, 'y');
}, 'depthwise conv2d without groups');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input1 = builder.input(
      'x', {dataType: 'float32', shape: [1, 4, 2, 2]});
  const constant1 = builder.constant(
      {dataType: 'float32', shape: [6, 2, 2, 2]},
      new Float32Array([
        1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
        22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39,
        40, 41, 42, 43, 44, 45, 46, 47, 48
      ]));
  const conv2d1 = builder.conv2d(input1, constant1);
  const outputs = {y: conv2d1};
  const graph = await builder.build(outputs);
  const inputs = {
    x: [
      {dataType: 'float32', shape: [1, 4, 2, 2]},
      new Float32Array([
        0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
      ])
    ]
  };
  const results = await computeGraph(graph, inputs, outputs);
  await assertOutputEquals(
      results['y'], 'float32', [1, 6, 1, 1],
      new Float32Array([168, 392, 616, 2664, 3400, 4136]), 0, 'y');
}, 'conv2d of two groups without groups');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input1 = builder.input(
      'x', {dataType: 'float32', shape: [1, 4, 2, 2]});
  const constant1 = builder.constant(
      {dataType: 'float32', shape: [3, 4, 1, 1]},
      new Float32Array([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]));
  const conv2d1 = builder.conv2d(input1, constant1);
  const outputs = {y: conv2d1};
  const graph = await builder.build(outputs);
  const inputs = {
    x: [
      {dataType: 'float32', shape: [1, 4, 2, 2]},
      new Float32Array([
        0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
      ])
    ]
  };
  const results = await computeGraph(graph, inputs, outputs);
  await assertOutputEquals(
      results['y'], 'float32', [1, 3, 2, 2],
      new Float32Array([
        80, 90, 100, 110, 176, 202, 228, 254, 272, 314, 356, 398
      ]), 0, 'y');
}, 'conv2d of one group without groups');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input1 = builder.input(
      'x', {dataType: 'float32', shape: [1, 4, 2, 2]});
  const constant1 = builder.constant(
      {dataType: 'float32', shape: [4, 2, 1, 1]},
      new Float32Array([0, 1, 2, 3, 4, 5, 6, 7]));
  const convTranspose2d1 = builder.convTranspose2d(input1, constant1);
  const outputs = {y: convTranspose2d1};
  const graph = await builder.build(outputs);
  const inputs = {
    x: [
      {dataType: 'float32', shape: [1, 4, 2, 2]},
      new Float32Array([
        0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
      ])
    ]
  };
  const results = await computeGraph(graph, inputs, outputs);
  await assertOutputEquals(
      results['y'], 'float32', [1, 2, 2, 2],
      new Float32Array([112, 124, 136, 148, 136, 152, 168, 184]), 0, 'y');
}, 'convTranspose2d without groups has one');
