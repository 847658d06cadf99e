// META: title=validation tests for WebNN API MLGraphBuilder.constant(tensor)
// META: global=window
// META: variant=?cpu
// META: variant=?gpu
// META: variant=?npu
// META: script=../resources/utils_tensors.js

'use strict';

// https://www.w3.org/TR/webnn/#api-mlgraphbuilder-constant-tensor

const kOnes = new Float32Array([1, 1, 1, 1]);

context_test(async (t, context) => {
  const otherContext = await createVariantContext();
  const tensor = await otherContext.createConstantTensor(kDescriptor, kOnes);
  const builder = new MLGraphBuilder(context);
  assert_throws_js(TypeError, () => builder.constant(tensor));
}, '[constant] Throw if the tensor is from another context.');

context_test(async (t, context) => {
  const tensor = await context.createConstantTensor(kDescriptor, kOnes);
  tensor.destroy();
  const builder = new MLGraphBuilder(context);
  assert_throws_js(TypeError, () => builder.constant(tensor));
}, '[constant] Throw if the tensor is destroyed.');

context_test(async (t, context) => {
  const tensor = await createFilled(context, kOnes);
  const builder = new MLGraphBuilder(context);
  assert_throws_js(TypeError, () => builder.constant(tensor));
}, '[constant] Throw if the tensor is not a constant one.');

context_test(async (t, context) => {
  const tensor = await context.createConstantTensor(kDescriptor, kOnes);
  const builder = new MLGraphBuilder(context);
  const x = builder.input('x', kDescriptor);
  await builder.build({y: builder.identity(x)});
  assert_throws_dom('InvalidStateError', () => builder.constant(tensor));
}, '[constant] Throw if the builder has built a graph, of a tensor.');

context_test(async (t, context) => {
  const builder = new MLGraphBuilder(context);
  const x = builder.input('x', kDescriptor);
  await builder.build({y: builder.identity(x)});
  assert_throws_dom(
      'InvalidStateError', () => builder.constant('float32', 1));
}, '[constant] Throw if the builder has built a graph, of a number.');

context_test(async (t, context) => {
  const tensor = await context.createConstantTensor(kDescriptor, kOnes);
  assert_false(tensor.readable);
  assert_false(tensor.writable);
  assert_true(tensor.constant);
  const builder = new MLGraphBuilder(context);
  const operand = builder.constant(tensor);
  assert_equals(operand.dataType, 'float32');
  assert_array_equals(operand.shape, [2, 2]);
}, '[constant] An operand has the descriptor of its tensor.');
