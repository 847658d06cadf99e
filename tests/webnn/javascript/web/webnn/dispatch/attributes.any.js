// META: title=Attributes of the current draft
// META: script=../resources/helpers.js
// META: script=../resources/tensors.js

'use strict';

const ATTRIBUTES = {
  MLContext: ['accelerated', 'lost'],
  MLOperand: ['dataType', 'shape'],
  MLTensor: ['dataType', 'shape', 'readable', 'writable', 'constant'],
};

test(() => {
  for (const [name, attributes] of Object.entries(ATTRIBUTES)) {
    for (const attribute of attributes) {
      const where = `${name}.${attribute}`, {prototype} = self[name];
      const {get, set, enumerable, configurable} = Object.getOwnPropertyDescriptor(prototype, attribute);
      assert_equals(set, undefined, where);
      assert_true(enumerable, where);
      assert_true(configurable, where);
      assert_equals(get.name, `get ${attribute}`, where);
      assert_equals(get.length, 0, where);
      assert_not_own_property(get, 'prototype', where);
    }
  }
}, 'Attributes are accessors of the prototype');

context_test(async (context, builder, t) => {
  const objects = {MLContext: context, MLOperand: builder.input('x', PAIR), MLTensor: await createTensor(context, PAIR)};
  for (const [name, attributes] of Object.entries(ATTRIBUTES)) {
    for (const attribute of attributes) {
      const {get} = Object.getOwnPropertyDescriptor(self[name].prototype, attribute);
      for (const stranger of [{}, undefined, self[name].prototype, builder, Object.create(objects[name])]) {
        if (attribute === 'lost') await promise_rejects_js(t, TypeError, get.call(stranger));
        else assert_throws_js(TypeError, () => get.call(stranger), `${name}.${attribute}`);
      }
      assert_throws_js(TypeError, () => { objects[name][attribute] = 1; }, `${name}.${attribute} cannot be set`);
    }
  }
}, 'An attribute of another object throws, lost is rejected');

context_test(async (context, builder) => {
  const shape = [2, 3], x = builder.input('x', {dataType: 'int64', shape});
  assert_equals(x.dataType, 'int64');
  assert_array_equals(x.shape, [2, 3]);
  assert_true(Array.isArray(x.shape));
  assert_equals(Object.getPrototypeOf(x.shape), Array.prototype);
  assert_true(Object.isFrozen(x.shape));
  assert_equals(x.shape, x.shape, 'the same object each time');
  assert_throws_js(TypeError, () => { x.shape[0] = 5; });
  assert_throws_js(TypeError, () => x.shape.push(1));
  shape[0] = 7;
  assert_array_equals(x.shape, [2, 3], 'not the one that was given');
  assert_not_equals(builder.input('y', {dataType: 'int64', shape: x.shape}).shape, x.shape);
  assert_equals(builder.constant('float32', 1).shape.length, 0);
}, "An operand's type and shape");

context_test(async context => {
  const bytes = new Float32Array([1, 2]);
  for (const [tensor, readable, writable, constant] of [
    [await context.createTensor(PAIR), false, false, false],
    [await context.createTensor({...PAIR, readable: true}), true, false, false],
    [await context.createTensor({...PAIR, writable: 1}), false, true, false],
    [await context.createConstantTensor({...PAIR, readable: true}, bytes), false, false, true],
  ]) {
    assert_array_equals([tensor.readable, tensor.writable, tensor.constant], [readable, writable, constant]);
    assert_equals(tensor.dataType, 'float32');
    assert_array_equals(tensor.shape, [2]);
    assert_equals(tensor.shape, tensor.shape);
    assert_true(Object.isFrozen(tensor.shape));
    tensor.destroy();
    assert_array_equals(tensor.shape, [2], 'a destroyed tensor has them, too');
    assert_equals(tensor.constant, constant);
  }
}, "A tensor's type, shape and flags");

context_test(async context => {
  assert_equals(typeof context.accelerated, 'boolean');
  assert_equals(context.lost, context.lost);
  assert_true(context.lost instanceof Promise);
  assert_equals(await stateOf(context.lost), 'pending');
  assert_not_equals((await navigator.ml.createContext()).lost, context.lost);
}, "A context's attributes");
