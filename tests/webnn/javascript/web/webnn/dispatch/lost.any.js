// META: title=Contexts that are lost
// META: script=../resources/helpers.js
// META: script=../resources/tensors.js

'use strict';

context_test(async context => {
  const {lost} = context;
  assert_equals(context.destroy(), undefined);
  assert_equals(await stateOf(lost), 'fulfilled', 'at once');
  const info = await lost;
  assert_equals(Object.getPrototypeOf(info), Object.prototype);
  assert_array_equals(Reflect.ownKeys(info), ['message']);
  assert_flags(info, 'message', {writable: true, enumerable: true, configurable: true});
  assert_equals(typeof info.message, 'string');
  assert_equals(context.lost, lost);
  context.destroy();
  assert_equals(await context.lost, info);
}, 'destroy() loses a context');

context_test(async context => {
  context.destroy();
  assert_equals(typeof (await context.lost).message, 'string');
}, 'lost may be asked for afterwards');

context_test(async context => {
  const another = await navigator.ml.createContext();
  another.destroy();
  assert_equals(await stateOf(another.lost), 'fulfilled');
  assert_equals(await stateOf(context.lost), 'pending');
  assert_equals((await createTensor(context, PAIR)).shape.length, 1);
}, 'Other contexts go on');

context_test(async (context, builder, t) => {
  const x = builder.input('x', PAIR), y = builder.relu(x), second = new MLGraphBuilder(context);
  const graph = await builder.build({y}), tensor = await createTensor(context, PAIR), other = await createTensor(context, PAIR);
  context.destroy();
  assert_throws_dom('InvalidStateError', () => new MLGraphBuilder(context));
  assert_throws_dom('InvalidStateError', () => second.input('x', PAIR));
  assert_throws_dom('InvalidStateError', () => context.dispatch(graph, {x: tensor}, {y: other}));
  assert_throws_dom('InvalidStateError', () => context.writeTensor(tensor, new Float32Array(2)));
  await promise_rejects_dom(t, 'InvalidStateError', context.readTensor(tensor));
  await promise_rejects_dom(t, 'InvalidStateError', context.createTensor(PAIR));
  await promise_rejects_dom(t, 'InvalidStateError', context.createConstantTensor(PAIR, new ArrayBuffer(8)));
  graph.destroy();
  tensor.destroy();
  assert_equals(x.dataType, 'float32');
  assert_array_equals(tensor.shape, [2]);
}, 'Nothing can be done with a lost context, but to look');

context_test(async (context, builder, t) => {
  const tensor = await createTensor(context, PAIR), y = builder.relu(builder.input('x', PAIR)), output = new Float32Array([5, 6]);
  const promises = [context.readTensor(tensor), context.readTensor(tensor, output), context.createTensor(PAIR),
                    context.createConstantTensor(PAIR, new ArrayBuffer(8)), builder.build({y})];
  context.destroy();
  assert_equals(await stateOf(promises[0]), 'rejected', 'reads are rejected at once');
  assert_equals(await stateOf(promises[1]), 'rejected', 'reads are rejected at once');
  for (const promise of promises) await promise_rejects_dom(t, 'InvalidStateError', promise);
  assert_array_equals(output, [5, 6]);
}, 'What is pending is rejected');
