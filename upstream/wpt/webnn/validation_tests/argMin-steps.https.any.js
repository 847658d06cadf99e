// META: title=validation tests for WebNN API argMin, steps that no other file reaches
// META: global=window
// META: variant=?cpu
// META: variant=?gpu
// META: variant=?npu
// META: script=../resources/utils_validation.js

'use strict';

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input1 = builder.input(
      'input1', {dataType: 'float32', shape: [2, 3]});
  assert_throws_with_label(
      () => builder.argMin(
        input1, 1, {outputDataType: 'float32', label: 'argMin_xxx'}),
      new RegExp('\\[argMin_xxx\\]'));
}, '[argMin] Throw if outputDataType is not of an integer type.');
