// META: title=test WebNN API no-lstm-gru
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
      'state', {dataType: 'float32', shape: [1, 1]});
  const input2 = builder.input(
      'weight0', {dataType: 'float32', shape: [3, 2]});
  const input3 = builder.input(
      'recurrent0', {dataType: 'float32', shape: [3, 1]});
  const input4 = builder.input(
      'input0', {dataType: 'float32', shape: [1, 2]});
  const gruCell1 = builder.gruCell(
      input4, input2, input3, input1, 1, {activations: ['relu', 'relu']});
  const input5 = builder.input(
      'weight1', {dataType: 'float32', shape: [3, 2]});
  const input6 = builder.input(
      'recurrent1', {dataType: 'float32', shape: [3, 1]});
  const input7 = builder.input(
      'input1', {dataType: 'float32', shape: [1, 2]});
  const gruCell2 = builder.gruCell(
      input7, input5, input6, gruCell1, 1, {activations: ['relu', 'relu']});
  const outputs = {y: gruCell2};
  const graph = await builder.build(outputs);
  const inputs = {
    input0: [{dataType: 'float32', shape: [1, 2]}, new Float32Array([1, 1])],
    weight0: [
      {dataType: 'float32', shape: [3, 2]}, new Float32Array([1, 0, 2, 1, 0, 1])
    ],
    recurrent0: [
      {dataType: 'float32', shape: [3, 1]}, new Float32Array([1, 1, 1])
    ],
    state: [{dataType: 'float32', shape: [1, 1]}, new Float32Array([1])],
    input1: [{dataType: 'float32', shape: [1, 2]}, new Float32Array([2, 2])],
    weight1: [
      {dataType: 'float32', shape: [3, 2]}, new Float32Array([1, 0, 2, 1, 0, 1])
    ],
    recurrent1: [
      {dataType: 'float32', shape: [3, 1]}, new Float32Array([1, 1, 1])
    ]
  };
  const results = await computeGraph(graph, inputs, outputs);
  await assertOutputEquals(
      results['y'], 'float32', [1, 1],
      new Float32Array([0]), 0, 'y');
}, 'a network of two gruCell() is computed');
