// META: title=rounding
// META: global=window,dedicatedworker,sharedworker,serviceworker
// META: script=resources/context.js
'use strict';
const float = (...data) => ({data: Float32Array.from(data), type: FLOAT([data.length])});
promise_test(async () => {
  const {y} = await compute((builder, {x}) => ({y: builder.roundEven(x)}), {x: float(0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 2.4999998, 8388607.5, NaN, Infinity)});
  assert_array_equals(y, [0, 2, 2, -0, -2, -2, 2, 8388608, NaN, Infinity]);
}, 'roundEven');
promise_test(async () => {
  const inputs = [1.0003, 1.00048828125, 1.00146484375, 2049, 2051, 2 ** -25, 3 * 2 ** -25, 65519, 65520, -0];
  const {y} = await compute((builder, {x}) => ({y: builder.cast(builder.cast(x, 'float16'), 'float32')}), {x: float(...inputs)});
  assert_array_equals(y, [1, 1, 1.001953125, 2048, 2052, 0, 2 ** -23, 65504, Infinity, -0]);
}, 'cast to float16 and back: ties to even');
promise_test(async () => {
  const {y} = await compute((builder, {x}) => ({y: builder.cast(builder.cast(x, 'int32'), 'float32')}), {x: float(2.9, -2.9, 0.5, -0.5, 1e6)});
  assert_array_equals(y, [2, -2, 0, 0, 1e6]);
}, 'cast to int32 truncates');
// Numbers for an integer type are rounded to the nearest one, ties to even.
const NUMBERS = [[3.9, 4n], [3.5, 4n], [2.5, 2n], [-2.5, -2n], [-3.9, -4n], [3n, 3n]];
for (const [value, expected] of NUMBERS) {
  const name = typeof value === 'bigint' ? `${value}n` : `${value}`;
  promise_test(async () => {
    const lowest = {data: BigInt64Array.of(-100n, 100n), type: {dataType: 'int64', shape: [2]}};
    const {y} = await compute((builder, {x}) => ({y: builder.clamp(x, {minValue: value})}), {x: lowest}, () => BigInt64Array);
    assert_array_equals(y, [expected, 100n]);
  }, `clamp of int64 with minValue ${name}`);
  promise_test(async () => {
    const {y} = await compute(builder => ({y: builder.identity(builder.constant('int64', value))}), {}, () => BigInt64Array);
    assert_array_equals(y, [expected]);
  }, `constant of int64: ${name}`);
}
