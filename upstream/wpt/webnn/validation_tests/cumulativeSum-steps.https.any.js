// META: title=validation tests for WebNN API cumulativeSum, steps that no other file reaches
// META: global=window
// META: variant=?cpu
// META: variant=?gpu
// META: variant=?npu
// META: script=../resources/utils_validation.js

'use strict';

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input1 = builder.input('input1', {dataType: 'uint8', shape: [4]});
  assert_throws_with_label(
      () => builder.cumulativeSum(
        input1, 0, {label: 'cumulativeSum_xxx'}),
      new RegExp('\\[cumulativeSum_xxx\\]'));
}, '[cumulativeSum] Throw if the input is not of an allowed data type.');
