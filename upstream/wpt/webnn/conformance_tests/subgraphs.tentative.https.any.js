// META: title=test WebNN API subgraphs
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
  const input1 = builder.input('x', {dataType: 'float32', shape: [2]});
  const input2 = builder.input('scale', {dataType: 'float32', shape: [2]});
  const mul1 = builder.mul(input1, input2);
  const relu1 = builder.relu(mul1);
  const buildSubgraph1 = builder.buildSubgraph(
      {product: mul1, positive: relu1},
      {
        name: 'Scaled',
        inputs: {x: input1, scale: input2},
        config: {factor: 2, exact: true}
      });
  const input3 = builder.input('a', {dataType: 'float32', shape: [2]});
  const constant1 = builder.constant(
      {dataType: 'float32', shape: [2]}, new Float32Array([2, 3]));
  const subgraph1 = builder.subgraph(
      buildSubgraph1, {x: input3, scale: constant1});
  const outputs = {product: subgraph1['product'], positive: subgraph1['positive']};
  const graph = await builder.build(outputs);
  const inputs = {
    a: [{dataType: 'float32', shape: [2]}, new Float32Array([1, -2])]
  };
  const results = await computeGraph(graph, inputs, outputs);
  await assertOutputEquals(
      results['product'], 'float32', [2],
      new Float32Array([2, -6]), 0, 'product');
  await assertOutputEquals(
      results['positive'], 'float32', [2],
      new Float32Array([2, 0]), 0, 'positive');
}, 'a call computes the operators of the subgraph');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input1 = builder.input('x', {dataType: 'float32', shape: [2]});
  const input2 = builder.input('scale', {dataType: 'float32', shape: [2]});
  const mul1 = builder.mul(input1, input2);
  const relu1 = builder.relu(mul1);
  const buildSubgraph1 = builder.buildSubgraph(
      {product: mul1, positive: relu1},
      {
        name: 'Scaled',
        inputs: {x: input1, scale: input2},
        config: {factor: 2, exact: true}
      });
  const constant1 = builder.constant(
      {dataType: 'float32', shape: [2]}, new Float32Array([2, -3]));
  const input3 = builder.input('a', {dataType: 'float32', shape: [2]});
  const subgraph1 = builder.subgraph(
      buildSubgraph1, {x: input3, scale: constant1});
  const subgraph4 = builder.subgraph(
      buildSubgraph1, {x: subgraph1['product'], scale: constant1});
  const outputs = {y: subgraph4['product']};
  const graph = await builder.build(outputs);
  const inputs = {
    a: [{dataType: 'float32', shape: [2]}, new Float32Array([1, -2])]
  };
  const results = await computeGraph(graph, inputs, outputs);
  await assertOutputEquals(
      results['y'], 'float32', [2],
      new Float32Array([4, -18]), 0, 'y');
}, 'calls of one subgraph can follow each other');
