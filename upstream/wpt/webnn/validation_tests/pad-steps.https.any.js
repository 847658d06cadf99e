// META: title=validation tests for WebNN API pad, steps that no other file reaches
// META: global=window
// META: variant=?cpu
// META: variant=?gpu
// META: variant=?npu
// META: script=../resources/utils_validation.js

'use strict';

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input1 = builder.input('input1', {dataType: 'float32', shape: [3]});
  assert_throws_with_label(
      () => builder.pad(
        input1, [3], [0], {mode: 'reflection', label: 'pad_xxx'}),
      new RegExp('\\[pad_xxx\\]'));
}, '[pad] Throw if a reflection is as large as the dimension, at its beginning.');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input1 = builder.input('input1', {dataType: 'float32', shape: [3]});
  assert_throws_with_label(
      () => builder.pad(
        input1, [0], [3], {mode: 'reflection', label: 'pad_xxx'}),
      new RegExp('\\[pad_xxx\\]'));
}, '[pad] Throw if a reflection is as large as the dimension, at its end.');
