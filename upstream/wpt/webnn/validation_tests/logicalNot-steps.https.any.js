// META: title=validation tests for WebNN API logicalNot, steps that no other file reaches
// META: global=window
// META: variant=?cpu
// META: variant=?gpu
// META: variant=?npu
// META: script=../resources/utils_validation.js

'use strict';

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input1 = builder.input('input1', {dataType: 'float32', shape: [2]});
  assert_throws_with_label(
      () => builder.logicalNot(input1, {label: 'logicalNot_xxx'}),
      new RegExp('\\[logicalNot_xxx\\]'));
}, '[logicalNot] Throw if a is not of data type uint8.');
