// META: title=validation tests for WebNN API MLGraphBuilder.build() outputs
// META: global=window
// META: variant=?cpu
// META: variant=?gpu
// META: variant=?npu
// META: script=../resources/utils_tensors.js

'use strict';

// https://www.w3.org/TR/webnn/#api-mlgraphbuilder-build

context_test(async (t, context) => {
  const builder = new MLGraphBuilder(context);
  builder.identity(builder.input('x', kDescriptor));
  await promise_rejects_js(t, TypeError, builder.build({}));
}, '[build] Throw if there is no output.');

context_test(async (t, context) => {
  const builder = new MLGraphBuilder(context);
  const y = builder.identity(builder.input('x', kDescriptor));
  await promise_rejects_js(t, TypeError, builder.build({'': y}));
}, '[build] Throw if the name of an output is empty.');

context_test(async (t, context) => {
  const builder = new MLGraphBuilder(context);
  const otherBuilder = new MLGraphBuilder(context);
  const y = otherBuilder.identity(otherBuilder.input('x', kDescriptor));
  await promise_rejects_js(t, TypeError, builder.build({y}));
}, '[build] Throw if an output is from another builder.');

context_test(async (t, context) => {
  const builder = new MLGraphBuilder(context);
  const x = builder.input('x', kDescriptor);
  await promise_rejects_js(t, TypeError, builder.build({x}));
}, '[build] Throw if an output is an input.');

context_test(async (t, context) => {
  const builder = new MLGraphBuilder(context);
  const y = builder.constant(kDescriptor, new Float32Array(4));
  await promise_rejects_js(t, TypeError, builder.build({y}));
}, '[build] Throw if an output is a constant.');

context_test(async (t, context) => {
  const builder = new MLGraphBuilder(context);
  const x = builder.input('x', kDescriptor);
  const y = builder.identity(x);
  await promise_rejects_js(t, TypeError, builder.build({y, x}));
}, '[build] Throw if one of several outputs is an input.');
