// META: title=test WebNN API dynamic-shapes
// META: global=window
// META: variant=?cpu
// META: variant=?gpu
// META: variant=?npu
// META: script=../resources/utils_validation.js

'use strict';

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  assert_throws_js(
      TypeError, () => builder.input('x', {dataType: 'float32', shape: ['', 2]}));
}, 'the name of a dimension is not empty');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input1 = builder.input(
      'x', {dataType: 'float32', shape: ['rows', 2]});
  const constant1 = builder.constant(
      {dataType: 'float32', shape: [3, 2]},
      new Float32Array([0, 1, 2, 3, 4, 5]));
  assert_throws_js(
      TypeError, () => builder.matmul(input1, constant1));
}, 'a call that is valid for no sizes is refused');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const x = builder.input('x', {dataType: 'float32', shape: ['rows', 2]});
  const graph = await builder.build({y: builder.concat([x, x], 0)});
  const tensor = (rows) => context.createTensor({
    dataType: 'float32', shape: [rows, 2], readable: true, writable: true});

  for (const rows of [1, 3]) {
    const [input, output] = [await tensor(rows), await tensor(2 * rows)];
    const data = new Float32Array(2 * rows).fill(rows);
    context.writeTensor(input, data);
    context.dispatch(graph, {x: input}, {y: output});
    assert_array_equals(
        new Float32Array(await context.readTensor(output)), [...data, ...data]);
  }
}, 'one graph takes tensors of several sizes');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const x = builder.input('x', {dataType: 'float32', shape: ['rows', 2]});
  const graph = await builder.build({y: builder.concat([x, x], 0)});
  const tensor = (rows) => context.createTensor({
    dataType: 'float32', shape: [rows, 2], readable: true, writable: true});

  assert_array_equals(graph.computeShapes({x: [3, 2]}).y, [6, 2]);
  assert_throws_js(TypeError, () => graph.computeShapes({x: [3, 4]}));
  const [input, output] = [await tensor(2), await tensor(3)];
  assert_throws_js(
      TypeError, () => context.dispatch(graph, {x: input}, {y: output}));
}, 'computeShapes() and dispatch() refuse shapes that do not fit');
