// META: title=validation tests for WebNN API operands of another builder
// META: global=window
// META: variant=?cpu
// META: variant=?gpu
// META: variant=?npu
// META: script=../resources/utils_validation.js

'use strict';

// https://www.w3.org/TR/webnn/#mlgraphbuilder-validate-operand

const kDescriptor = {
  dataType: 'float32',
  shape: [2, 2]
};

const calls = {
  argMin: (builder, operand) => builder.argMin(operand, 0),
  argMax: (builder, operand) => builder.argMax(operand, 0),
  concat: (builder, operand) => builder.concat([operand], 0),
  tile: (builder, operand) => builder.tile(operand, [1, 1]),
};

for (const [operation, call] of Object.entries(calls)) {
  promise_test(async t => {
    const builder = new MLGraphBuilder(context);
    const otherBuilder = new MLGraphBuilder(context);
    const operand = otherBuilder.input('input', kDescriptor);
    assert_throws_js(TypeError, () => call(builder, operand));
  }, `[${operation}] Throw if the input is from another builder.`);
}

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const otherBuilder = new MLGraphBuilder(context);
  const operands = [builder, otherBuilder].map(
      each => each.input('input', kDescriptor));
  assert_throws_js(TypeError, () => builder.concat(operands, 0));
}, '[concat] Throw if the second input is from another builder.');
