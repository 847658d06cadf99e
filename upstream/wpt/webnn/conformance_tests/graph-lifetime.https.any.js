// META: title=test WebNN API lifetime of graphs
// META: global=window
// META: variant=?cpu
// META: variant=?gpu
// META: variant=?npu
// META: script=../resources/utils_tensors.js

'use strict';

// https://www.w3.org/TR/webnn/#api-mlgraph-destroy

context_test(async (t, context) => {
  const graph = await buildDouble(context);
  assert_equals(graph.destroy(), undefined);
  assert_equals(graph.destroy(), undefined);
}, 'destroy() can be called again.');

context_test(async (t, context) => {
  const graph = await buildDouble(context);
  const x = await createFilled(context, [1, 2, 3, 4]);
  const y = await context.createTensor(kReadWrite);
  context.dispatch(graph, {x}, {y});
  graph.destroy();
  assert_array_equals(await readNumbers(context, y), [2, 4, 6, 8]);
}, 'A dispatch before destroy() is computed.');

context_test(async (t, context) => {
  const [graph, other] =
      await Promise.all([buildDouble(context), buildDouble(context)]);
  const x = await createFilled(context, [1, 2, 3, 4]);
  const y = await context.createTensor(kReadWrite);
  graph.destroy();
  context.dispatch(other, {x}, {y});
  assert_array_equals(await readNumbers(context, y), [2, 4, 6, 8]);
}, 'The other graphs of a context stay.');

context_test(async (t, context) => {
  const constant = new Float32Array([1, 2, 3, 4]);
  const builder = new MLGraphBuilder(context);
  const operand = builder.constant(kDescriptor, constant);
  constant.fill(0);
  const x = builder.input('x', kDescriptor);
  const graph = await builder.build({y: builder.mul(x, operand)});
  constant.buffer.transfer();
  const input = await createFilled(context, [1, 1, 1, 2]);
  const y = await context.createTensor(kReadWrite);
  context.dispatch(graph, {x: input}, {y});
  assert_array_equals(await readNumbers(context, y), [1, 2, 3, 8]);
}, 'A graph keeps the constants as they were given.');

context_test(async (t, context) => {
  const tensor = await context.createConstantTensor(
      kDescriptor, new Float32Array([1, 2, 3, 4]));
  const builder = new MLGraphBuilder(context);
  const x = builder.input('x', kDescriptor);
  const graph =
      await builder.build({y: builder.mul(x, builder.constant(tensor))});
  tensor.destroy();
  const input = await createFilled(context, [1, 1, 1, 2]);
  const y = await context.createTensor(kReadWrite);
  context.dispatch(graph, {x: input}, {y});
  assert_array_equals(await readNumbers(context, y), [1, 2, 3, 8]);
}, 'A constant tensor may be destroyed after the build.');

context_test(async (t, context) => {
  const graphs = await Promise.all(
      Array.from({length: 10}, () => buildDouble(context)));
  const x = await createFilled(context, [1, 2, 3, 4]);
  const y = await context.createTensor(kReadWrite);
  for (const graph of graphs) {
    context.dispatch(graph, {x}, {y});
    graph.destroy();
  }
  assert_array_equals(await readNumbers(context, y), [2, 4, 6, 8]);
}, 'Ten graphs are built at the same time.');
