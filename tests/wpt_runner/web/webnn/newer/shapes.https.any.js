// META: title=the shape of an operand is that of its values
// META: global=window,dedicatedworker,sharedworker,serviceworker
// META: script=resources/context.js
'use strict';
const IMAGE = {data: Float32Array.from({length: 12}, (_, index) => index), type: FLOAT([1, 1, 3, 4])};
const INDEX = {data: Int32Array.of(1, 0), type: {dataType: 'int32', shape: [2]}};
// Scales whose products with the sizes are not whole numbers, and the sizes.
for (const [scales, sizes] of [[[1.5, 1.5], [4, 6]], [[0.7, 0.7], [2, 2]], [[1.34, 0.26], [4, 1]], [[2, 2], [6, 8]]]) {
  promise_test(async () => {
    let shape;
    const values = await compute((builder, {image, index}) => {
      const resampled = builder.resample2d(image, {scales}), gathered = builder.gather(resampled, index, {axis: 2});
      ({shape} = resampled);
      return {resampled, gathered};
    }, {image: IMAGE, index: INDEX});
    assert_array_equals(shape, [1, 1, ...sizes]);
    assert_equals(values.resampled.length, sizes[0] * sizes[1]);
    const row = at => Array.from(values.resampled.subarray(at * sizes[1], (at + 1) * sizes[1]));
    assert_array_equals(values.gathered, [...row(1), ...row(0)]);
  }, `resample2d by ${scales}, then gather`);
}
promise_test(async () => {
  const values = await compute((builder, {image}) => {
    const options = {windowDimensions: [2, 2], strides: [2, 2]};
    const [down, up] = ['floor', 'ceil'].map(outputShapeRounding => builder.maxPool2d(image, {...options, outputShapeRounding}));
    assert_array_equals(down.shape, [1, 1, 1, 2]);
    assert_array_equals(up.shape, [1, 1, 2, 2]);
    return {down, up};
  }, {image: IMAGE});
  assert_array_equals(values.down, [5, 7]);
  assert_array_equals(values.up, [5, 7, 9, 11]);
}, 'pooling rounded down and up');
promise_test(async () => {
  const values = await compute((builder, {index, image}) => {
    const scalar = builder.gather(image, builder.constant('int32', 1), {axis: 3}), sum = builder.reduceSum(scalar);
    assert_array_equals(scalar.shape, [1, 1, 3]);
    assert_array_equals(sum.shape, []);
    return {scalar, sum, index: builder.cast(index, 'float32')};
  }, {image: IMAGE, index: INDEX});
  assert_array_equals(values.scalar, [1, 5, 9]);
  assert_array_equals(values.sum, [15]);
}, 'a scalar index, and a sum of all');
