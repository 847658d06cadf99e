// META: title=Tensors: reading, writing, and when promises are settled
// META: script=../resources/helpers.js
// META: script=../resources/tensors.js

'use strict';

const write = (context, tensor, ...values) => context.writeTensor(tensor, new Float32Array(values));
const buildNeg = builder => builder.build({y: builder.neg(builder.input('x', PAIR))});

context_test(async (context, builder) => {
  const graph = await buildNeg(builder), [x, y] = [await createTensor(context, PAIR), await createTensor(context, PAIR)];
  write(context, x, 1, 2);
  context.dispatch(graph, {x}, {y});
  const promise = context.readTensor(y);
  assert_true(promise instanceof Promise);
  const buffer = await promise;
  assert_equals(Object.getPrototypeOf(buffer), ArrayBuffer.prototype);
  assert_equals(buffer.byteLength, 8);
  assert_false(buffer.resizable);
  assert_array_equals(new Float32Array(buffer), [-1, -2]);
  new Uint8Array(buffer).fill(1);
  assert_array_equals(new Float32Array(await context.readTensor(y)), [-1, -2], 'the buffer is a copy');
}, 'Write, dispatch, read');

context_test(async (context, builder) => {
  const graph = await buildNeg(builder), [x, y] = [await createTensor(context, PAIR), await createTensor(context, PAIR)];
  write(context, x, 1, 2);
  context.dispatch(graph, {x}, {y});
  const first = context.readTensor(y), output = new Float32Array(2), second = context.readTensor(y, output);
  write(context, x, 3, 4);
  context.dispatch(graph, {x}, {y});
  write(context, y, 5, 6);
  const third = context.readTensor(y);
  assert_array_equals(output, [0, 0], 'nothing is written at the call');
  assert_array_equals(new Float32Array(await first), [-1, -2]);
  await second;
  assert_array_equals(output, [-1, -2]);
  assert_array_equals(new Float32Array(await third), [5, 6]);
}, 'A read sees what came before it, and nothing that comes after');

context_test(async context => {
  const tensor = await createTensor(context, PAIR), order = [];
  write(context, tensor, 1, 2);
  const reads = [1, 2, 3].map(number => context.readTensor(tensor).then(() => order.push(number)));
  Promise.resolve().then(() => order.push('job'));
  order.push('call');
  await Promise.all(reads);
  assert_array_equals(order, ['call', 'job', 1, 2, 3]);
}, 'Reads are fulfilled in order, in later tasks');

context_test(async context => {
  const tensor = await createTensor(context, PAIR);
  write(context, tensor, 1, 2);
  const bytes = new Uint8Array(20).fill(7);
  await context.readTensor(tensor, new DataView(bytes.buffer, 4, 8)).catch(() => {});
  await context.readTensor(tensor, bytes.subarray(4, 19));
  assert_array_equals(bytes.subarray(0, 4), [7, 7, 7, 7]);
  assert_array_equals(new Float32Array(bytes.slice(4, 12).buffer), [1, 2]);
  assert_array_equals(bytes.subarray(12), [7, 7, 7, 7, 7, 7, 7, 7], 'what is behind the tensor stays');
}, 'A larger buffer is filled at its beginning');

context_test(async (context, builder, t) => {
  const tensor = await createTensor(context, PAIR);
  const buffer = new ArrayBuffer(8), view = new Float32Array(2);
  const promises = [context.readTensor(tensor, buffer), context.readTensor(tensor, view)];
  buffer.transfer();
  view.buffer.transfer();
  for (const promise of promises) await promise_rejects_js(t, TypeError, promise);
}, 'A buffer that is detached before the read ends');

context_test(async (context, builder, t) => {
  const tensor = await createTensor(context, PAIR), other = await createTensor(context, PAIR);
  write(context, tensor, 1, 2);
  const output = new Float32Array([8, 9]);
  const promises = [context.readTensor(tensor), context.readTensor(tensor, output)], unaffected = context.readTensor(other);
  const settled = [];
  for (const promise of promises) promise.catch(error => settled.push(error.name));
  tensor.destroy();
  await null;
  assert_array_equals(settled, ['InvalidStateError', 'InvalidStateError'], 'at once, not in a task');
  for (const promise of promises) await promise_rejects_dom(t, 'InvalidStateError', promise);
  await unaffected;
  assert_array_equals(output, [8, 9], 'nothing is written');
  await promise_rejects_dom(t, 'InvalidStateError', context.readTensor(tensor));
  assert_throws_dom('InvalidStateError', () => write(context, tensor, 1, 2));
  tensor.destroy();
}, 'destroy() rejects pending reads');

context_test(async (context, builder, t) => {
  const another = await navigator.ml.createContext();
  const [tensor, foreign, closed] = [await createTensor(context, PAIR), await createTensor(another, PAIR), await context.createTensor(PAIR)];
  for (const each of [tensor, foreign, closed]) each.destroy();
  for (const each of [foreign, closed]) {
    assert_throws_js(TypeError, () => write(context, each, 1, 2));
    await promise_rejects_js(t, TypeError, context.readTensor(each));
    await promise_rejects_js(t, TypeError, context.readTensor(each, new Float32Array(2)));
  }
  assert_throws_js(TypeError, () => write(context, tensor, 1));
  await promise_rejects_js(t, TypeError, context.readTensor(tensor, new Float32Array(1)));
  assert_throws_dom('InvalidStateError', () => write(context, tensor, 1, 2));
  await promise_rejects_dom(t, 'InvalidStateError', context.readTensor(tensor, new Float32Array(2)));
}, 'What a program may not do with a tensor, or with a buffer, is refused before it matters that the tensor was destroyed');

context_test(async (context, builder, t) => {
  const tensor = await createTensor(context, PAIR);
  const promise = context.readTensor(tensor);
  await promise;
  tensor.destroy();
  assert_equals((await promise).byteLength, 8);
}, 'A read that has ended is not affected');

context_test(async (context, builder, t) => {
  const graph = await buildNeg(builder), another = await navigator.ml.createContext();
  const [x, y, foreign] = [await createTensor(context, PAIR), await createTensor(context, PAIR), await createTensor(another, PAIR)];
  const [unreadable, constant] = [await context.createTensor(PAIR), await context.createConstantTensor(PAIR, new ArrayBuffer(8))];
  for (const [inputs, outputs] of [
    [{}, {}], [{x}, {}], [{x, z: y}, {y}], [{x}, {x}], [{x}, {y: foreign}], [{x: constant}, {y}], [{x: null}, {y}], [{x: context.createTensor(PAIR)}, {y}],
    [null, {y}], [{x}, 5], [{x}, {y: graph}], [{x}, {y, z: y}],
  ]) {
    assert_throws_js(TypeError, () => context.dispatch(graph, inputs, outputs));
  }
  assert_throws_js(TypeError, () => another.dispatch(graph, {x}, {y}));
  assert_throws_js(TypeError, () => context.dispatch({}, {x}, {y}));
  for (const tensor of [unreadable, constant, foreign, graph, undefined]) await promise_rejects_js(t, TypeError, context.readTensor(tensor));
  for (const tensor of [unreadable, constant, foreign, graph]) assert_throws_js(TypeError, () => write(context, tensor, 1, 2));
  context.dispatch(graph, new Proxy({x}, {}), Object.assign(() => {}, {y}));
  graph.destroy();
  assert_throws_dom('InvalidStateError', () => context.dispatch(graph, {x}, {y}));
}, 'What dispatch(), readTensor() and writeTensor() refuse');

context_test(async (context, builder, t) => {
  const data = new BigInt64Array([2n ** 62n + 1n, -5n]);
  const x = await createTensor(context, {dataType: 'int64', shape: new Uint32Array([2])});
  context.writeTensor(x, data);
  assert_array_equals(new BigInt64Array(await context.readTensor(x)), [...data]);
  const scalar = await createTensor(context, {dataType: 'uint8', shape: []});
  context.writeTensor(scalar, new Uint8Array([200]));
  assert_array_equals(new Uint8Array(await context.readTensor(scalar)), [200]);
  for (const descriptor of [undefined, null, {}, {dataType: 'float32'}, {shape: [2]}, {dataType: 'int4', shape: [2]}, {dataType: 'float32', shape: [0]},
                            {dataType: 'float32', shape: 2}, {dataType: 'float32', dimensions: [2]}, {dataType: 'float32', shape: [2 ** 31, 2 ** 31]}]) {
    await promise_rejects_js(t, TypeError, context.createTensor(descriptor));
  }
}, 'Descriptors of tensors');
