// META: title=test WebNN API low-precision
// META: global=window
// META: variant=?cpu
// META: variant=?gpu
// META: variant=?npu
// META: script=../resources/utils_validation.js

'use strict';

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input1 = builder.input('x', {dataType: 'float8e4m3', shape: [2]});
  assert_throws_js(
      TypeError, () => builder.sin(input1));
}, 'sin does not take float8e4m3');
