// META: title=validation tests for WebNN API MLContext.dispatch()
// META: global=window
// META: variant=?cpu
// META: variant=?gpu
// META: variant=?npu
// META: script=../resources/utils_tensors.js

'use strict';

// https://www.w3.org/TR/webnn/#api-mlcontext-dispatch

const createTensors = async (context) => {
  const [x, y] = await Promise.all(
      [context.createTensor(kReadWrite), context.createTensor(kReadWrite)]);
  return {x, y};
};

context_test(async (t, context) => {
  const otherContext = await createVariantContext();
  const graph = await buildDouble(otherContext);
  const {x, y} = await createTensors(context);
  assert_throws_js(TypeError, () => context.dispatch(graph, {x}, {y}));
}, '[dispatch] Throw if the graph is from another context.');

context_test(async (t, context) => {
  const graph = await buildDouble(context);
  const {x, y} = await createTensors(context);
  graph.destroy();
  assert_throws_dom(
      'InvalidStateError', () => context.dispatch(graph, {x}, {y}));
}, '[dispatch] Throw if the graph is destroyed.');

context_test(async (t, context) => {
  const graph = await buildDouble(context);
  const {x, y} = await createTensors(context);
  assert_throws_js(
      TypeError, () => context.dispatch(graph, {x}, {y: x}));
}, '[dispatch] Throw if a tensor is an input and an output.');

context_test(async (t, context) => {
  const graph = await buildSum(context);
  const {x, y} = await createTensors(context);
  assert_throws_js(
      TypeError, () => context.dispatch(graph, {a: x, b: x}, {y}));
}, '[dispatch] Throw if a tensor is two inputs.');

for (const destroyed of ['x', 'y']) {
  context_test(async (t, context) => {
    const graph = await buildDouble(context);
    const tensors = await createTensors(context);
    tensors[destroyed].destroy();
    const {x, y} = tensors;
    assert_throws_js(TypeError, () => context.dispatch(graph, {x}, {y}));
  }, `[dispatch] Throw if the tensor ${destroyed} is destroyed.`);

  context_test(async (t, context) => {
    const otherContext = await createVariantContext();
    const graph = await buildDouble(context);
    const tensors = await createTensors(context);
    tensors[destroyed] = await otherContext.createTensor(kReadWrite);
    const {x, y} = tensors;
    assert_throws_js(TypeError, () => context.dispatch(graph, {x}, {y}));
  }, `[dispatch] Throw if the tensor ${destroyed} is from another context.`);
}

context_test(async (t, context) => {
  const graph = await buildDouble(context);
  const {x, y} = await createTensors(context);
  assert_throws_js(TypeError, () => context.dispatch(graph, {}, {y}));
  assert_throws_js(TypeError, () => context.dispatch(graph, {x}, {}));
}, '[dispatch] Throw if a tensor is missing.');

context_test(async (t, context) => {
  const graph = await buildDouble(context);
  const {x, y} = await createTensors(context);
  assert_throws_js(TypeError, () => context.dispatch(graph, {z: x}, {y}));
  assert_throws_js(TypeError, () => context.dispatch(graph, {x}, {z: y}));
}, '[dispatch] Throw if a tensor has a name that the graph does not have.');

context_test(async (t, context) => {
  const graph = await buildDouble(context);
  const {x, y} = await createTensors(context);
  const z = await context.createTensor(kReadWrite);
  assert_throws_js(TypeError, () => context.dispatch(graph, {x, z}, {y}));
  assert_throws_js(TypeError, () => context.dispatch(graph, {x}, {y, z}));
}, '[dispatch] Throw if there is a tensor too many.');

for (const descriptor
         of [{dataType: 'float32', shape: [4]},
             {dataType: 'float32', shape: [2, 1]},
             {dataType: 'int32', shape: [2, 2]}]) {
  context_test(async (t, context) => {
    const graph = await buildDouble(context);
    const {x, y} = await createTensors(context);
    const wrong = await context.createTensor(descriptor);
    assert_throws_js(
        TypeError, () => context.dispatch(graph, {x: wrong}, {y}));
    assert_throws_js(
        TypeError, () => context.dispatch(graph, {x}, {y: wrong}));
  }, `[dispatch] Throw if a tensor is ${JSON.stringify(descriptor)}.`);
}

context_test(async (t, context) => {
  const graph = await buildDouble(context);
  const {x, y} = await createTensors(context);
  const constant =
      await context.createConstantTensor(kDescriptor, new Float32Array(4));
  assert_throws_js(
      TypeError, () => context.dispatch(graph, {x: constant}, {y}));
  assert_throws_js(
      TypeError, () => context.dispatch(graph, {x}, {y: constant}));
}, '[dispatch] Throw if a tensor is a constant one.');
