// META: title=validation tests for WebNN API logicalXor, steps that no other file reaches
// META: global=window
// META: variant=?cpu
// META: variant=?gpu
// META: variant=?npu
// META: script=../resources/utils_validation.js

'use strict';

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input1 = builder.input('input1', {dataType: 'int32', shape: [2]});
  const input2 = builder.input('input2', {dataType: 'int32', shape: [2]});
  assert_throws_with_label(
      () => builder.logicalXor(
        input1, input2, {label: 'logicalXor_xxx'}),
      new RegExp('\\[logicalXor_xxx\\]'));
}, '[logicalXor] Throw if both operands are not of data type uint8.');
