// META: title=Errors
// META: script=resources/helpers.js

'use strict';

builder_test(async builder => {
  const cases = {
    'too few arguments': () => builder.input('x'),
    'a wrong object': () => builder.relu({}),
    'a wrong enumeration value': () => builder.input('x', {dataType: 'float8'}),
    'a refusal of the emulator': () => builder.add(builder.input('a', FLOATS), builder.input('b', {...FLOATS, dimensions: [3]})),
  };
  for (const [what, body] of Object.entries(cases)) {
    try {
      body();
      assert_unreached(what);
    } catch (error) {
      assert_equals(Object.getPrototypeOf(error), TypeError.prototype, what);
      assert_equals(typeof error.message, 'string', what);
      assert_not_equals(error.message, '', what);
      assert_equals(typeof error.stack, 'string', what);
    }
  }
}, 'A TypeError is one of this realm, whoever finds the fault');

builder_test(async (builder, t, context) => {
  const messages = [
    [() => builder.input('x'), /^input needs 2 arguments, got 1$/],
    [() => builder.elu(5), /^elu: argument 1 must fit input or options, got 5$/],
    [() => builder.abs('five'), /abs: input must be an MLOperand, got 'five'/],
    [() => builder.abs(navigator.ml), /got an object \(ML\)/],
    [() => builder.abs(1n), /got 1n/],
    [() => builder.abs(Symbol.iterator), /got a Symbol/],
    [() => builder.input('x', {dataType: 'float8'}), /input: descriptor\.dataType must be one of 'float32', .*, got 'float8'/],
    [() => builder.input('x', {dataType: 'float32', dimensions: [1, -1]}), /descriptor\.dimensions\[1\] must be from 0 to 4294967295, got -1/],
    [() => builder.input('x', {}), /descriptor must have the member dataType/],
    [() => MLGraphBuilder(context), /^MLGraphBuilder: needs the operator new$/],
    [() => new MLOperand(), /^MLOperand: Illegal constructor$/],
    [() => MLOperand.prototype.shape.call(builder), /^shape: Illegal invocation, this must be an MLOperand$/],
    [() => builder.constant(builder), /^constant needs 2 arguments, got 1$/],
  ];
  for (const [body, expected] of messages) {
    try {
      body();
      assert_unreached(String(expected));
    } catch (error) {
      assert_true(expected.test(error.message), `${error.message} matches ${expected}`);
    }
  }
}, 'Messages name the argument, what must hold and what was given');

promise_test(async t => {
  const context = await navigator.ml.createContext(new GPUDevice());
  const builder = new MLGraphBuilder(context);
  const graph = await builder.build({y: builder.relu(builder.input('x', FLOATS))});
  const x = new Float32Array(2), y = new Float32Array(2);
  await promise_rejects_dom(t, 'OperationError', context.compute(graph, {x}, {y}));
  assert_equals(x.length, 2, 'x was not transferred');
  assert_equals(y.length, 2, 'y was not transferred');
  const error = await context.compute(graph, {x}, {y}).catch(error => error);
  assert_true(error instanceof DOMException && error instanceof Error);
  assert_not_equals(error.message, '');
  assert_equals(Object.prototype.toString.call(error), '[object DOMException]');
}, 'A context of a GPUDevice cannot compute: a DOMException with name and code');

const thrown = new RangeError('mine');
const raise = () => { throw thrown; };

builder_test(async (builder, t, context) => {
  const graph = await builder.build({y: builder.relu(builder.input('x', FLOATS))});
  for (const [what, call] of Object.entries({
    'createContext: a getter': () => navigator.ml.createContext({get deviceType() { return raise(); }}),
    'createContext: a string': () => navigator.ml.createContext({deviceType: {toString: raise}}),
    'build: a getter': () => builder.build({get y() { return raise(); }}),
    'build: the keys': () => builder.build(new Proxy({}, {ownKeys: raise})),
    'build: a property': () => builder.build(new Proxy({y: 1}, {getOwnPropertyDescriptor: raise})),
    'compute: a getter': () => context.compute(graph, {get x() { return raise(); }}, {}),
  })) {
    const promise = call();
    assert_true(promise instanceof Promise, what);
    assert_equals(await promise.then(() => 'fulfilled', error => error), thrown, what);
  }
}, 'A method with a promise passes on what the arguments throw, by rejecting');

builder_test(async (builder, t, context) => {
  for (const [what, call] of Object.entries({
    'createContext: not a dictionary': () => navigator.ml.createContext(5),
    'createContext: a symbol': () => navigator.ml.createContext(Symbol()),
    'createContext: a wrong value': () => navigator.ml.createContext({deviceType: 'tpu'}),
    'build: no argument': () => builder.build(),
    'build: undefined': () => builder.build(undefined),
    'build: null': () => builder.build(null),
    'build: a number': () => builder.build(1),
    'build: a string': () => builder.build('y'),
    'build: an empty record': () => builder.build({}),
    'build: a wrong value': () => builder.build({y: 1}),
    'build: an input': () => builder.build({y: builder.input('only', FLOATS)}),
    'build: a constant': () => builder.build({y: builder.constant(FLOATS, new Float32Array(2))}),
    'compute: no argument': () => context.compute(),
    'compute: two arguments': () => context.compute({}, {}),
    'compute: a wrong graph': () => context.compute({}, {}, {}),
    'compute: another interface': () => context.compute(builder, {}, {}),
  })) {
    let promise;
    try {
      promise = call();
    } catch {
      assert_unreached(`${what}: it was thrown`);
    }
    assert_equals(Object.getPrototypeOf(promise), Promise.prototype, what);
    await promise_rejects_js(t, TypeError, promise, what);
  }
}, 'A method with a promise rejects it, and throws nothing');

builder_test(async builder => {
  for (const body of [
    () => builder.input({toString: raise}, FLOATS), () => builder.input('x', {get dataType() { return raise(); }}),
    () => builder.input('x', {dataType: 'float32', dimensions: [{valueOf: raise}]}), () => builder.constant('float32', {valueOf: raise}),
    () => builder.concat({get [Symbol.iterator]() { return raise(); }}, 0), () => builder.concat(new Proxy([], {get: raise}), 0),
  ]) {
    try {
      body();
      assert_unreached();
    } catch (error) {
      assert_equals(error, thrown, String(body));
    }
  }
  const proxy = new Proxy({}, {get: raise, getPrototypeOf: raise});
  assert_throws_js(TypeError, () => new MLGraphBuilder(proxy), 'a proxy is no context, and nobody asks it');
}, 'What the arguments throw comes through as it is');

promise_test(async () => {
  const events = [];
  const promise = navigator.ml.createContext().then(() => events.push('resolved'));
  Promise.resolve().then(() => events.push('a microtask')).then(() => events.push('another'));
  events.push('the call has returned');
  await promise;
  assert_array_equals(events, ['the call has returned', 'a microtask', 'another', 'resolved']);
}, 'A promise is resolved in a later task');
