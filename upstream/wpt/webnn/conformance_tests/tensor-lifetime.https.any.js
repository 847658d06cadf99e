// META: title=test WebNN API lifetime of tensors
// META: global=window
// META: variant=?cpu
// META: variant=?gpu
// META: variant=?npu
// META: script=../resources/utils_tensors.js

'use strict';

// https://www.w3.org/TR/webnn/#api-mltensor-destroy

context_test(async (t, context) => {
  const tensor = await createFilled(context, [1, 2, 3, 4]);
  assert_equals(tensor.destroy(), undefined);
  assert_equals(tensor.destroy(), undefined);
}, 'destroy() can be called again.');

context_test(async (t, context) => {
  const tensor = await createFilled(context, [1, 2, 3, 4]);
  tensor.destroy();
  assert_equals(tensor.dataType, 'float32');
  assert_array_equals(tensor.shape, [2, 2]);
  assert_true(tensor.readable);
  assert_true(tensor.writable);
}, 'A destroyed tensor still has its attributes.');

context_test(async (t, context) => {
  const tensor = await createFilled(context, [1, 2, 3, 4]);
  const promise = context.readTensor(tensor);
  tensor.destroy();
  await promise_rejects_dom(t, 'InvalidStateError', promise);
}, 'A read that is pending is rejected.');

context_test(async (t, context) => {
  const graph = await buildDouble(context);
  const x = await createFilled(context, [1, 2, 3, 4]);
  const y = await context.createTensor(kReadWrite);
  context.dispatch(graph, {x}, {y});
  x.destroy();
  assert_array_equals(await readNumbers(context, y), [2, 4, 6, 8]);
}, 'An input that is destroyed after a dispatch was still its input.');

context_test(async (t, context) => {
  const graph = await buildDouble(context);
  const x = await createFilled(context, [1, 2, 3, 4]);
  const [y, z] = await Promise.all(
      [context.createTensor(kReadWrite), context.createTensor(kReadWrite)]);
  context.dispatch(graph, {x}, {y});
  y.destroy();
  context.dispatch(graph, {x}, {y: z});
  assert_array_equals(await readNumbers(context, z), [2, 4, 6, 8]);
}, 'A graph computes again after one of its outputs was destroyed.');

context_test(async (t, context) => {
  const tensors = [];
  for (let i = 0; i < 200; ++i) {
    tensors.push(await context.createTensor(kReadWrite));
    if (i % 2) {
      tensors[i - 1].destroy();
    }
  }
  context.writeTensor(tensors[199], new Float32Array([1, 2, 3, 4]));
  assert_array_equals(await readNumbers(context, tensors[199]), [1, 2, 3, 4]);
}, 'Two hundred tensors, every second one of them destroyed.');
