// META: title=validation tests for WebNN API concat of another builder's operands
// META: global=window
// META: variant=?cpu
// META: variant=?gpu
// META: variant=?npu
// META: script=../resources/utils_compute.js

'use strict';

// https://www.w3.org/TR/webnn/#api-mlgraphbuilder-concat

context_test(async (t, context) => {
  const builder = new MLGraphBuilder(context);
  const otherBuilder = new MLGraphBuilder(context);
  const operands = [builder, otherBuilder].map(
      each => each.input('input', kDescriptor));
  assert_throws_js(TypeError, () => builder.concat(operands, 0));
  assert_throws_js(TypeError, () => builder.concat(operands.reverse(), 0));
}, '[concat] Throw if an input is from another builder.');
