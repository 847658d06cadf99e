// META: title=validation tests for WebNN API MLGraphBuilder after build()
// META: global=window
// META: variant=?cpu
// META: variant=?gpu
// META: variant=?npu
// META: script=../resources/utils_validation.js

'use strict';

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input = builder.input('input', {dataType: 'float32', shape: [18]});
  await builder.build(
      {output: builder.identity(
          builder.input('first', {dataType: 'float32', shape: [2]}))});
  assert_throws_dom(
      'InvalidStateError', () => builder.ceil(input));
}, '[ceil] Throw if the builder has built a graph.');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input = builder.input('input', {dataType: 'float32', shape: [18]});
  await builder.build(
      {output: builder.identity(
          builder.input('first', {dataType: 'float32', shape: [2]}))});
  assert_throws_dom(
      'InvalidStateError', () => builder.floor(input));
}, '[floor] Throw if the builder has built a graph.');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input = builder.input('input', {dataType: 'float32', shape: [16]});
  await builder.build(
      {output: builder.identity(
          builder.input('first', {dataType: 'float32', shape: [2]}))});
  assert_throws_dom(
      'InvalidStateError', () => builder.roundEven(input));
}, '[roundEven] Throw if the builder has built a graph.');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input = builder.input('input', {dataType: 'float32', shape: [5]});
  await builder.build(
      {output: builder.identity(
          builder.input('first', {dataType: 'float32', shape: [2]}))});
  assert_throws_dom(
      'InvalidStateError', () => builder.cos(input));
}, '[cos] Throw if the builder has built a graph.');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input = builder.input('input', {dataType: 'float32', shape: [5]});
  await builder.build(
      {output: builder.identity(
          builder.input('first', {dataType: 'float32', shape: [2]}))});
  assert_throws_dom(
      'InvalidStateError', () => builder.sin(input));
}, '[sin] Throw if the builder has built a graph.');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input = builder.input('input', {dataType: 'float32', shape: [5]});
  await builder.build(
      {output: builder.identity(
          builder.input('first', {dataType: 'float32', shape: [2]}))});
  assert_throws_dom(
      'InvalidStateError', () => builder.tan(input));
}, '[tan] Throw if the builder has built a graph.');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input = builder.input('input', {dataType: 'float32', shape: [8]});
  await builder.build(
      {output: builder.identity(
          builder.input('first', {dataType: 'float32', shape: [2]}))});
  assert_throws_dom(
      'InvalidStateError', () => builder.exp(input));
}, '[exp] Throw if the builder has built a graph.');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input = builder.input('input', {dataType: 'float32', shape: [6]});
  await builder.build(
      {output: builder.identity(
          builder.input('first', {dataType: 'float32', shape: [2]}))});
  assert_throws_dom(
      'InvalidStateError', () => builder.gelu(input));
}, '[gelu] Throw if the builder has built a graph.');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input = builder.input('input', {dataType: 'float32', shape: [7]});
  await builder.build(
      {output: builder.identity(
          builder.input('first', {dataType: 'float32', shape: [2]}))});
  assert_throws_dom(
      'InvalidStateError', () => builder.elu(input));
}, '[elu] Throw if the builder has built a graph.');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input = builder.input('input', {dataType: 'float32', shape: [9]});
  await builder.build(
      {output: builder.identity(
          builder.input('first', {dataType: 'float32', shape: [2]}))});
  assert_throws_dom(
      'InvalidStateError', () => builder.hardSigmoid(input));
}, '[hardSigmoid] Throw if the builder has built a graph.');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input = builder.input('input', {dataType: 'float32', shape: [8]});
  await builder.build(
      {output: builder.identity(
          builder.input('first', {dataType: 'float32', shape: [2]}))});
  assert_throws_dom(
      'InvalidStateError', () => builder.hardSwish(input));
}, '[hardSwish] Throw if the builder has built a graph.');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input = builder.input('input', {dataType: 'float32', shape: [7]});
  await builder.build(
      {output: builder.identity(
          builder.input('first', {dataType: 'float32', shape: [2]}))});
  assert_throws_dom(
      'InvalidStateError', () => builder.leakyRelu(input));
}, '[leakyRelu] Throw if the builder has built a graph.');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input = builder.input('input', {dataType: 'float32', shape: [10]});
  await builder.build(
      {output: builder.identity(
          builder.input('first', {dataType: 'float32', shape: [2]}))});
  assert_throws_dom(
      'InvalidStateError', () => builder.relu(input));
}, '[relu] Throw if the builder has built a graph.');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input = builder.input('input', {dataType: 'float32', shape: [6]});
  await builder.build(
      {output: builder.identity(
          builder.input('first', {dataType: 'float32', shape: [2]}))});
  assert_throws_dom(
      'InvalidStateError', () => builder.softsign(input));
}, '[softsign] Throw if the builder has built a graph.');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input = builder.input('input', {dataType: 'float32', shape: [9]});
  await builder.build(
      {output: builder.identity(
          builder.input('first', {dataType: 'float32', shape: [2]}))});
  assert_throws_dom(
      'InvalidStateError', () => builder.sqrt(input));
}, '[sqrt] Throw if the builder has built a graph.');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input = builder.input('input', {dataType: 'float32', shape: [10]});
  await builder.build(
      {output: builder.identity(
          builder.input('first', {dataType: 'float32', shape: [2]}))});
  assert_throws_dom(
      'InvalidStateError', () => builder.sign(input));
}, '[sign] Throw if the builder has built a graph.');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input = builder.input('input', {dataType: 'float32', shape: [8]});
  await builder.build(
      {output: builder.identity(
          builder.input('first', {dataType: 'float32', shape: [2]}))});
  assert_throws_dom(
      'InvalidStateError', () => builder.log(input));
}, '[log] Throw if the builder has built a graph.');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input = builder.input('input', {dataType: 'float32', shape: [9]});
  await builder.build(
      {output: builder.identity(
          builder.input('first', {dataType: 'float32', shape: [2]}))});
  assert_throws_dom(
      'InvalidStateError', () => builder.reciprocal(input));
}, '[reciprocal] Throw if the builder has built a graph.');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input = builder.input('input', {dataType: 'float32', shape: [10]});
  await builder.build(
      {output: builder.identity(
          builder.input('first', {dataType: 'float32', shape: [2]}))});
  assert_throws_dom(
      'InvalidStateError', () => builder.abs(input));
}, '[abs] Throw if the builder has built a graph.');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input = builder.input('input', {dataType: 'float32', shape: [8]});
  await builder.build(
      {output: builder.identity(
          builder.input('first', {dataType: 'float32', shape: [2]}))});
  assert_throws_dom(
      'InvalidStateError', () => builder.erf(input));
}, '[erf] Throw if the builder has built a graph.');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input = builder.input('input', {dataType: 'float32', shape: [10]});
  await builder.build(
      {output: builder.identity(
          builder.input('first', {dataType: 'float32', shape: [2]}))});
  assert_throws_dom(
      'InvalidStateError', () => builder.identity(input));
}, '[identity] Throw if the builder has built a graph.');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input = builder.input('input', {dataType: 'float32', shape: [10]});
  await builder.build(
      {output: builder.identity(
          builder.input('first', {dataType: 'float32', shape: [2]}))});
  assert_throws_dom(
      'InvalidStateError', () => builder.neg(input));
}, '[neg] Throw if the builder has built a graph.');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input = builder.input('a', {dataType: 'float32', shape: [8]});
  await builder.build(
      {output: builder.identity(
          builder.input('first', {dataType: 'float32', shape: [2]}))});
  assert_throws_dom(
      'InvalidStateError', () => builder.isNaN(input));
}, '[isNaN] Throw if the builder has built a graph.');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input = builder.input('a', {dataType: 'float32', shape: [8]});
  await builder.build(
      {output: builder.identity(
          builder.input('first', {dataType: 'float32', shape: [2]}))});
  assert_throws_dom(
      'InvalidStateError', () => builder.isInfinite(input));
}, '[isInfinite] Throw if the builder has built a graph.');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input = builder.input('input', {dataType: 'float32', shape: [8]});
  await builder.build(
      {output: builder.identity(
          builder.input('first', {dataType: 'float32', shape: [2]}))});
  assert_throws_dom(
      'InvalidStateError', () => builder.sigmoid(input));
}, '[sigmoid] Throw if the builder has built a graph.');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input = builder.input('input', {dataType: 'float32', shape: [8]});
  await builder.build(
      {output: builder.identity(
          builder.input('first', {dataType: 'float32', shape: [2]}))});
  assert_throws_dom(
      'InvalidStateError', () => builder.tanh(input));
}, '[tanh] Throw if the builder has built a graph.');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input = builder.input('input', {dataType: 'float32', shape: [8]});
  await builder.build(
      {output: builder.identity(
          builder.input('first', {dataType: 'float32', shape: [2]}))});
  assert_throws_dom(
      'InvalidStateError', () => builder.linear(input));
}, '[linear] Throw if the builder has built a graph.');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input = builder.input('a', {dataType: 'uint8', shape: [5]});
  await builder.build(
      {output: builder.identity(
          builder.input('first', {dataType: 'float32', shape: [2]}))});
  assert_throws_dom(
      'InvalidStateError', () => builder.logicalNot(input));
}, '[logicalNot] Throw if the builder has built a graph.');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input = builder.input('input', {dataType: 'float32', shape: [6]});
  await builder.build(
      {output: builder.identity(
          builder.input('first', {dataType: 'float32', shape: [2]}))});
  assert_throws_dom(
      'InvalidStateError', () => builder.softplus(input));
}, '[softplus] Throw if the builder has built a graph.');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input = builder.input('input', {dataType: 'float32', shape: [8]});
  await builder.build(
      {output: builder.identity(
          builder.input('first', {dataType: 'float32', shape: [2]}))});
  assert_throws_dom(
      'InvalidStateError', () => builder.clamp(input));
}, '[clamp] Throw if the builder has built a graph.');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input1 = builder.input('input', {dataType: 'float32', shape: [5]});
  const input2 = builder.input('slope', {dataType: 'float32', shape: [1]});
  await builder.build(
      {output: builder.identity(
          builder.input('first', {dataType: 'float32', shape: [2]}))});
  assert_throws_dom(
      'InvalidStateError', () => builder.prelu(input1, input2));
}, '[prelu] Throw if the builder has built a graph.');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input1 = builder.input('a', {dataType: 'float32', shape: [8]});
  const input2 = builder.input('b', {dataType: 'float32', shape: [8]});
  await builder.build(
      {output: builder.identity(
          builder.input('first', {dataType: 'float32', shape: [2]}))});
  assert_throws_dom(
      'InvalidStateError', () => builder.add(input1, input2));
}, '[add] Throw if the builder has built a graph.');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input1 = builder.input('a', {dataType: 'float32', shape: [8]});
  const input2 = builder.input('b', {dataType: 'float32', shape: [8]});
  await builder.build(
      {output: builder.identity(
          builder.input('first', {dataType: 'float32', shape: [2]}))});
  assert_throws_dom(
      'InvalidStateError', () => builder.sub(input1, input2));
}, '[sub] Throw if the builder has built a graph.');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input1 = builder.input('a', {dataType: 'float32', shape: [8]});
  const input2 = builder.input('b', {dataType: 'float32', shape: [8]});
  await builder.build(
      {output: builder.identity(
          builder.input('first', {dataType: 'float32', shape: [2]}))});
  assert_throws_dom(
      'InvalidStateError', () => builder.mul(input1, input2));
}, '[mul] Throw if the builder has built a graph.');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input1 = builder.input('a', {dataType: 'float32', shape: [8]});
  const input2 = builder.input('b', {dataType: 'float32', shape: [8]});
  await builder.build(
      {output: builder.identity(
          builder.input('first', {dataType: 'float32', shape: [2]}))});
  assert_throws_dom(
      'InvalidStateError', () => builder.div(input1, input2));
}, '[div] Throw if the builder has built a graph.');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input1 = builder.input('a', {dataType: 'float32', shape: [5]});
  const input2 = builder.input('b', {dataType: 'float32', shape: [5]});
  await builder.build(
      {output: builder.identity(
          builder.input('first', {dataType: 'float32', shape: [2]}))});
  assert_throws_dom(
      'InvalidStateError', () => builder.max(input1, input2));
}, '[max] Throw if the builder has built a graph.');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input1 = builder.input('a', {dataType: 'float32', shape: [5]});
  const input2 = builder.input('b', {dataType: 'float32', shape: [5]});
  await builder.build(
      {output: builder.identity(
          builder.input('first', {dataType: 'float32', shape: [2]}))});
  assert_throws_dom(
      'InvalidStateError', () => builder.min(input1, input2));
}, '[min] Throw if the builder has built a graph.');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input1 = builder.input('a', {dataType: 'float32', shape: [9]});
  const input2 = builder.input('b', {dataType: 'float32', shape: [9]});
  await builder.build(
      {output: builder.identity(
          builder.input('first', {dataType: 'float32', shape: [2]}))});
  assert_throws_dom(
      'InvalidStateError', () => builder.pow(input1, input2));
}, '[pow] Throw if the builder has built a graph.');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input1 = builder.input('a', {dataType: 'int32', shape: [6]});
  const input2 = builder.input('b', {dataType: 'int32', shape: [6]});
  await builder.build(
      {output: builder.identity(
          builder.input('first', {dataType: 'float32', shape: [2]}))});
  assert_throws_dom(
      'InvalidStateError', () => builder.equal(input1, input2));
}, '[equal] Throw if the builder has built a graph.');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input1 = builder.input('a', {dataType: 'int32', shape: [6]});
  const input2 = builder.input('b', {dataType: 'int32', shape: [6]});
  await builder.build(
      {output: builder.identity(
          builder.input('first', {dataType: 'float32', shape: [2]}))});
  assert_throws_dom(
      'InvalidStateError', () => builder.notEqual(input1, input2));
}, '[notEqual] Throw if the builder has built a graph.');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input1 = builder.input('a', {dataType: 'int32', shape: [6]});
  const input2 = builder.input('b', {dataType: 'int32', shape: [6]});
  await builder.build(
      {output: builder.identity(
          builder.input('first', {dataType: 'float32', shape: [2]}))});
  assert_throws_dom(
      'InvalidStateError', () => builder.greater(input1, input2));
}, '[greater] Throw if the builder has built a graph.');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input1 = builder.input('a', {dataType: 'int32', shape: [6]});
  const input2 = builder.input('b', {dataType: 'int32', shape: [6]});
  await builder.build(
      {output: builder.identity(
          builder.input('first', {dataType: 'float32', shape: [2]}))});
  assert_throws_dom(
      'InvalidStateError', () => builder.greaterOrEqual(input1, input2));
}, '[greaterOrEqual] Throw if the builder has built a graph.');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input1 = builder.input('a', {dataType: 'int32', shape: [6]});
  const input2 = builder.input('b', {dataType: 'int32', shape: [6]});
  await builder.build(
      {output: builder.identity(
          builder.input('first', {dataType: 'float32', shape: [2]}))});
  assert_throws_dom(
      'InvalidStateError', () => builder.lesser(input1, input2));
}, '[lesser] Throw if the builder has built a graph.');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input1 = builder.input('a', {dataType: 'int32', shape: [6]});
  const input2 = builder.input('b', {dataType: 'int32', shape: [6]});
  await builder.build(
      {output: builder.identity(
          builder.input('first', {dataType: 'float32', shape: [2]}))});
  assert_throws_dom(
      'InvalidStateError', () => builder.lesserOrEqual(input1, input2));
}, '[lesserOrEqual] Throw if the builder has built a graph.');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input1 = builder.input('a', {dataType: 'uint8', shape: [5]});
  const input2 = builder.input('b', {dataType: 'uint8', shape: [5]});
  await builder.build(
      {output: builder.identity(
          builder.input('first', {dataType: 'float32', shape: [2]}))});
  assert_throws_dom(
      'InvalidStateError', () => builder.logicalAnd(input1, input2));
}, '[logicalAnd] Throw if the builder has built a graph.');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input1 = builder.input('a', {dataType: 'uint8', shape: [5]});
  const input2 = builder.input('b', {dataType: 'uint8', shape: [5]});
  await builder.build(
      {output: builder.identity(
          builder.input('first', {dataType: 'float32', shape: [2]}))});
  assert_throws_dom(
      'InvalidStateError', () => builder.logicalOr(input1, input2));
}, '[logicalOr] Throw if the builder has built a graph.');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input1 = builder.input('a', {dataType: 'uint8', shape: [5]});
  const input2 = builder.input('b', {dataType: 'uint8', shape: [5]});
  await builder.build(
      {output: builder.identity(
          builder.input('first', {dataType: 'float32', shape: [2]}))});
  assert_throws_dom(
      'InvalidStateError', () => builder.logicalXor(input1, input2));
}, '[logicalXor] Throw if the builder has built a graph.');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input = builder.input('input', {dataType: 'float32', shape: [8]});
  await builder.build(
      {output: builder.identity(
          builder.input('first', {dataType: 'float32', shape: [2]}))});
  assert_throws_dom(
      'InvalidStateError', () => builder.cast(input, 'int32'));
}, '[cast] Throw if the builder has built a graph.');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input1 = builder.input('input', {dataType: 'float32', shape: [13]});
  const input2 = builder.input('scale', {dataType: 'float32', shape: [1]});
  const input3 = builder.input('zeroPoint', {dataType: 'int8', shape: [1]});
  await builder.build(
      {output: builder.identity(
          builder.input('first', {dataType: 'float32', shape: [2]}))});
  assert_throws_dom(
      'InvalidStateError', () => builder.quantizeLinear(input1, input2, input3));
}, '[quantizeLinear] Throw if the builder has built a graph.');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input1 = builder.input('input', {dataType: 'int8', shape: [4]});
  const input2 = builder.input('scale', {dataType: 'float32', shape: [1]});
  const input3 = builder.input('zeroPoint', {dataType: 'int8', shape: [1]});
  await builder.build(
      {output: builder.identity(
          builder.input('first', {dataType: 'float32', shape: [2]}))});
  assert_throws_dom(
      'InvalidStateError', () => builder.dequantizeLinear(input1, input2, input3));
}, '[dequantizeLinear] Throw if the builder has built a graph.');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input1 = builder.input('inputs1', {dataType: 'float32', shape: [8]});
  const input2 = builder.input('inputs2', {dataType: 'float32', shape: [1]});
  const input3 = builder.input('inputs3', {dataType: 'float32', shape: [8]});
  await builder.build(
      {output: builder.identity(
          builder.input('first', {dataType: 'float32', shape: [2]}))});
  assert_throws_dom(
      'InvalidStateError', () => builder.concat([input1, input2, input3], 0));
}, '[concat] Throw if the builder has built a graph.');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input = builder.input(
      'input', {dataType: 'float32', shape: [8, 1]});
  await builder.build(
      {output: builder.identity(
          builder.input('first', {dataType: 'float32', shape: [2]}))});
  assert_throws_dom(
      'InvalidStateError', () => builder.expand(input, [8, 2]));
}, '[expand] Throw if the builder has built a graph.');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input1 = builder.input('input', {dataType: 'float32', shape: [8]});
  const input2 = builder.input('indices', {dataType: 'int32', shape: [4]});
  await builder.build(
      {output: builder.identity(
          builder.input('first', {dataType: 'float32', shape: [2]}))});
  assert_throws_dom(
      'InvalidStateError', () => builder.gather(input1, input2));
}, '[gather] Throw if the builder has built a graph.');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input1 = builder.input(
      'input', {dataType: 'float32', shape: [2, 4]});
  const input2 = builder.input(
      'indices', {dataType: 'int32', shape: [1, 4]});
  await builder.build(
      {output: builder.identity(
          builder.input('first', {dataType: 'float32', shape: [2]}))});
  assert_throws_dom(
      'InvalidStateError', () => builder.gatherElements(input1, input2));
}, '[gatherElements] Throw if the builder has built a graph.');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input1 = builder.input(
      'input', {dataType: 'float32', shape: [2, 4]});
  const input2 = builder.input(
      'indices', {dataType: 'int32', shape: [3, 2]});
  await builder.build(
      {output: builder.identity(
          builder.input('first', {dataType: 'float32', shape: [2]}))});
  assert_throws_dom(
      'InvalidStateError', () => builder.gatherND(input1, input2));
}, '[gatherND] Throw if the builder has built a graph.');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input = builder.input('input', {dataType: 'float32', shape: [8]});
  await builder.build(
      {output: builder.identity(
          builder.input('first', {dataType: 'float32', shape: [2]}))});
  assert_throws_dom(
      'InvalidStateError', () => builder.pad(input, [2], [1], {mode: 'edge'}));
}, '[pad] Throw if the builder has built a graph.');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input = builder.input('input', {dataType: 'float32', shape: [8]});
  await builder.build(
      {output: builder.identity(
          builder.input('first', {dataType: 'float32', shape: [2]}))});
  assert_throws_dom(
      'InvalidStateError', () => builder.reshape(input, [2, 1, 2, 1, 2]));
}, '[reshape] Throw if the builder has built a graph.');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input = builder.input(
      'input', {dataType: 'float32', shape: [2, 1, 4]});
  await builder.build(
      {output: builder.identity(
          builder.input('first', {dataType: 'float32', shape: [2]}))});
  assert_throws_dom(
      'InvalidStateError', () => builder.reverse(input));
}, '[reverse] Throw if the builder has built a graph.');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input1 = builder.input('input', {dataType: 'float32', shape: [8]});
  const input2 = builder.input('indices', {dataType: 'int32', shape: [2]});
  const input3 = builder.input('updates', {dataType: 'float32', shape: [2]});
  await builder.build(
      {output: builder.identity(
          builder.input('first', {dataType: 'float32', shape: [2]}))});
  assert_throws_dom(
      'InvalidStateError', () => builder.scatterElements(
        input1, input2, input3, {axis: 0}));
}, '[scatterElements] Throw if the builder has built a graph.');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input1 = builder.input(
      'input', {dataType: 'float32', shape: [2, 4]});
  const input2 = builder.input(
      'indices', {dataType: 'int32', shape: [2, 1]});
  const input3 = builder.input(
      'updates', {dataType: 'float32', shape: [2, 4]});
  await builder.build(
      {output: builder.identity(
          builder.input('first', {dataType: 'float32', shape: [2]}))});
  assert_throws_dom(
      'InvalidStateError', () => builder.scatterND(input1, input2, input3));
}, '[scatterND] Throw if the builder has built a graph.');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input = builder.input('input', {dataType: 'float32', shape: [8]});
  await builder.build(
      {output: builder.identity(
          builder.input('first', {dataType: 'float32', shape: [2]}))});
  assert_throws_dom(
      'InvalidStateError', () => builder.slice(input, [1], [7], {strides: [3]}));
}, '[slice] Throw if the builder has built a graph.');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input = builder.input('input', {dataType: 'float32', shape: [8]});
  await builder.build(
      {output: builder.identity(
          builder.input('first', {dataType: 'float32', shape: [2]}))});
  assert_throws_dom(
      'InvalidStateError', () => builder.split(input, [1, 6, 1]));
}, '[split] Throw if the builder has built a graph.');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input = builder.input(
      'input', {dataType: 'float32', shape: [1, 8]});
  await builder.build(
      {output: builder.identity(
          builder.input('first', {dataType: 'float32', shape: [2]}))});
  assert_throws_dom(
      'InvalidStateError', () => builder.tile(input, [3, 1]));
}, '[tile] Throw if the builder has built a graph.');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input = builder.input(
      'input', {dataType: 'float32', shape: [2, 1, 4]});
  await builder.build(
      {output: builder.identity(
          builder.input('first', {dataType: 'float32', shape: [2]}))});
  assert_throws_dom(
      'InvalidStateError', () => builder.transpose(input, {permutation: [1, 2, 0]}));
}, '[transpose] Throw if the builder has built a graph.');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input = builder.input(
      'input', {dataType: 'float32', shape: [2, 4]});
  await builder.build(
      {output: builder.identity(
          builder.input('first', {dataType: 'float32', shape: [2]}))});
  assert_throws_dom(
      'InvalidStateError', () => builder.triangular(input, {upper: false, diagonal: 1}));
}, '[triangular] Throw if the builder has built a graph.');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input1 = builder.input('condition', {dataType: 'uint8', shape: [8]});
  const input2 = builder.input(
      'trueValue', {dataType: 'float32', shape: [8]});
  const input3 = builder.input(
      'falseValue', {dataType: 'float32', shape: [8]});
  await builder.build(
      {output: builder.identity(
          builder.input('first', {dataType: 'float32', shape: [2]}))});
  assert_throws_dom(
      'InvalidStateError', () => builder.where(input1, input2, input3));
}, '[where] Throw if the builder has built a graph.');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input = builder.input(
      'input', {dataType: 'float32', shape: [1, 1, 1, 1]});
  await builder.build(
      {output: builder.identity(
          builder.input('first', {dataType: 'float32', shape: [2]}))});
  assert_throws_dom(
      'InvalidStateError', () => builder.resample2d(
        input, {mode: 'nearest-neighbor', sizes: [3, 2]}));
}, '[resample2d] Throw if the builder has built a graph.');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input = builder.input('input', {dataType: 'float32', shape: []});
  await builder.build(
      {output: builder.identity(
          builder.input('first', {dataType: 'float32', shape: [2]}))});
  assert_throws_dom(
      'InvalidStateError', () => builder.reduceSum(input));
}, '[reduceSum] Throw if the builder has built a graph.');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input = builder.input('input', {dataType: 'float32', shape: []});
  await builder.build(
      {output: builder.identity(
          builder.input('first', {dataType: 'float32', shape: [2]}))});
  assert_throws_dom(
      'InvalidStateError', () => builder.reduceMean(input));
}, '[reduceMean] Throw if the builder has built a graph.');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input = builder.input('input', {dataType: 'float32', shape: []});
  await builder.build(
      {output: builder.identity(
          builder.input('first', {dataType: 'float32', shape: [2]}))});
  assert_throws_dom(
      'InvalidStateError', () => builder.reduceL1(input));
}, '[reduceL1] Throw if the builder has built a graph.');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input = builder.input('input', {dataType: 'float32', shape: []});
  await builder.build(
      {output: builder.identity(
          builder.input('first', {dataType: 'float32', shape: [2]}))});
  assert_throws_dom(
      'InvalidStateError', () => builder.reduceL2(input));
}, '[reduceL2] Throw if the builder has built a graph.');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input = builder.input('input', {dataType: 'float32', shape: []});
  await builder.build(
      {output: builder.identity(
          builder.input('first', {dataType: 'float32', shape: [2]}))});
  assert_throws_dom(
      'InvalidStateError', () => builder.reduceSumSquare(input));
}, '[reduceSumSquare] Throw if the builder has built a graph.');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input = builder.input('input', {dataType: 'float32', shape: []});
  await builder.build(
      {output: builder.identity(
          builder.input('first', {dataType: 'float32', shape: [2]}))});
  assert_throws_dom(
      'InvalidStateError', () => builder.reduceProduct(input));
}, '[reduceProduct] Throw if the builder has built a graph.');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input = builder.input('input', {dataType: 'float32', shape: []});
  await builder.build(
      {output: builder.identity(
          builder.input('first', {dataType: 'float32', shape: [2]}))});
  assert_throws_dom(
      'InvalidStateError', () => builder.reduceLogSum(input));
}, '[reduceLogSum] Throw if the builder has built a graph.');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input = builder.input('input', {dataType: 'float32', shape: []});
  await builder.build(
      {output: builder.identity(
          builder.input('first', {dataType: 'float32', shape: [2]}))});
  assert_throws_dom(
      'InvalidStateError', () => builder.reduceLogSumExp(input));
}, '[reduceLogSumExp] Throw if the builder has built a graph.');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input = builder.input('input', {dataType: 'float32', shape: []});
  await builder.build(
      {output: builder.identity(
          builder.input('first', {dataType: 'float32', shape: [2]}))});
  assert_throws_dom(
      'InvalidStateError', () => builder.reduceMax(input));
}, '[reduceMax] Throw if the builder has built a graph.');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input = builder.input('input', {dataType: 'float32', shape: []});
  await builder.build(
      {output: builder.identity(
          builder.input('first', {dataType: 'float32', shape: [2]}))});
  assert_throws_dom(
      'InvalidStateError', () => builder.reduceMin(input));
}, '[reduceMin] Throw if the builder has built a graph.');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input = builder.input(
      'input', {dataType: 'float32', shape: [2, 2]});
  await builder.build(
      {output: builder.identity(
          builder.input('first', {dataType: 'float32', shape: [2]}))});
  assert_throws_dom(
      'InvalidStateError', () => builder.argMax(input, 1, {outputDataType: 'int64'}));
}, '[argMax] Throw if the builder has built a graph.');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input = builder.input(
      'input', {dataType: 'float32', shape: [2, 2]});
  await builder.build(
      {output: builder.identity(
          builder.input('first', {dataType: 'float32', shape: [2]}))});
  assert_throws_dom(
      'InvalidStateError', () => builder.argMin(input, 1, {outputDataType: 'int64'}));
}, '[argMin] Throw if the builder has built a graph.');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input = builder.input('input', {dataType: 'float32', shape: [3]});
  await builder.build(
      {output: builder.identity(
          builder.input('first', {dataType: 'float32', shape: [2]}))});
  assert_throws_dom(
      'InvalidStateError', () => builder.cumulativeSum(input, 0));
}, '[cumulativeSum] Throw if the builder has built a graph.');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input = builder.input(
      'input', {dataType: 'float32', shape: [2, 4]});
  await builder.build(
      {output: builder.identity(
          builder.input('first', {dataType: 'float32', shape: [2]}))});
  assert_throws_dom(
      'InvalidStateError', () => builder.softmax(input, 1));
}, '[softmax] Throw if the builder has built a graph.');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input1 = builder.input('a', {dataType: 'float32', shape: [1, 1]});
  const input2 = builder.input('b', {dataType: 'float32', shape: [1, 1]});
  const input3 = builder.input('c', {dataType: 'float32', shape: []});
  await builder.build(
      {output: builder.identity(
          builder.input('first', {dataType: 'float32', shape: [2]}))});
  assert_throws_dom(
      'InvalidStateError', () => builder.gemm(input1, input2, {c: input3}));
}, '[gemm] Throw if the builder has built a graph.');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input1 = builder.input('a', {dataType: 'float32', shape: [1, 1]});
  const input2 = builder.input('b', {dataType: 'float32', shape: [1, 1]});
  await builder.build(
      {output: builder.identity(
          builder.input('first', {dataType: 'float32', shape: [2]}))});
  assert_throws_dom(
      'InvalidStateError', () => builder.matmul(input1, input2));
}, '[matmul] Throw if the builder has built a graph.');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input1 = builder.input(
      'input', {dataType: 'float32', shape: [1, 1, 2, 3]});
  const input2 = builder.input(
      'filter', {dataType: 'float32', shape: [1, 1, 1, 1]});
  await builder.build(
      {output: builder.identity(
          builder.input('first', {dataType: 'float32', shape: [2]}))});
  assert_throws_dom(
      'InvalidStateError', () => builder.conv2d(input1, input2));
}, '[conv2d] Throw if the builder has built a graph.');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input1 = builder.input(
      'input', {dataType: 'float32', shape: [1, 1, 2, 3]});
  const input2 = builder.input(
      'filter', {dataType: 'float32', shape: [1, 1, 1, 1]});
  await builder.build(
      {output: builder.identity(
          builder.input('first', {dataType: 'float32', shape: [2]}))});
  assert_throws_dom(
      'InvalidStateError', () => builder.convTranspose2d(input1, input2));
}, '[convTranspose2d] Throw if the builder has built a graph.');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input = builder.input(
      'input', {dataType: 'float32', shape: [1, 2, 2, 2]});
  await builder.build(
      {output: builder.identity(
          builder.input('first', {dataType: 'float32', shape: [2]}))});
  assert_throws_dom(
      'InvalidStateError', () => builder.averagePool2d(input));
}, '[averagePool2d] Throw if the builder has built a graph.');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input = builder.input(
      'input', {dataType: 'float32', shape: [1, 2, 2, 2]});
  await builder.build(
      {output: builder.identity(
          builder.input('first', {dataType: 'float32', shape: [2]}))});
  assert_throws_dom(
      'InvalidStateError', () => builder.l2Pool2d(input));
}, '[l2Pool2d] Throw if the builder has built a graph.');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input = builder.input(
      'input', {dataType: 'float32', shape: [1, 2, 2, 2]});
  await builder.build(
      {output: builder.identity(
          builder.input('first', {dataType: 'float32', shape: [2]}))});
  assert_throws_dom(
      'InvalidStateError', () => builder.maxPool2d(input));
}, '[maxPool2d] Throw if the builder has built a graph.');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input = builder.input(
      'input', {dataType: 'float32', shape: [1, 1, 2, 2]});
  await builder.build(
      {output: builder.identity(
          builder.input('first', {dataType: 'float32', shape: [2]}))});
  assert_throws_dom(
      'InvalidStateError', () => builder.instanceNormalization(input));
}, '[instanceNormalization] Throw if the builder has built a graph.');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input = builder.input(
      'input', {dataType: 'float32', shape: [1, 1, 2, 2]});
  await builder.build(
      {output: builder.identity(
          builder.input('first', {dataType: 'float32', shape: [2]}))});
  assert_throws_dom(
      'InvalidStateError', () => builder.layerNormalization(input));
}, '[layerNormalization] Throw if the builder has built a graph.');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input1 = builder.input(
      'input', {dataType: 'float32', shape: [2, 1]});
  const input2 = builder.input('mean', {dataType: 'float32', shape: [1]});
  const input3 = builder.input(
      'variance', {dataType: 'float32', shape: [1]});
  await builder.build(
      {output: builder.identity(
          builder.input('first', {dataType: 'float32', shape: [2]}))});
  assert_throws_dom(
      'InvalidStateError', () => builder.batchNormalization(
        input1, input2, input3, {epsilon: 1}));
}, '[batchNormalization] Throw if the builder has built a graph.');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input1 = builder.input(
      'input', {dataType: 'float32', shape: [1, 1, 1]});
  const input2 = builder.input(
      'weight', {dataType: 'float32', shape: [1, 3, 1]});
  const input3 = builder.input(
      'recurrentWeight', {dataType: 'float32', shape: [1, 3, 1]});
  const input4 = builder.input(
      'initialHiddenState', {dataType: 'float32', shape: [1, 1, 1]});
  await builder.build(
      {output: builder.identity(
          builder.input('first', {dataType: 'float32', shape: [2]}))});
  assert_throws_dom(
      'InvalidStateError', () => builder.gru(
        input1, input2, input3, 1, 1, {initialHiddenState: input4}));
}, '[gru] Throw if the builder has built a graph.');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input1 = builder.input(
      'input', {dataType: 'float32', shape: [1, 1]});
  const input2 = builder.input(
      'weight', {dataType: 'float32', shape: [3, 1]});
  const input3 = builder.input(
      'recurrentWeight', {dataType: 'float32', shape: [3, 1]});
  const input4 = builder.input(
      'hiddenState', {dataType: 'float32', shape: [1, 1]});
  await builder.build(
      {output: builder.identity(
          builder.input('first', {dataType: 'float32', shape: [2]}))});
  assert_throws_dom(
      'InvalidStateError', () => builder.gruCell(input1, input2, input3, input4, 1));
}, '[gruCell] Throw if the builder has built a graph.');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input1 = builder.input(
      'input', {dataType: 'float32', shape: [1, 1, 1]});
  const input2 = builder.input(
      'weight', {dataType: 'float32', shape: [1, 4, 1]});
  const input3 = builder.input(
      'recurrentWeight', {dataType: 'float32', shape: [1, 4, 1]});
  const input4 = builder.input(
      'initialHiddenState', {dataType: 'float32', shape: [1, 1, 1]});
  await builder.build(
      {output: builder.identity(
          builder.input('first', {dataType: 'float32', shape: [2]}))});
  assert_throws_dom(
      'InvalidStateError', () => builder.lstm(
        input1, input2, input3, 1, 1, {initialHiddenState: input4}));
}, '[lstm] Throw if the builder has built a graph.');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input1 = builder.input(
      'input', {dataType: 'float32', shape: [1, 1]});
  const input2 = builder.input(
      'weight', {dataType: 'float32', shape: [4, 1]});
  const input3 = builder.input(
      'recurrentWeight', {dataType: 'float32', shape: [4, 1]});
  const input4 = builder.input(
      'hiddenState', {dataType: 'float32', shape: [1, 1]});
  const input5 = builder.input(
      'cellState', {dataType: 'float32', shape: [1, 1]});
  await builder.build(
      {output: builder.identity(
          builder.input('first', {dataType: 'float32', shape: [2]}))});
  assert_throws_dom(
      'InvalidStateError', () => builder.lstmCell(
        input1, input2, input3, input4, input5, 1));
}, '[lstmCell] Throw if the builder has built a graph.');
