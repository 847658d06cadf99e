// META: title=Interface objects, prototypes and methods
// META: script=resources/helpers.js

'use strict';

// https://webidl.spec.whatwg.org/#js-interfaces

const INTERFACES = {ML: 0, MLActivation: 0, MLContext: 0, MLGraph: 0, MLGraphBuilder: 1, MLOperand: 0};

// [interface, method, length]: the length is the number of arguments that every overload needs.
const METHODS = [
  ['ML', 'createContext', 0], ['MLContext', 'compute', 3], ['MLOperand', 'dataType', 0], ['MLOperand', 'shape', 0],
  ['MLGraphBuilder', 'input', 2], ['MLGraphBuilder', 'constant', 2], ['MLGraphBuilder', 'build', 1], ['MLGraphBuilder', 'add', 2],
  ['MLGraphBuilder', 'relu', 0], ['MLGraphBuilder', 'elu', 0], ['MLGraphBuilder', 'gru', 5], ['MLGraphBuilder', 'lstmCell', 6],
  ['MLGraphBuilder', 'softmax', 2], ['MLGraphBuilder', 'split', 2], ['MLGraphBuilder', 'where', 3],
];

for (const [name, length] of Object.entries(INTERFACES)) {
  const Interface = self[name];
  test(() => {
    assert_flags(self, name, {writable: true, enumerable: false, configurable: true});
    assert_equals(typeof Interface, 'function');
    assert_equals(Object.getPrototypeOf(Interface), Function.prototype);
    assert_equals(Interface.name, name);
    assert_flags(Interface, 'name', {writable: false, enumerable: false, configurable: true});
    assert_equals(Interface.length, length);
    assert_flags(Interface, 'length', {writable: false, enumerable: false, configurable: true});
    assert_array_equals(Reflect.ownKeys(Interface).sort(), ['length', 'name', 'prototype']);
  }, `${name}: the interface object`);

  test(() => {
    assert_flags(Interface, 'prototype', {writable: false, enumerable: false, configurable: false});
    assert_equals(Object.getPrototypeOf(Interface.prototype), Object.prototype);
    assert_equals(Interface.prototype.constructor, Interface);
    assert_flags(Interface.prototype, 'constructor', {writable: true, enumerable: false, configurable: true});
    assert_equals(Interface.prototype[Symbol.toStringTag], name);
    assert_flags(Interface.prototype, Symbol.toStringTag, {writable: false, enumerable: false, configurable: true});
    assert_equals(Object.prototype.toString.call(Interface.prototype), `[object ${name}]`);
  }, `${name}: the interface prototype object`);

  test(() => {
    assert_throws_js(TypeError, () => Interface(), 'without new');
    assert_throws_js(TypeError, () => Reflect.construct(Interface, []), 'with new, without arguments');
    assert_throws_js(TypeError, () => Reflect.construct(Interface, [Object.create(MLContext.prototype)]), 'with a forged context');
  }, `${name}: called, and constructed in vain`);
}

for (const [owner, name, length] of METHODS) {
  const method = self[owner].prototype[name];
  test(() => {
    assert_flags(self[owner].prototype, name, {writable: true, enumerable: true, configurable: true});
    assert_equals(typeof method, 'function');
    assert_equals(method.name, name);
    assert_equals(method.length, length);
    assert_flags(method, 'name', {writable: false, enumerable: false, configurable: true});
    assert_flags(method, 'length', {writable: false, enumerable: false, configurable: true});
    assert_not_own_property(method, 'prototype');
    assert_throws_js(TypeError, () => Reflect.construct(method, []), 'a method is no constructor');
    assert_throws_js(TypeError, () => Reflect.construct(Object, [], method), 'nor is it a new.target');
  }, `${owner}.${name}: the method`);
}

test(() => {
  for (const name of Object.keys(INTERFACES)) {
    const methods = Object.keys(self[name].prototype);
    for (const method of methods) assert_equals(typeof self[name].prototype[method], 'function', `${name}.${method}`);
  }
  assert_array_equals(Object.keys(MLOperand.prototype), ['dataType', 'shape']);
  assert_array_equals(Object.keys(MLActivation.prototype), []);
  assert_equals(Object.keys(MLGraphBuilder.prototype).length, 81);
}, 'The prototypes have the methods of the draft, and no others');

test(() => {
  const found = Reflect.ownKeys(self).map(String).filter(name => name.startsWith('__') || /^(send|emit|idl|upload|download)$/i.test(name));
  assert_array_equals(found, []);
}, 'What the host needs is not visible');

// ---- Brands

builder_test(async (builder, t, context) => {
  const operand = builder.input('x', FLOATS);
  const strangers = {
    'undefined': undefined, 'null': null, 'a number': 1, 'an object': {}, 'a function': () => {}, 'the prototype': MLGraphBuilder.prototype,
    'another interface': context, 'an heir': Object.create(builder), 'a forgery': Object.create(MLGraphBuilder.prototype),
    'a proxy': new Proxy(builder, {}),
  };
  for (const [what, stranger] of Object.entries(strangers)) {
    for (const [name, ...values] of [['relu', operand], ['add', operand, operand], ['relu'], ['input', 'y', FLOATS]]) {
      assert_throws_js(TypeError, () => builder[name].apply(stranger, values), `${name} of ${what}`);
    }
    assert_throws_js(TypeError, () => operand.shape.call(stranger), `shape of ${what}`);
    await promise_rejects_js(t, TypeError, builder.build.call(stranger, {operand}), `build of ${what}`);
    if (stranger !== context) await promise_rejects_js(t, TypeError, context.compute.call(stranger, {}, {}, {}), `compute of ${what}`);
    await promise_rejects_js(t, TypeError, navigator.ml.createContext.call(stranger), `createContext of ${what}`);
  }
}, 'A method refuses an object of another kind');

builder_test(async builder => {
  const untouched = {get dataType() { throw new Error('read'); }};
  const unconvertible = {toString() { throw new Error('converted'); }};
  assert_throws_js(TypeError, () => builder.input.call({}, unconvertible, untouched), 'input');
  assert_throws_js(TypeError, () => builder.input.call({}), 'the brand counts before the number of arguments');
}, 'The object is looked at before the arguments');

builder_test(async builder => {
  const {input, shape} = {...Object.getPrototypeOf(builder), ...MLOperand.prototype};
  assert_array_equals(shape.call(input.call(builder, 'x', FLOATS)), [2]);
}, 'A method works on its own, with call');

// ---- Objects

builder_test(async (builder, t, context) => {
  const operand = builder.input('x', FLOATS), graph = await builder.build({y: builder.relu(operand)}), activation = builder.relu();
  for (const [object, name] of [[navigator.ml, 'ML'], [context, 'MLContext'], [builder, 'MLGraphBuilder'], [operand, 'MLOperand'],
                                [graph, 'MLGraph'], [activation, 'MLActivation']]) {
    assert_equals(Object.getPrototypeOf(object), self[name].prototype, name);
    assert_true(object instanceof self[name], name);
    assert_array_equals(Reflect.ownKeys(object), [], `${name}: own properties`);
    assert_equals(String(object), `[object ${name}]`);
    assert_true(Object.isExtensible(object), `${name}: extensible`);
    assert_equals(JSON.stringify(object), '{}', `${name}: JSON`);
  }
}, 'Objects have no properties of their own');

promise_test(async () => {
  const context = await navigator.ml.createContext();
  class Builder extends MLGraphBuilder {
    twice(x) { return this.add(x, x); }
    relu(x) { return super.relu(this.twice(x)); }
  }
  const builder = new Builder(context);
  assert_true(builder instanceof Builder && builder instanceof MLGraphBuilder);
  assert_equals(Object.getPrototypeOf(builder), Builder.prototype);
  assert_array_equals(builder.relu(builder.input('x', FLOATS)).shape(), [2]);

  function Target() {}
  Target.prototype = null;
  const made = Reflect.construct(MLGraphBuilder, [context], Target);
  assert_equals(Object.getPrototypeOf(made), MLGraphBuilder.prototype, 'a new.target without a prototype');
}, 'MLGraphBuilder can be extended');

promise_test(async () => {
  const context = await navigator.ml.createContext();
  const original = MLOperand;
  try {
    self.MLOperand = class MLOperand {};
    MLGraphBuilder.prototype.constructor = undefined;
    const operand = new MLGraphBuilder(context).input('x', FLOATS);
    assert_equals(Object.getPrototypeOf(operand), original.prototype);
  } finally {
    self.MLOperand = original;
    MLGraphBuilder.prototype.constructor = MLGraphBuilder;
  }
}, 'Replaced interface objects change nothing');

// ---- navigator.ml

const Interface = GLOBAL.isWindow() ? self.Navigator : self.WorkerNavigator;
test(() => {
  assert_equals(navigator.ml, navigator.ml);
  assert_not_own_property(navigator, 'ml');
  const {get, set, enumerable, configurable} = Object.getOwnPropertyDescriptor(Interface.prototype, 'ml');
  assert_equals(set, undefined);
  assert_true(enumerable);
  assert_true(configurable);
  assert_equals(get.name, 'get ml');
  assert_equals(get.length, 0);
  assert_not_own_property(get, 'prototype');
  assert_equals(get.call(navigator), navigator.ml);
  for (const stranger of [{}, Interface.prototype, Object.create(navigator), 1]) assert_throws_js(TypeError, () => get.call(stranger));
  assert_throws_js(TypeError, () => { navigator.ml = 1; }, 'it cannot be set');
  assert_throws_js(TypeError, () => new Interface());
}, 'navigator.ml is an attribute of its interface');
