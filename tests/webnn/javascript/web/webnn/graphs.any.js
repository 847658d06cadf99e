// META: title=Building graphs
// META: script=resources/helpers.js

'use strict';

builder_test(async (builder, t, context) => {
  const x = builder.input('x', {dataType: 'float32', dimensions: [2, 3]});
  const mean = builder.reduceMean(x, {axes: [1]}), shifted = builder.sub(x, builder.reshape(mean, [2, 1])), index = builder.argMax(x, {axes: [1]});
  const parts = builder.split(x, [1, 2], {axis: 1});
  const graph = await builder.build({mean, shifted, index, left: parts[0], right: parts[1], again: mean});
  const views = {
    left: new Float32Array(2), shifted: new Float32Array(6), index: new BigInt64Array(2), mean: new Float32Array(2), right: new Float32Array(4),
    again: new Float32Array(2),
  };
  const {outputs} = await context.compute(graph, {x: new Float32Array([1, 2, 6, 9, 4, 2])}, views);
  assert_array_equals(outputs.mean, [3, 5]);
  assert_array_equals(outputs.again, [3, 5]);
  assert_array_equals(outputs.shifted, [-2, -1, 3, 4, -1, -3]);
  assert_array_equals(outputs.index, [2n, 0n]);
  assert_array_equals(outputs.left, [1, 9]);
  assert_array_equals(outputs.right, [2, 6, 4, 2]);
}, 'One graph with several outputs');

builder_test(async (builder, t, context) => {
  const other = new MLGraphBuilder(context), x = builder.input('x', FLOATS), foreign = other.input('f', FLOATS);
  const weights = ['i', 'w', 'r'].map(name => builder.input(name, {dataType: 'float32', dimensions: [1, 3, 1]}));
  for (const [what, body] of Object.entries({
    'an operand': () => builder.relu(foreign), 'one of two': () => builder.add(x, foreign), 'in a sequence': () => builder.concat([x, foreign], 0),
    'in a dictionary': () => builder.gemm(builder.reshape(x, [1, 2]), builder.reshape(x, [2, 1]), {c: other.constant('float32', 1)}),
    'an activation': () => builder.gru(...weights, 1, 1, {activations: [other.relu(), other.relu()]}),
  })) {
    assert_throws_js(TypeError, body, what);
  }
  await promise_rejects_js(t, TypeError, builder.build({y: builder.relu(x), z: other.relu(foreign)}), 'build');
  assert_throws_js(TypeError, () => new MLGraphBuilder({}), 'a builder needs a context');
  assert_throws_js(TypeError, () => new MLGraphBuilder(), 'a builder needs a context');
}, 'Operands and activations of another builder are refused');

builder_test(async (builder, t) => {
  const x = builder.input('x', FLOATS), y = builder.relu(x);
  for (const [what, outputs] of Object.entries({
    'nothing': {}, 'an input': {x}, 'a constant': {c: builder.constant('float32', 1)}, 'an activation': {a: builder.relu()}, 'an empty name': {'': y},
  })) {
    await promise_rejects_js(t, TypeError, builder.build(outputs), what);
  }
  assert_true(await builder.build({y}) instanceof MLGraph, 'a failed build does no harm');
}, 'build refuses outputs that are none');

builder_test(async builder => {
  const x = builder.input('x', {dataType: 'int8', dimensions: new Uint32Array([2, 3])});
  assert_equals(x.dataType(), 'int8');
  assert_true(Array.isArray(x.shape()));
  assert_equals(Object.getPrototypeOf(x.shape()), Array.prototype);
  assert_not_equals(x.shape(), x.shape());
  const shape = x.shape();
  shape.push(1);
  shape[0] = 7;
  assert_array_equals(x.shape(), [2, 3]);
  assert_array_equals(builder.constant('int8', 1).shape(), []);
}, 'dataType() and shape(): a text, and a fresh array');

builder_test(async (builder, t, context) => {
  const x = builder.input('x', {dataType: 'float32', dimensions: [3, 2, 2]});
  const weight = builder.constant({dataType: 'float32', dimensions: [1, 6, 2]}, new Float32Array(12).fill(0.25));
  const operands = builder.gru(x, weight, weight, 3, 2, {returnSequence: true, activations: [builder.sigmoid(), builder.tanh()], layout: 'zrn'});
  assert_array_equals(operands.map(each => each.shape().join()), ['1,2,2', '3,1,2,2']);
  const graph = await builder.build({last: operands[0], all: operands[1]});
  const {outputs} = await context.compute(graph, {x: new Float32Array(12).fill(1)}, {last: new Float32Array(4), all: new Float32Array(12)});
  assert_array_equals(outputs.last, outputs.all.slice(8));
  assert_true(outputs.last.every(value => value > 0 && value < 1));
}, 'Activations, options and several operands: gru');

promise_test(async () => {
  const {context, builder} = await createBuilder();
  const events = [];
  const promise = builder.build({y: builder.relu(builder.input('x', FLOATS))}).then(graph => { events.push('built'); return graph; });
  Promise.resolve().then(() => events.push('a microtask'));
  events.push('the call has returned');
  const graph = await promise;
  assert_array_equals(events, ['the call has returned', 'a microtask', 'built']);
  const {outputs} = await context.compute(graph, {x: new Float32Array([-1, 1])}, {y: new Float32Array(2)});
  assert_array_equals(outputs.y, [0, 1]);
}, 'build resolves its promise in a later task');
