// META: title=test WebNN API dynamic-shapes
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
  const input1 = builder.input('x', {dataType: 'float32', shape: [6]});
  const constant1 = builder.constant('float32', -4);
  const modulusFloor1 = builder.modulusFloor(input1, constant1);
  const modulusTruncate1 = builder.modulusTruncate(input1, constant1);
  const outputs = {floor: modulusFloor1, truncate: modulusTruncate1};
  const graph = await builder.build(outputs);
  const inputs = {
    x: [
      {dataType: 'float32', shape: [6]}, new Float32Array([-3, -2, -1, 0, 1, 2])
    ]
  };
  const results = await computeGraph(graph, inputs, outputs);
  await assertOutputEquals(
      results['floor'], 'float32', [6],
      new Float32Array([-3, -2, -1, -0, -3, -2]), 0, 'floor');
  await assertOutputEquals(
      results['truncate'], 'float32', [6],
      new Float32Array([-3, -2, -1, 0, 1, 2]), 0, 'truncate');
}, 'modulusFloor has the sign of the divisor, modulusTruncate that of the dividend');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input1 = builder.input('x', {dataType: 'float32', shape: [1, 2, 3]});
  const shape1 = builder.shape(input1);
  const squeeze1 = builder.squeeze(input1);
  const unsqueeze1 = builder.unsqueeze(input1, [1]);
  const reshapeTo2d1 = builder.reshapeTo2d(input1, {axis: 2});
  const outputs = {shape: shape1, squeezed: squeeze1, unsqueezed: unsqueeze1, flat: reshapeTo2d1};
  const graph = await builder.build(outputs);
  const inputs = {
    x: [
      {dataType: 'float32', shape: [1, 2, 3]},
      new Float32Array([0, 1, 2, 3, 4, 5])
    ]
  };
  const results = await computeGraph(graph, inputs, outputs);
  await assertOutputEquals(
      results['shape'], 'uint32', [3],
      new Uint32Array([1, 2, 3]), 0, 'shape');
  await assertOutputEquals(
      results['squeezed'], 'float32', [2, 3],
      new Float32Array([0, 1, 2, 3, 4, 5]), 0, 'squeezed');
  await assertOutputEquals(
      results['unsqueezed'], 'float32', [1, 1, 2, 3],
      new Float32Array([0, 1, 2, 3, 4, 5]), 0, 'unsqueezed');
  await assertOutputEquals(
      results['flat'], 'float32', [2, 3],
      new Float32Array([0, 1, 2, 3, 4, 5]), 0, 'flat');
}, 'shape, squeeze, unsqueeze and reshapeTo2d');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input1 = builder.input('x', {dataType: 'float32', shape: [2, 3]});
  const constant1 = builder.constant(
      {dataType: 'int32', shape: [2]}, new Int32Array([0, 0]));
  const constant2 = builder.constant(
      {dataType: 'int32', shape: [2]}, new Int32Array([3, 2]));
  const reshapeDynamic1 = builder.reshapeDynamic(input1, constant2);
  const constant3 = builder.constant(
      {dataType: 'int32', shape: [3]}, new Int32Array([2, 2, 3]));
  const expandDynamic1 = builder.expandDynamic(input1, constant3);
  const constant4 = builder.constant(
      {dataType: 'int32', shape: [2]}, new Int32Array([0, 1]));
  const constant5 = builder.constant(
      {dataType: 'int32', shape: [2]}, new Int32Array([2, 2]));
  const sliceDynamic1 = builder.sliceDynamic(input1, constant4, constant5);
  const constant6 = builder.constant(
      {dataType: 'int32', shape: [2]}, new Int32Array([0, 1]));
  const padDynamic1 = builder.padDynamic(input1, constant1, constant6);
  const constant7 = builder.constant(
      {dataType: 'int32', shape: [2]}, new Int32Array([1, 2]));
  const tileDynamic1 = builder.tileDynamic(input1, constant7);
  const reshape2 = builder.reshape(input1, [1, 1, 2, 3]);
  const constant8 = builder.constant(
      {dataType: 'int32', shape: [2]}, new Int32Array([4, 3]));
  const resample2dDynamic1 = builder.resample2dDynamic(reshape2, {sizes: constant8});
  const outputs = {reshaped: reshapeDynamic1, expanded: expandDynamic1, sliced: sliceDynamic1, padded: padDynamic1, tiled: tileDynamic1, resampled: resample2dDynamic1};
  const graph = await builder.build(outputs);
  const inputs = {
    x: [
      {dataType: 'float32', shape: [2, 3]}, new Float32Array([0, 1, 2, 3, 4, 5])
    ]
  };
  const results = await computeGraph(graph, inputs, outputs);
  await assertOutputEquals(
      results['reshaped'], 'float32', [3, 2],
      new Float32Array([0, 1, 2, 3, 4, 5]), 0, 'reshaped');
  await assertOutputEquals(
      results['expanded'], 'float32', [2, 2, 3],
      new Float32Array([0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5]), 0, 'expanded');
  await assertOutputEquals(
      results['sliced'], 'float32', [2, 2],
      new Float32Array([1, 2, 4, 5]), 0, 'sliced');
  await assertOutputEquals(
      results['padded'], 'float32', [2, 4],
      new Float32Array([0, 1, 2, 0, 3, 4, 5, 0]), 0, 'padded');
  await assertOutputEquals(
      results['tiled'], 'float32', [2, 6],
      new Float32Array([0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5]), 0, 'tiled');
  await assertOutputEquals(
      results['resampled'], 'float32', [1, 1, 4, 3],
      new Float32Array([0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5]), 0, 'resampled');
}, 'shapes as operands');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input1 = builder.input('x', {dataType: 'float32', shape: [6]});
  const constant1 = builder.constant(
      {dataType: 'int32', shape: [2]}, new Int32Array([4, 2]));
  const [splitDynamic1, splitDynamic2] = builder.splitDynamic(input1, constant1);
  const constant2 = builder.constant('int32', 1);
  const constant3 = builder.constant('int32', 8);
  const constant4 = builder.constant('int32', 3);
  const range1 = builder.range(constant2, constant3, constant4);
  const outputs = {first: splitDynamic1, second: splitDynamic2, range: range1};
  const graph = await builder.build(outputs);
  const inputs = {
    x: [{dataType: 'float32', shape: [6]}, new Float32Array([0, 1, 2, 3, 4, 5])]
  };
  const results = await computeGraph(graph, inputs, outputs);
  await assertOutputEquals(
      results['first'], 'float32', [4],
      new Float32Array([0, 1, 2, 3]), 0, 'first');
  await assertOutputEquals(
      results['second'], 'float32', [2],
      new Float32Array([4, 5]), 0, 'second');
  await assertOutputEquals(
      results['range'], 'int32', [3],
      new Int32Array([1, 4, 7]), 0, 'range');
}, 'splitDynamic and range');
