// META: title=ranks in the range of an operand, and out of it
// META: global=window,dedicatedworker,sharedworker,serviceworker
// META: script=resources/context.js
'use strict';
const LARGEST = 8, SIZE = 2;
// The operations with one operand, and calls with an operand of a rank. null: there is no call for that rank, other than one that must fail.
const CALLS = {
  ...Object.fromEntries(['abs', 'ceil', 'cos', 'erf', 'exp', 'floor', 'identity', 'log', 'neg', 'reciprocal', 'roundEven', 'sign', 'sin', 'sqrt',
    'tan', 'elu', 'gelu', 'hardSigmoid', 'hardSwish', 'leakyRelu', 'linear', 'relu', 'sigmoid', 'softplus', 'softsign', 'tanh', 'clamp', 'reverse',
    'reduceMax', 'reduceSum', 'transpose', 'triangular', 'averagePool2d', 'l2Pool2d', 'maxPool2d', 'resample2d', 'instanceNormalization',
  ].map(name => [name, (builder, x) => builder[name](x)])),
  softmax: (builder, x) => builder.softmax(x, 0),
  cumulativeSum: (builder, x) => builder.cumulativeSum(x, 0),
  argMax: (builder, x) => builder.argMax(x, 0),
  split: (builder, x) => builder.split(x, 2, {axis: 0}),
  pad: (builder, x) => builder.pad(x, Array(x.shape.length).fill(1), Array(x.shape.length).fill(1)),
  tile: (builder, x) => builder.tile(x, Array(x.shape.length).fill(1)),
  slice: (builder, x) => builder.slice(x, x.shape.map(() => 0), x.shape.map(() => 1)),
  cast: (builder, x) => builder.cast(x, 'float16'),
  isNaN: (builder, x) => builder.isNaN(x),
  isInfinite: (builder, x) => builder.isInfinite(x),
};
for (const [operator, call] of Object.entries(CALLS)) {
  promise_test(async () => {
    const limits = context.opSupportLimits()[operator], {rankRange: {min, max}} = limits.input ?? limits.a;
    const accepted = [];
    for (let rank = 0; rank <= LARGEST; rank++) {
      const builder = new MLGraphBuilder(context), x = builder.input('x', FLOAT(Array(rank).fill(SIZE)));
      if (rank < min || rank > max) assert_throws_js(TypeError, () => call(builder, x), `rank ${rank}`); else accepted.push(call(builder, x));
    }
    assert_true(accepted.length > 0 && accepted.every(each => Array.isArray(each) || each instanceof MLOperand));
    assert_equals(accepted.length, Math.min(max, LARGEST) - min + 1);
  }, `${operator}: each rank`);
}
promise_test(async () => {
  const {max} = context.opSupportLimits().input.rankRange;
  assert_equals(max, LARGEST);
  assert_throws_js(TypeError, () => new MLGraphBuilder(context).input('x', FLOAT(Array(max + 1).fill(1))));
}, 'an input beyond the largest rank');
