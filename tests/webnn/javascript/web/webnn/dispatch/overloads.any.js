// META: title=Overloads and dictionaries of the current draft
// META: script=../resources/helpers.js
// META: script=../resources/tensors.js

'use strict';

context_test(async (context, builder) => {
  const buffer = new ArrayBuffer(8), constant = await context.createConstantTensor(PAIR, buffer), tensor = await createTensor(context, PAIR);
  assert_array_equals(builder.constant(PAIR, buffer).shape, [2]);
  assert_array_equals(builder.constant('float32', 5).shape, []);
  assert_array_equals(builder.constant(constant).shape, [2]);
  assert_array_equals(builder.constant(Object.assign(() => {}, PAIR), buffer, Symbol()).shape, [2]);
  assert_array_equals(builder.constant(constant, buffer).shape, [2], 'with two arguments, a tensor is a dictionary');
  for (const values of [
    [], [PAIR], ['float32'], [buffer], [5], [null], [undefined], [tensor], [builder], [{}],
    [constant, 5], [undefined, buffer], [PAIR, 5], [PAIR, undefined], [buffer, PAIR], ['int4', 5], [5, 5], ['float32', Symbol()],
  ]) {
    assert_throws_js(TypeError, () => builder.constant(...values), values.map(each => typeof each).join());
  }
  constant.destroy();
  assert_throws_js(TypeError, () => builder.constant(constant), 'a destroyed one');
}, 'constant: a descriptor and a buffer, a type and a number, a tensor');

context_test(async (context, builder, t) => {
  const tensor = await createTensor(context, PAIR), buffer = new ArrayBuffer(8);
  assert_true(await context.readTensor(tensor) instanceof ArrayBuffer);
  assert_equals(await context.readTensor(tensor, buffer, Symbol()), undefined);
  for (const values of [[], [buffer], [tensor, undefined], [tensor, null], [tensor, 8], [tensor, tensor], [buffer, tensor]]) {
    await promise_rejects_js(t, TypeError, context.readTensor(...values));
  }
}, 'readTensor: with a buffer, and without');

promise_test(async t => {
  const {ml} = navigator;
  for (const values of [[], [undefined], [null], [{}], [{accelerated: false}], [{powerPreference: 'low-power'}], [new GPUDevice()], [{}, 1]]) {
    assert_true(await ml.createContext(...values) instanceof MLContext);
  }
  for (const value of [0, 'cpu', true, 1n, Symbol(), {powerPreference: 'none'}]) await promise_rejects_js(t, TypeError, ml.createContext(value));
  const record = [];
  await ml.createContext(spy({deviceType: 'unknown'}, record));
  assert_array_equals(record.filter(each => each !== 'getPrototypeOf'), ['get accelerated', 'get powerPreference'], 'the draft has no deviceType');
}, 'createContext: options, or a GPUDevice');

context_test(async (context, builder) => {
  const record = [], x = builder.input('x', {dataType: 'float32', shape: [2, 2]});
  builder.gemm(x, x, spy({}, record));
  // The members of the dictionary it inherits from come first.
  assert_array_equals(record, ['label', 'aTranspose', 'alpha', 'bTranspose', 'beta', 'c'].map(name => `get ${name}`));
  record.length = 0;
  await context.createTensor(spy({...PAIR}, record));
  assert_array_equals(record, ['dataType', 'shape', 'readable', 'writable'].map(name => `get ${name}`));
}, 'Members are read in the order of Web IDL');

context_test(async (context, builder, t) => {
  const x = builder.input('x', PAIR), wrong = builder.input('w', {dataType: 'float32', shape: [3]});
  const hostile = '\u202eevil\u2066\n\x1b[31m';
  for (const [label, shown] of [['mine', '[mine] '], ['\ud800', '[\ufffd] '], [hostile, '[\\u202eevil\\u2066\\n\\x1b[31m] '],
                                ['x'.repeat(1e6), `[${'x'.repeat(77)}...] `], [{toString: () => 'made'}, '[made] '], ['', ''], [undefined, '']]) {
    let message;
    try { builder.add(x, wrong, {label}); } catch (error) { ({message} = error); }
    assert_true(message.startsWith(`${shown}add: `), `${shown}: ${message}`);
  }
  assert_throws_js(TypeError, () => builder.add(x, x, {label: Symbol()}));
}, 'A label is a USVString, and is in the messages');

context_test(async (context, builder) => {
  const x = builder.input('a\ud800', PAIR);
  assert_throws_js(TypeError, () => builder.input('a\ufffd', PAIR), 'it is there');
  builder.input('a\ud83d\ude00', PAIR);
  assert_throws_js(TypeError, () => builder.input('a\u{1f600}', PAIR), 'both halves make one character');
  const graph = await builder.build({'\udfff': builder.neg(x)}), [given, result] = [await createTensor(context, PAIR), await createTensor(context, PAIR)];
  context.writeTensor(given, new Float32Array([1, 2]));
  for (const [input, output] of [['a\ud800', '\udfff'], ['a\ufffd', '\ufffd'], ['a\udc00', '\ud800']]) {
    context.dispatch(graph, {[input]: given}, {[output]: result});
    assert_array_equals(new Float32Array(await context.readTensor(result)), [-1, -2]);
  }
  assert_throws_js(TypeError, () => context.dispatch(graph, {'a\ud800\ud800': given}, {'\ufffd': result}));
}, 'Names are USVStrings');

context_test(async (context, builder) => {
  const x = builder.input('x', {dataType: 'float32', shape: [1, 2, 4, 4]});
  assert_array_equals(builder.averagePool2d(x, {windowDimensions: [3, 3], strides: [2, 2], outputShapeRounding: 'ceil'}).shape, [1, 2, 2, 2]);
  assert_array_equals(builder.averagePool2d(x, {windowDimensions: [3, 3], strides: [2, 2], roundingType: 'ceil'}).shape, [1, 2, 1, 1], 'not a member');
  assert_throws_js(TypeError, () => builder.input('y', {dataType: 'float32', dimensions: [2]}));
}, 'Members of the draft of June 2024 are none');
