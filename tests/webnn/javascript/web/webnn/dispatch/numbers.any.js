// META: title=Conversion of numbers of either kind: MLNumber
// META: script=../resources/helpers.js
// META: script=../resources/tensors.js

'use strict';

// https://webidl.spec.whatwg.org/#js-union with bigint and unrestricted double

const VIEWS = {int64: BigInt64Array, uint64: BigUint64Array, int32: Int32Array, float32: Float32Array};
async function valueOf(type, value) {
  const context = await navigator.ml.createContext(), builder = new MLGraphBuilder(context);
  return new VIEWS[type](await evaluate(context, builder, builder.constant(type, value)))[0];
}

// A type, a value, and what the constant holds.
const CONSTANTS = [
  ['int64', 2n ** 53n + 1n, 2n ** 53n + 1n], ['int64', 2n ** 62n + 1n, 2n ** 62n + 1n], ['int64', -(2n ** 63n), -(2n ** 63n)],
  ['uint64', 2n ** 64n - 1n, 2n ** 64n - 1n], ['uint64', 12345678901234567890n, 12345678901234567890n], ['int32', -7n, -7],
  ['float32', 3n, 3], ['float32', 2n ** 70n, 2 ** 70],
  ['int64', 10n ** 5000n, 2n ** 63n - 1n], ['int64', -(10n ** 5000n), -(2n ** 63n)], ['float32', -(10n ** 5000n), -Infinity],
  // Numbers are doubles: what stands here is not what they are.
  ['int64', 2 ** 53 + 2, 2n ** 53n + 2n], ['int64', 2 ** 60, 2n ** 60n], ['int64', 1152921504606846977, 2n ** 60n], ['uint64', 2 ** 63, 2n ** 63n],
  ['float32', 0.5, 0.5], ['float32', -0, -0], ['float32', NaN, NaN], ['float32', Infinity, Infinity], ['float32', -Infinity, -Infinity],
  // What is no number becomes one, of either kind.
  ['int32', '12', 12], ['int32', ' 0x10 ', 16], ['int32', '', 0], ['int32', null, 0], ['int32', true, 1], ['int32', [9], 9], ['float32', '1e3', 1000],
  ['float32', undefined, NaN], ['float32', {}, NaN], ['float32', '5n', NaN],
  ['int64', Object(2n ** 62n + 1n), 2n ** 62n + 1n], ['int64', {valueOf: () => 2n ** 62n + 3n}, 2n ** 62n + 3n], ['int32', new Number(6), 6],
  ['int64', {[Symbol.toPrimitive]: hint => hint === 'number' ? 2n ** 61n + 1n : 0n}, 2n ** 61n + 1n],
];
CONSTANTS.forEach(([type, value, expected], index) => promise_test(async () => {
  assert_equals(await valueOf(type, value), expected);
}, `${index}: ${typeof value} ${String(value).slice(0, 40)} as ${type}`));

context_test(async (context, builder) => {
  const x = builder.input('x', PAIR), huge = 10n ** 5000n;
  builder.clamp(x, {minValue: -huge, maxValue: huge});
  for (const call of [
    () => builder.clamp(x, {minValue: huge, maxValue: -huge}), () => builder.argMax(x, huge), () => builder.cast(x, huge), () => builder.relu(huge),
    () => builder.reshape(x, huge), () => builder.reshape(x, [huge]), () => builder.input('y', huge), () => builder.input('y', {...PAIR, dataType: huge}),
  ]) {
    let message;
    try { call(); } catch (error) { if (error instanceof TypeError) ({message} = error); }
    assert_true(message.length < 300, message);
  }
  assert_throws_js(TypeError, () => { builder.input(huge, PAIR); builder.input(`${huge}`, PAIR); });
}, 'A BigInt of many digits');

context_test(async (context, builder) => {
  const x = builder.input('x', PAIR);
  for (const value of [Symbol(), Object(Symbol()), {valueOf: () => Symbol()}, {valueOf: () => ({}), toString: () => ({})}]) {
    assert_throws_js(TypeError, () => builder.constant('float32', value), typeof value);
    assert_throws_js(TypeError, () => builder.clamp(x, {minValue: value}), typeof value);
  }
  assert_throws_js(RangeError, () => builder.constant('float32', {valueOf() { throw new RangeError(); }}));
}, 'What cannot become a number is refused');

context_test(async (context, builder) => {
  let count = 0;
  const value = {[Symbol.toPrimitive](hint) { count++; assert_equals(hint, 'number'); return '3'; }};
  assert_equals(builder.constant('int32', value).dataType, 'int32');
  assert_equals(count, 1);
}, 'A value is converted once');

context_test(async (context, builder) => {
  const x = builder.input('x', {dataType: 'int64', shape: [3]});
  const y = builder.clamp(x, {minValue: -(2n ** 62n) - 1n, maxValue: 2n ** 62n + 1n});
  const graph = await builder.build({y}), input = await createTensor(context, x), output = await createTensor(context, y);
  context.writeTensor(input, new BigInt64Array([2n ** 63n - 1n, -(2n ** 63n), 5n]));
  context.dispatch(graph, {x: input}, {y: output});
  assert_array_equals(new BigInt64Array(await context.readTensor(output)), [2n ** 62n + 1n, -(2n ** 62n) - 1n, 5n]);
}, 'Options hold BigInts exactly, too');

context_test(async (context, builder) => {
  const x = builder.input('x', {dataType: 'float32', shape: [2, 2]});
  // A type without bigint refuses them.
  for (const axis of [0n, Object(0n)]) assert_throws_js(TypeError, () => builder.softmax(x, axis));
  assert_throws_js(TypeError, () => builder.elu(x, {alpha: 1n}));
  assert_throws_js(TypeError, () => builder.input('y', {dataType: 'float32', shape: [2n]}));
  assert_array_equals(builder.softmax(x, '1').shape, [2, 2]);
}, 'Other numbers are no BigInts');
