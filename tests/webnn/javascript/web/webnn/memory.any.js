// META: title=What nobody can use any more is dropped
// META: script=resources/helpers.js

'use strict';

// The engine that runs these tests counts references: what nobody has any more is gone when the next task begins.

builder_test(async builder => {
  const x = builder.input('x', FLOATS);
  let references = 0;
  const registry = new FinalizationRegistry(() => { references--; });
  for (let round = 0; round < 10; round++) {
    for (let count = 0; count < 400; count++) {
      references++;
      registry.register(builder.relu(x), null);
    }
    await new Promise(resolve => setTimeout(resolve));
    assert_less_than(references, 500, 'what an earlier task made is gone');
  }
  assert_array_equals(builder.relu(x).shape(), [2]);
}, 'The binding does not keep operands alive');

builder_test(async (builder, t, context) => {
  // The operands between the first and the last are only needed by the last: the graph keeps them.
  let x = builder.input('x', FLOATS);
  const one = builder.constant('float32', 1);
  for (let count = 0; count < 500; count++) x = builder.add(x, one);
  await new Promise(resolve => setTimeout(resolve));
  const graph = await builder.build({y: x});
  const {outputs} = await context.compute(graph, {x: new Float32Array([0, 1])}, {y: new Float32Array(2)});
  assert_array_equals(outputs.y, [500, 501]);
}, 'Operands that were dropped are there for those made of them');

promise_test(async () => {
  const graph = await (async () => {
    const {builder} = await createBuilder();
    return builder.build({y: builder.relu(builder.input('x', FLOATS))});
  })();
  await new Promise(resolve => setTimeout(resolve));
  assert_true(graph instanceof MLGraph);
  let {context, builder} = await createBuilder();
  const built = await builder.build({y: builder.neg(builder.input('x', FLOATS))});
  builder = null;
  await new Promise(resolve => setTimeout(resolve));
  const {outputs} = await context.compute(built, {x: new Float32Array([1, 2])}, {y: new Float32Array(2)});
  assert_array_equals(outputs.y, [-1, -2]);
}, 'A graph outlives its builder and its context');
