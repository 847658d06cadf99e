// META: title=test WebNN API window-limits
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
  const constant1 = builder.constant(
      {dataType: 'float32', shape: [1, 1, 2, 2]},
      new Float32Array([1, 1, 1, 1]));
  const input1 = builder.input(
      'x', {dataType: 'float32', shape: [1, 1, 5, 5]});
  const conv2d1 = builder.conv2d(input1, constant1, {strides: [5, 5]});
  const outputs = {y: conv2d1};
  const graph = await builder.build(outputs);
  const inputs = {
    x: [
      {dataType: 'float32', shape: [1, 1, 5, 5]},
      new Float32Array([
        0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20,
        21, 22, 23, 24
      ])
    ]
  };
  const results = await computeGraph(graph, inputs, outputs);
  await assertOutputEquals(
      results['y'], 'float32', [1, 1, 1, 1],
      new Float32Array([12]), 0, 'y');
}, 'conv2d strides, as large as possible');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const constant1 = builder.constant(
      {dataType: 'float32', shape: [1, 1, 2, 2]},
      new Float32Array([1, 1, 1, 1]));
  const input1 = builder.input(
      'x', {dataType: 'float32', shape: [1, 1, 5, 5]});
  const conv2d1 = builder.conv2d(
      input1, constant1, {strides: [6, 5], padding: [1, 0, 0, 0]});
  const outputs = {y: conv2d1};
  const graph = await builder.build(outputs);
  const inputs = {
    x: [
      {dataType: 'float32', shape: [1, 1, 5, 5]},
      new Float32Array([
        0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20,
        21, 22, 23, 24
      ])
    ]
  };
  const results = await computeGraph(graph, inputs, outputs);
  await assertOutputEquals(
      results['y'], 'float32', [1, 1, 1, 1],
      new Float32Array([1]), 0, 'y');
}, 'conv2d strides in padding, as large as possible');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const constant1 = builder.constant(
      {dataType: 'float32', shape: [1, 1, 2, 2]},
      new Float32Array([1, 1, 1, 1]));
  const input1 = builder.input(
      'x', {dataType: 'float32', shape: [1, 1, 5, 5]});
  const conv2d1 = builder.conv2d(input1, constant1, {dilations: [4, 4]});
  const outputs = {y: conv2d1};
  const graph = await builder.build(outputs);
  const inputs = {
    x: [
      {dataType: 'float32', shape: [1, 1, 5, 5]},
      new Float32Array([
        0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20,
        21, 22, 23, 24
      ])
    ]
  };
  const results = await computeGraph(graph, inputs, outputs);
  await assertOutputEquals(
      results['y'], 'float32', [1, 1, 1, 1],
      new Float32Array([48]), 0, 'y');
}, 'conv2d dilations, as large as possible');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input1 = builder.input(
      'x', {dataType: 'float32', shape: [1, 1, 5, 5]});
  const maxPool2d1 = builder.maxPool2d(
      input1, {windowDimensions: [2, 2], strides: [5, 5]});
  const outputs = {y: maxPool2d1};
  const graph = await builder.build(outputs);
  const inputs = {
    x: [
      {dataType: 'float32', shape: [1, 1, 5, 5]},
      new Float32Array([
        0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20,
        21, 22, 23, 24
      ])
    ]
  };
  const results = await computeGraph(graph, inputs, outputs);
  await assertOutputEquals(
      results['y'], 'float32', [1, 1, 1, 1],
      new Float32Array([6]), 0, 'y');
}, 'maxPool2d strides, as large as possible');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input1 = builder.input(
      'x', {dataType: 'float32', shape: [1, 1, 5, 5]});
  const maxPool2d1 = builder.maxPool2d(
      input1, {windowDimensions: [2, 2], padding: [1, 1, 0, 0]});
  const outputs = {y: maxPool2d1};
  const graph = await builder.build(outputs);
  const inputs = {
    x: [
      {dataType: 'float32', shape: [1, 1, 5, 5]},
      new Float32Array([
        0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20,
        21, 22, 23, 24
      ])
    ]
  };
  const results = await computeGraph(graph, inputs, outputs);
  await assertOutputEquals(
      results['y'], 'float32', [1, 1, 6, 4],
      new Float32Array([
        1, 2, 3, 4, 6, 7, 8, 9, 11, 12, 13, 14, 16, 17, 18, 19, 21, 22, 23, 24,
        21, 22, 23, 24
      ]), 0, 'y');
}, 'maxPool2d padding, as large as possible');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input1 = builder.input(
      'x', {dataType: 'float32', shape: [1, 1, 5, 5]});
  const averagePool2d1 = builder.averagePool2d(
      input1,
      {windowDimensions: [5, 5], strides: [2, 2], outputShapeRounding: 'ceil'});
  const outputs = {y: averagePool2d1};
  const graph = await builder.build(outputs);
  const inputs = {
    x: [
      {dataType: 'float32', shape: [1, 1, 5, 5]},
      new Float32Array([
        0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20,
        21, 22, 23, 24
      ])
    ]
  };
  const results = await computeGraph(graph, inputs, outputs);
  await assertOutputEquals(
      results['y'], 'float32', [1, 1, 1, 1],
      new Float32Array([12]), 0, 'y');
}, 'averagePool2d window that is larger than the input, as large as possible');
