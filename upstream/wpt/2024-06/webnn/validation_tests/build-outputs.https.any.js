// META: title=validation tests for WebNN API MLGraphBuilder.build() outputs
// META: global=window
// META: variant=?cpu
// META: variant=?gpu
// META: variant=?npu
// META: script=../resources/utils_compute.js

'use strict';

// https://www.w3.org/TR/webnn/#api-mlgraphbuilder-build

context_test(async (t, context) => {
  const builder = new MLGraphBuilder(context);
  await promise_rejects_js(t, TypeError, builder.build({}));
}, '[build] Reject if there is no output.');

context_test(async (t, context) => {
  const builder = new MLGraphBuilder(context);
  const y = builder.neg(builder.input('x', kDescriptor));
  await promise_rejects_js(t, TypeError, builder.build({'': y}));
}, '[build] Reject if the name of an output is empty.');

context_test(async (t, context) => {
  const builder = new MLGraphBuilder(context);
  const otherBuilder = new MLGraphBuilder(context);
  const y = otherBuilder.neg(otherBuilder.input('x', kDescriptor));
  await promise_rejects_js(t, TypeError, builder.build({y}));
}, '[build] Reject if an output is from another builder.');

context_test(async (t, context) => {
  const builder = new MLGraphBuilder(context);
  const x = builder.input('x', kDescriptor);
  await promise_rejects_js(t, TypeError, builder.build({x}));
  const y = builder.constant(kDescriptor, new Float32Array(4));
  await promise_rejects_js(t, TypeError, builder.build({y}));
}, '[build] Reject if an output is an input or a constant.');

context_test(async (t, context) => {
  const builder = new MLGraphBuilder(context);
  const one = builder.input('x', kDescriptor);
  const other = builder.input('x', kDescriptor);
  await promise_rejects_js(
      t, TypeError, builder.build({y: builder.add(one, other)}));
}, '[build] Reject if two inputs have one name.');
