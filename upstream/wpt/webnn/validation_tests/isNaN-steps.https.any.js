// META: title=validation tests for WebNN API isNaN, steps that no other file reaches
// META: global=window
// META: variant=?cpu
// META: variant=?gpu
// META: variant=?npu
// META: script=../resources/utils_validation.js

'use strict';

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input1 = builder.input('input1', {dataType: 'int32', shape: [2]});
  assert_throws_with_label(
      () => builder.isNaN(input1, {label: 'isNaN_xxx'}),
      new RegExp('\\[isNaN_xxx\\]'));
}, '[isNaN] Throw if the input is not of a floating-point type.');
