// META: title=test WebNN API zero-size
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
  const input1 = builder.input('x', {dataType: 'float32', shape: [0, 3]});
  const relu1 = builder.relu(input1);
  const outputs = {y: relu1};
  const graph = await builder.build(outputs);
  const inputs = {
    x: [{dataType: 'float32', shape: [0, 3]}, new Float32Array([])]
  };
  const results = await computeGraph(graph, inputs, outputs);
  await assertOutputEquals(
      results['y'], 'float32', [0, 3],
      new Float32Array([]), 0, 'y');
}, 'relu of nothing');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input1 = builder.input('x', {dataType: 'float32', shape: [0, 3]});
  const input2 = builder.input('z', {dataType: 'float32', shape: [2, 3]});
  const concat1 = builder.concat([input1, input2], 0);
  const outputs = {y: concat1};
  const graph = await builder.build(outputs);
  const inputs = {
    x: [{dataType: 'float32', shape: [0, 3]}, new Float32Array([])],
    z: [
      {dataType: 'float32', shape: [2, 3]}, new Float32Array([0, 1, 2, 3, 4, 5])
    ]
  };
  const results = await computeGraph(graph, inputs, outputs);
  await assertOutputEquals(
      results['y'], 'float32', [2, 3],
      new Float32Array([0, 1, 2, 3, 4, 5]), 0, 'y');
}, 'concat with nothing');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input1 = builder.input('z', {dataType: 'float32', shape: [2, 3]});
  const slice1 = builder.slice(input1, [2, 0], [0, 3]);
  const outputs = {y: slice1};
  const graph = await builder.build(outputs);
  const inputs = {
    z: [
      {dataType: 'float32', shape: [2, 3]}, new Float32Array([0, 1, 2, 3, 4, 5])
    ]
  };
  const results = await computeGraph(graph, inputs, outputs);
  await assertOutputEquals(
      results['y'], 'float32', [0, 3],
      new Float32Array([]), 0, 'y');
}, 'slice of nothing');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input1 = builder.input('x', {dataType: 'float32', shape: [2, 0]});
  const input2 = builder.input('w', {dataType: 'float32', shape: [0, 2]});
  const matmul1 = builder.matmul(input1, input2);
  const outputs = {y: matmul1};
  const graph = await builder.build(outputs);
  const inputs = {
    x: [{dataType: 'float32', shape: [2, 0]}, new Float32Array([])],
    w: [{dataType: 'float32', shape: [0, 2]}, new Float32Array([])]
  };
  const results = await computeGraph(graph, inputs, outputs);
  await assertOutputEquals(
      results['y'], 'float32', [2, 2],
      new Float32Array([0, 0, 0, 0]), 0, 'y');
}, 'matmul over no element');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input1 = builder.input('x', {dataType: 'float32', shape: [0, 3]});
  const reduceL11 = builder.reduceL1(input1, {axes: [0]});
  const outputs = {y: reduceL11};
  const graph = await builder.build(outputs);
  const inputs = {
    x: [{dataType: 'float32', shape: [0, 3]}, new Float32Array([])]
  };
  const results = await computeGraph(graph, inputs, outputs);
  await assertOutputEquals(
      results['y'], 'float32', [3],
      new Float32Array([0, 0, 0]), 0, 'y');
}, 'reduceL1 of no element');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input1 = builder.input('x', {dataType: 'float32', shape: [0, 3]});
  const reduceL21 = builder.reduceL2(input1, {axes: [0]});
  const outputs = {y: reduceL21};
  const graph = await builder.build(outputs);
  const inputs = {
    x: [{dataType: 'float32', shape: [0, 3]}, new Float32Array([])]
  };
  const results = await computeGraph(graph, inputs, outputs);
  await assertOutputEquals(
      results['y'], 'float32', [3],
      new Float32Array([0, 0, 0]), 0, 'y');
}, 'reduceL2 of no element');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input1 = builder.input('x', {dataType: 'float32', shape: [0, 3]});
  const reduceSum1 = builder.reduceSum(input1, {axes: [0]});
  const outputs = {y: reduceSum1};
  const graph = await builder.build(outputs);
  const inputs = {
    x: [{dataType: 'float32', shape: [0, 3]}, new Float32Array([])]
  };
  const results = await computeGraph(graph, inputs, outputs);
  await assertOutputEquals(
      results['y'], 'float32', [3],
      new Float32Array([0, 0, 0]), 0, 'y');
}, 'reduceSum of no element');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input1 = builder.input('x', {dataType: 'float32', shape: [0, 3]});
  const reduceSumSquare1 = builder.reduceSumSquare(input1, {axes: [0]});
  const outputs = {y: reduceSumSquare1};
  const graph = await builder.build(outputs);
  const inputs = {
    x: [{dataType: 'float32', shape: [0, 3]}, new Float32Array([])]
  };
  const results = await computeGraph(graph, inputs, outputs);
  await assertOutputEquals(
      results['y'], 'float32', [3],
      new Float32Array([0, 0, 0]), 0, 'y');
}, 'reduceSumSquare of no element');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input1 = builder.input('x', {dataType: 'float32', shape: [0, 3]});
  const reduceLogSum1 = builder.reduceLogSum(input1, {axes: [0]});
  const outputs = {y: reduceLogSum1};
  const graph = await builder.build(outputs);
  const inputs = {
    x: [{dataType: 'float32', shape: [0, 3]}, new Float32Array([])]
  };
  const results = await computeGraph(graph, inputs, outputs);
  await assertOutputEquals(
      results['y'], 'float32', [3],
      new Float32Array([-Infinity, -Infinity, -Infinity]), 0, 'y');
}, 'reduceLogSum of no element');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input1 = builder.input('x', {dataType: 'float32', shape: [0, 3]});
  const reduceLogSumExp1 = builder.reduceLogSumExp(input1, {axes: [0]});
  const outputs = {y: reduceLogSumExp1};
  const graph = await builder.build(outputs);
  const inputs = {
    x: [{dataType: 'float32', shape: [0, 3]}, new Float32Array([])]
  };
  const results = await computeGraph(graph, inputs, outputs);
  await assertOutputEquals(
      results['y'], 'float32', [3],
      new Float32Array([-Infinity, -Infinity, -Infinity]), 0, 'y');
}, 'reduceLogSumExp of no element');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input1 = builder.input('x', {dataType: 'float32', shape: [0, 3]});
  const reduceMax1 = builder.reduceMax(input1, {axes: [0]});
  const outputs = {y: reduceMax1};
  const graph = await builder.build(outputs);
  const inputs = {
    x: [{dataType: 'float32', shape: [0, 3]}, new Float32Array([])]
  };
  const results = await computeGraph(graph, inputs, outputs);
  await assertOutputEquals(
      results['y'], 'float32', [3],
      new Float32Array([-Infinity, -Infinity, -Infinity]), 0, 'y');
}, 'reduceMax of no element');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input1 = builder.input('x', {dataType: 'float32', shape: [0, 3]});
  const reduceMean1 = builder.reduceMean(input1, {axes: [0]});
  const outputs = {y: reduceMean1};
  const graph = await builder.build(outputs);
  const inputs = {
    x: [{dataType: 'float32', shape: [0, 3]}, new Float32Array([])]
  };
  const results = await computeGraph(graph, inputs, outputs);
  await assertOutputEquals(
      results['y'], 'float32', [3],
      new Float32Array([NaN, NaN, NaN]), 0, 'y');
}, 'reduceMean of no element');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input1 = builder.input('x', {dataType: 'float32', shape: [0, 3]});
  const reduceMin1 = builder.reduceMin(input1, {axes: [0]});
  const outputs = {y: reduceMin1};
  const graph = await builder.build(outputs);
  const inputs = {
    x: [{dataType: 'float32', shape: [0, 3]}, new Float32Array([])]
  };
  const results = await computeGraph(graph, inputs, outputs);
  await assertOutputEquals(
      results['y'], 'float32', [3],
      new Float32Array([Infinity, Infinity, Infinity]), 0, 'y');
}, 'reduceMin of no element');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input1 = builder.input('x', {dataType: 'float32', shape: [0, 3]});
  const reduceProduct1 = builder.reduceProduct(input1, {axes: [0]});
  const outputs = {y: reduceProduct1};
  const graph = await builder.build(outputs);
  const inputs = {
    x: [{dataType: 'float32', shape: [0, 3]}, new Float32Array([])]
  };
  const results = await computeGraph(graph, inputs, outputs);
  await assertOutputEquals(
      results['y'], 'float32', [3],
      new Float32Array([1, 1, 1]), 0, 'y');
}, 'reduceProduct of no element');
