// META: title=names of inputs and outputs
// META: global=window,dedicatedworker,sharedworker,serviceworker
// META: script=resources/context.js
'use strict';
const NAMES = [
  ' ', 'a b', '\t\n', '12', '-1', '__proto__', 'constructor', 'toString', 'hasOwnProperty', 'then', 'null', 'undefined', 'gr\u00f6\u00dfe', '\u5165\u529b',
  '\u{1F642}', '\u{1F468}\u200D\u{1F469}', 'e\u0301', '\u00e9', '\u202eabc', 'a/b:0', '../x', 'a\\b', '"\'`', '<b>&amp;', '%s', '${x}', '\0', 'a\0b', '\ufeff', 'x'.repeat(5000),
];
const IN = {data: Float32Array.of(-1, 2), type: FLOAT([2])};
for (const name of NAMES) {
  promise_test(async () => {
    const inputs = {};
    define(inputs, name, IN);
    const values = await compute((builder, operands) => {
      const outputs = {};
      define(outputs, name, builder.relu(operands[name]));
      return outputs;
    }, inputs);
    assert_array_equals(Object.keys(values), [name]);
    assert_array_equals(values[name], [0, 2]);
  }, `an input and an output: ${JSON.stringify(name).slice(0, 40)}`);
}
promise_test(async () => {
  const inputs = Object.fromEntries([]), outputs = {};
  NAMES.forEach((name, index) => define(inputs, name, {data: Float32Array.of(index), type: FLOAT([1])}));
  const values = await compute((builder, operands) => {
    for (const name of NAMES) define(outputs, name, builder.neg(operands[name]));
    return outputs;
  }, inputs);
  NAMES.forEach((name, index) => assert_equals(values[name][0], 0 - index === 0 ? -0 : -index));
}, 'all of them in one graph');
promise_test(async () => {
  const builder = new MLGraphBuilder(context);
  assert_throws_js(TypeError, () => builder.input('', FLOAT([1])));
  const x = builder.input('x', FLOAT([1]));
  await promise_rejects_js(undefined, TypeError, builder.build({'': builder.relu(x)}));
}, 'the empty name');
promise_test(async () => {
  const builder = new MLGraphBuilder(context);
  builder.input('e\u0301', FLOAT([1]));
  builder.input('\u00e9', FLOAT([1]));
  assert_throws_js(TypeError, () => builder.input('\u00e9', FLOAT([1])));
}, 'names are not normalized');
promise_test(async () => {
  const builder = new MLGraphBuilder(context), x = builder.input('\ud800', FLOAT([1]));
  assert_throws_js(TypeError, () => builder.input('\ufffd', FLOAT([1])), 'a lone surrogate is the replacement character');
  for (const label of NAMES) assert_true(builder.relu(x, {label}) instanceof MLOperand);
}, 'lone surrogates, and labels');
