// META: title=test WebNN API graphs of unusual forms
// META: global=window
// META: variant=?cpu
// META: variant=?gpu
// META: variant=?npu
// META: script=../resources/utils_tensors.js

'use strict';

// https://www.w3.org/TR/webnn/#api-mlgraphbuilder-build

const compute = async (context, outputs, inputs) => {
  const {builder, ...named} = outputs;
  const graph = await builder.build(named);
  const tensors = {};
  for (const name of Object.keys(named)) {
    tensors[name] = await context.createTensor(
        {dataType: 'float32', shape: named[name].shape, readable: true});
  }
  context.dispatch(graph, inputs, tensors);
  const results = {};
  for (const name of Object.keys(named)) {
    results[name] = await readNumbers(context, tensors[name]);
  }
  return results;
};

context_test(async (t, context) => {
  const builder = new MLGraphBuilder(context);
  const y = builder.identity(builder.input('x', kDescriptor));
  const x = await createFilled(context, [1, 2, 3, 4]);
  const results = await compute(context, {builder, y, z: y}, {x});
  assert_array_equals(results.y, [1, 2, 3, 4]);
  assert_array_equals(results.z, [1, 2, 3, 4]);
}, 'An operand is two outputs.');

context_test(async (t, context) => {
  const builder = new MLGraphBuilder(context);
  const first = builder.neg(builder.input('x', kDescriptor));
  const second = builder.add(first, first);
  const third = builder.mul(first, second);
  const x = await createFilled(context, [1, 2, 3, 4]);
  const results =
      await compute(context, {builder, first, second, third}, {x});
  assert_array_equals(results.first, [-1, -2, -3, -4]);
  assert_array_equals(results.second, [-2, -4, -6, -8]);
  assert_array_equals(results.third, [2, 8, 18, 32]);
}, 'Each value of a chain is an output.');

context_test(async (t, context) => {
  const builder = new MLGraphBuilder(context);
  const a = builder.constant(kDescriptor, new Float32Array([1, 2, 3, 4]));
  const b = builder.constant('float32', 10);
  const results =
      await compute(context, {builder, y: builder.mul(a, b)}, {});
  assert_array_equals(results.y, [10, 20, 30, 40]);
}, 'A graph has no input.');

context_test(async (t, context) => {
  const builder = new MLGraphBuilder(context);
  const x = builder.input('x', kDescriptor);
  builder.sqrt(builder.input('unused', kDescriptor));
  const y = builder.identity(x);
  const tensor = await createFilled(context, [1, 2, 3, 4]);
  const results = await compute(context, {builder, y}, {x: tensor});
  assert_array_equals(results.y, [1, 2, 3, 4]);
}, 'What no output needs is not a part of the graph.');

context_test(async (t, context) => {
  const builder = new MLGraphBuilder(context);
  let y = builder.input('x', kDescriptor);
  for (let i = 0; i < 200; ++i) {
    y = i % 2 ? builder.sub(y, builder.constant('float32', 1)) :
                builder.add(y, builder.constant('float32', 2));
  }
  const x = await createFilled(context, [0, 1, 2, 3]);
  const results = await compute(context, {builder, y}, {x});
  assert_array_equals(results.y, [100, 101, 102, 103]);
}, 'A chain has two hundred operators.');

context_test(async (t, context) => {
  const builder = new MLGraphBuilder(context);
  const x = builder.input('x', kDescriptor);
  let y = x;
  for (let i = 0; i < 24; ++i) {
    y = builder.add(y, y);
  }
  const tensor = await createFilled(context, [1, -1, 0, 0.5]);
  const results = await compute(context, {builder, y}, {x: tensor});
  assert_array_equals(results.y, [2 ** 24, -(2 ** 24), 0, 2 ** 23]);
}, 'There are 2^24 paths from the input to the output.');

for (const name of ['__proto__', 'constructor', 'ü', '\u{1f600}', 'a b',
                    '0', 'x'.repeat(1000)]) {
  context_test(async (t, context) => {
    const builder = new MLGraphBuilder(context);
    const x = builder.input(name, kDescriptor);
    const outputs = Object.fromEntries([[name, builder.neg(x)]]);
    const graph = await builder.build(outputs);
    const input = await createFilled(context, [1, 2, 3, 4]);
    const output = await context.createTensor(kReadWrite);
    context.dispatch(
        graph, Object.fromEntries([[name, input]]),
        Object.fromEntries([[name, output]]));
    assert_array_equals(await readNumbers(context, output), [-1, -2, -3, -4]);
  }, `An input and an output have the name "${name.substring(0, 20)}".`);
}
