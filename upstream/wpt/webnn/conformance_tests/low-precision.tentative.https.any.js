// META: title=test WebNN API low-precision
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
  const input1 = builder.input('x', {dataType: 'bfloat16', shape: [3]});
  const constant1 = builder.constant(
      {dataType: 'bfloat16', shape: [3]},
      new Uint16Array([16256, 49152, 17302]));
  const add1 = builder.add(input1, constant1);
  const outputs = {y: add1};
  const graph = await builder.build(outputs);
  const inputs = {
    x: [
      {dataType: 'bfloat16', shape: [3]}, new Uint16Array([15360, 16256, 32704])
    ]
  };
  const results = await computeGraph(graph, inputs, outputs);
  await assertOutputEquals(
      results['y'], 'bfloat16', [3],
      new Uint16Array([16257, 49024, 32704]), 0, 'y');
}, 'add bfloat16');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input1 = builder.input('x', {dataType: 'float32', shape: [5]});
  const cast1 = builder.cast(input1, 'bfloat16');
  const cast2 = builder.cast(input1, 'float8e4m3');
  const outputs = {half: cast1, byte: cast2};
  const graph = await builder.build(outputs);
  const inputs = {
    x: [
      {dataType: 'float32', shape: [5]},
      new Float32Array([1.00390625, -2, 600, 0.0010000000474974513, 0])
    ]
  };
  const results = await computeGraph(graph, inputs, outputs);
  await assertOutputEquals(
      results['half'], 'bfloat16', [5],
      new Uint16Array([16256, 49152, 17430, 14979, 0]), 0, 'half');
  await assertOutputEquals(
      results['byte'], 'float8e4m3', [5],
      new Uint8Array([56, 192, 126, 1, 0]), 0, 'byte');
}, 'cast float32 to bfloat16, and to float8e4m3, which saturates');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input1 = builder.input('x', {dataType: 'float8e4m3', shape: [3]});
  const constant1 = builder.constant(
      {dataType: 'float32', shape: [1]}, new Float32Array([2]));
  const constant2 = builder.constant(
      {dataType: 'float8e4m3', shape: [1]}, new Uint8Array([56]));
  const dequantizeLinear1 = builder.dequantizeLinear(input1, constant1, constant2);
  const outputs = {y: dequantizeLinear1};
  const graph = await builder.build(outputs);
  const inputs = {
    x: [{dataType: 'float8e4m3', shape: [3]}, new Uint8Array([48, 60, 127])]
  };
  const results = await computeGraph(graph, inputs, outputs);
  await assertOutputEquals(
      results['y'], 'float32', [3],
      new Float32Array([-1, 1, NaN]), 0, 'y');
}, 'dequantizeLinear float8e4m3');
