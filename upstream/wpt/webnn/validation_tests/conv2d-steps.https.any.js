// META: title=validation tests for WebNN API conv2d, steps that no other file reaches
// META: global=window
// META: variant=?cpu
// META: variant=?gpu
// META: variant=?npu
// META: script=../resources/utils_validation.js

'use strict';

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input1 = builder.input(
      'input1', {dataType: 'float32', shape: [1, 4, 5, 5]});
  const input2 = builder.input(
      'input2', {dataType: 'float32', shape: [5, 2, 3, 3]});
  assert_throws_with_label(
      () => builder.conv2d(
        input1, input2, {groups: 2, label: 'conv2d_xxx'}),
      new RegExp('\\[conv2d_xxx\\]'));
}, '[conv2d] Throw if the number of output channels is not a multiple of groups.');
