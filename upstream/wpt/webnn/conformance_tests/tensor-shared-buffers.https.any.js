// META: title=test WebNN API shared buffers
// META: global=window
// META: variant=?cpu
// META: variant=?gpu
// META: variant=?npu
// META: script=../resources/utils_tensors.js

'use strict';

// https://www.w3.org/TR/webnn/#api-mlcontext-writetensor

const makeShared = () => {
  const array = new Float32Array(new SharedArrayBuffer(32), 8, 4);
  array.set([1, 2, 3, 4]);
  return array;
};

context_test(async (t, context) => {
  const tensor = await context.createTensor(kReadWrite);
  const array = makeShared();
  context.writeTensor(tensor, array);
  array.fill(0);
  assert_array_equals(await readNumbers(context, tensor), [1, 2, 3, 4]);
}, 'writeTensor() copies a view of a shared buffer before it returns.');

context_test(async (t, context) => {
  const tensor = await context.createTensor(kReadWrite);
  const buffer = new SharedArrayBuffer(16);
  new Float32Array(buffer).set([1, 2, 3, 4]);
  context.writeTensor(tensor, buffer);
  assert_array_equals(await readNumbers(context, tensor), [1, 2, 3, 4]);
}, 'writeTensor() takes a SharedArrayBuffer.');

context_test(async (t, context) => {
  const tensor = await createFilled(context, [5, 6, 7, 8]);
  const array = makeShared();
  await context.readTensor(tensor, array);
  assert_array_equals(array, [5, 6, 7, 8]);
  assert_array_equals(
      new Float32Array(array.buffer), [0, 0, 5, 6, 7, 8, 0, 0]);
}, 'readTensor() writes to a view of a shared buffer.');

context_test(async (t, context) => {
  const builder = new MLGraphBuilder(context);
  const array = makeShared();
  const x = builder.input('x', kDescriptor);
  const y = builder.add(x, builder.constant(kDescriptor, array));
  array.fill(0);
  const graph = await builder.build({y});
  const tensors = {
    x: await createFilled(context, [0, 0, 0, 0]),
    y: await context.createTensor(kReadWrite)
  };
  context.dispatch(graph, {x: tensors.x}, {y: tensors.y});
  assert_array_equals(await readNumbers(context, tensors.y), [1, 2, 3, 4]);
}, 'constant() copies a view of a shared buffer before it returns.');
