// META: title=Overloads and optional arguments
// META: script=resources/helpers.js

'use strict';

// https://webidl.spec.whatwg.org/#js-overloads

const WITH_OPTIONS = ['elu', 'hardSigmoid', 'leakyRelu', 'linear'];
const WITHOUT_OPTIONS = ['gelu', 'hardSwish', 'relu', 'sigmoid', 'softplus', 'softsign', 'tanh'];

builder_test(async builder => {
  const x = builder.input('x', FLOATS);
  for (const name of WITH_OPTIONS) {
    for (const values of [[], [undefined], [null], [{}], [{alpha: 1}], [() => {}], [[]], [{}, 1], [undefined, 1], [null, Symbol()],
                          [Object.create(x)], [builder]]) {
      // With two arguments only the overload with an input is left.
      if (values.length === 2) assert_throws_js(TypeError, () => builder[name](...values), `${name}: two arguments, no input`);
      else assert_true(builder[name](...values) instanceof MLActivation, `${name}(${typeof values[0]})`);
    }
    for (const values of [[x], [x, undefined], [x, null], [x, {}], [x, {alpha: 1}, Symbol()]]) {
      assert_true(builder[name](...values) instanceof MLOperand, `${name}(input, ${typeof values[1]})`);
    }
    for (const values of [[1], ['x'], [true], [1n], [Symbol()], [x, 1], [x, 'x'], [{alpha: 'x'}]]) {
      assert_throws_js(TypeError, () => builder[name](...values), `${name}(${typeof values[0]}, ${typeof values[1]})`);
    }
  }
}, 'An activation with options: with and without an input');

builder_test(async builder => {
  const x = builder.input('x', FLOATS);
  for (const name of WITHOUT_OPTIONS) {
    assert_true(builder[name]() instanceof MLActivation, name);
    assert_true(builder[name](x) instanceof MLOperand, name);
    assert_true(builder[name](x, Symbol(), 1) instanceof MLOperand, `${name}: more arguments`);
    for (const value of [undefined, null, {}, 1, 'x', [], Object.create(x), builder, builder.relu()]) {
      assert_throws_js(TypeError, () => builder[name](value), `${name}(${typeof value})`);
    }
  }
}, 'An activation without options: with and without an input');

builder_test(async builder => {
  const record = [];
  for (const name of WITH_OPTIONS) {
    builder[name](spy({}, record));
    const members = {elu: ['alpha'], leakyRelu: ['alpha'], hardSigmoid: ['alpha', 'beta'], linear: ['alpha', 'beta']}[name];
    assert_array_equals(record.splice(0), members.map(member => `get ${member}`), name);
  }
}, 'The choice of an overload does not look into a dictionary');

builder_test(async builder => {
  const view = new Float32Array(2);
  const strange = {toString() { throw new Error('converted'); }};
  assert_equals(builder.constant(FLOATS, view).dataType(), 'float32');
  assert_equals(builder.constant('int32', 5).dataType(), 'int32');
  assert_array_equals(builder.constant('int32', 5).shape(), []);
  assert_equals(builder.constant(Object.assign(() => {}, {dataType: 'float32', dimensions: [2]}), view).dataType(), 'float32', 'a function is an object');
  assert_equals(builder.constant(new class { get dataType() { return 'float32'; } get dimensions() { return [2]; } }(), view).dataType(), 'float32');
  for (const values of [
    [], [FLOATS], ['int32'], [FLOATS, 5], [FLOATS, undefined], [FLOATS, null], [FLOATS, [1, 2]], [FLOATS, {}], [undefined, view], [null, view], [undefined, 5],
    [{}, view], [new String('int32'), 5], [5, 5], [true, 5], ['int4', 5], ['', 5], [Symbol(), 5], [1n, 5], [strange, 5],
  ]) {
    assert_throws_js(TypeError, () => builder.constant(...values), values.map(each => typeof each).join());
  }
  assert_equals(builder.constant('int32', null).dataType(), 'int32', 'null is a number');
  assert_equals(builder.constant('int32', [7]).dataType(), 'int32', 'so is [7]');
  assert_throws_js(TypeError, () => builder.constant('int32', view), 'but a view of two numbers is none');
}, 'constant: a descriptor and a view, or a type and a value');

promise_test(async t => {
  const ml = navigator.ml;
  for (const values of [[], [undefined], [null], [{}], [{deviceType: 'cpu'}], [[]], [() => {}], [{deviceType: undefined}], [{}, 1], [undefined, Symbol()],
                        [new GPUDevice()], [new class extends GPUDevice {}()], [ml], [Object.create(null)], [new Date()]]) {
    assert_true(await ml.createContext(...values) instanceof MLContext, typeof values[0]);
  }
  for (const value of [0, 1, '', 'cpu', true, false, 1n, Symbol(), {deviceType: 'tpu'}, {deviceType: null}, {powerPreference: ''}]) {
    await promise_rejects_js(t, TypeError, ml.createContext(value), typeof value);
  }
}, 'createContext: options, or a GPUDevice');

promise_test(async () => {
  const record = [];
  await navigator.ml.createContext(spy({}, record));
  // The stand-in for WebGPU's interface is a class: it looks at the prototype.
  assert_array_equals(record.filter(each => each !== 'getPrototypeOf'), ['get deviceType', 'get powerPreference']);
}, 'createContext reads the members of its options once');

promise_test(async () => {
  const [first, second] = await Promise.all([navigator.ml.createContext(), navigator.ml.createContext()]);
  assert_not_equals(first, second);
}, 'Each context is an object of its own');

builder_test(async builder => {
  const x = builder.input('x', FLOATS, 'ignored', Symbol());
  assert_array_equals(x.shape(1, 2, Symbol()), [2]);
  assert_equals(x.dataType(null), 'float32');
  assert_array_equals(builder.add(x, x, x, x).shape(), [2]);
  assert_array_equals(builder.softmax(builder.reshape(x, [1, 2]), 1, {}, 'x').shape(), [1, 2]);
}, 'Further arguments are ignored');

builder_test(async builder => {
  const x = builder.input('x', FLOATS);
  for (const [name, ...values] of [['add', x], ['add'], ['input', 'y'], ['where', x, x], ['pad', x, [1]], ['gru', x, x, x, 1], ['split', x],
                                   ['softmax', x], ['abs']]) {
    assert_throws_js(TypeError, () => builder[name](...values), `${name} with ${values.length}`);
  }
  for (const [name, ...values] of [['add', x, undefined], ['add', undefined, x], ['abs', undefined], ['abs', null], ['where', x, x, null],
                                   ['cast', x, undefined]]) {
    assert_throws_js(TypeError, () => builder[name](...values), `${name} with undefined or null`);
  }
}, 'Missing arguments are refused, and undefined is no operand');
