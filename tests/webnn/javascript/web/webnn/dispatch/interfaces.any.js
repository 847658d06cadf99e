// META: title=Interfaces of the current draft
// META: script=../resources/helpers.js
// META: script=../resources/tensors.js

'use strict';

const OPERATIONS = {
  ML: {createContext: 0},
  MLContext: {dispatch: 3, createTensor: 1, createConstantTensor: 2, readTensor: 1, writeTensor: 2, opSupportLimits: 0, destroy: 0},
  MLGraph: {destroy: 0},
  MLGraphBuilder: {input: 2, constant: 1, build: 1, relu: 1, softmax: 2, argMax: 2, clamp: 1, isNaN: 1, scatterND: 3, tile: 2},
  MLOperand: {},
  MLTensor: {destroy: 0},
};

test(() => {
  for (const [name, operations] of Object.entries(OPERATIONS)) {
    for (const [operation, length] of Object.entries(operations)) {
      const where = `${name}.${operation}`, method = self[name].prototype[operation];
      assert_flags(self[name].prototype, operation, {writable: true, enumerable: true, configurable: true}, where);
      assert_equals(method.length, length, where);
      assert_equals(method.name, operation, where);
      assert_not_own_property(method, 'prototype', where);
    }
    assert_equals(self[name].length, name === 'MLGraphBuilder' ? 1 : 0, name);
    assert_equals(Object.prototype.toString.call(self[name].prototype), `[object ${name}]`);
    assert_flags(self, name, {writable: true, enumerable: false, configurable: true});
  }
}, 'Operations are as Web IDL says');

test(() => {
  for (const name of ['MLActivation', 'MLTensorUsage']) assert_not_own_property(self, name);
  for (const [name, member] of [['MLContext', 'compute'], ['MLOperand', 'prototype'], ['MLGraph', 'compute']]) {
    assert_false(member in self[name].prototype, `${name}.${member}`);
  }
}, 'What the draft of June 2024 had is not there');

context_test(async (context, builder, t) => {
  for (const name of ['ML', 'MLContext', 'MLGraph', 'MLOperand', 'MLTensor']) {
    assert_throws_js(TypeError, () => new self[name](), name);
    assert_throws_js(TypeError, () => self[name](), name);
  }
  const tensor = await createTensor(context, PAIR);
  const {readTensor, writeTensor, createTensor: create} = context, {destroy} = MLTensor.prototype;
  await promise_rejects_js(t, TypeError, readTensor(tensor), 'this is missing');
  await promise_rejects_js(t, TypeError, create.call(tensor, PAIR));
  await promise_rejects_js(t, TypeError, context.createTensor());
  await promise_rejects_js(t, TypeError, context.readTensor());
  assert_throws_js(TypeError, () => writeTensor.call(builder, tensor, new ArrayBuffer(8)));
  assert_throws_js(TypeError, () => context.writeTensor(tensor));
  assert_throws_js(TypeError, () => destroy.call(context), 'the context has another destroy()');
  assert_equals(destroy.call(tensor), undefined);
}, 'Illegal constructors and invocations');

context_test(async (context, builder) => {
  const tensor = await createTensor(context, PAIR), graph = await builder.build({y: builder.relu(builder.input('x', PAIR))});
  const other = await createTensor(context, PAIR);
  assert_equals(context.dispatch(graph, {x: tensor}, {y: other}), undefined);
  assert_equals(context.writeTensor(tensor, new Float32Array(2)), undefined);
  assert_equals(await context.readTensor(tensor, new Float32Array(2)), undefined);
  for (const object of [tensor, graph, context]) assert_equals(object.destroy(), undefined);
}, 'Operations that return nothing return undefined');
