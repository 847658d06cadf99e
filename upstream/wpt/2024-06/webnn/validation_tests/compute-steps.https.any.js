// META: title=validation tests for WebNN API MLContext.compute()
// META: global=window
// META: variant=?cpu
// META: variant=?gpu
// META: variant=?npu
// META: script=../resources/utils_compute.js

'use strict';

// https://www.w3.org/TR/webnn/#api-mlcontext-compute

const makeArray = () => new Float32Array([1, 2, 3, 4]);

context_test(async (t, context) => {
  const otherContext = await navigator.ml.createContext();
  const graph = await buildDouble(otherContext);
  const [x, y] = [makeArray(), makeArray()];
  await promise_rejects_js(
      t, TypeError, context.compute(graph, {x}, {y}));
  assert_equals(x.length, 4);
}, '[compute] Reject if the graph is from another context.');

context_test(async (t, context) => {
  const graph = await buildDouble(context);
  const x = makeArray();
  await promise_rejects_js(t, TypeError, context.compute(graph, {}, {}));
  await promise_rejects_js(
      t, TypeError, context.compute(graph, {z: x}, {y: makeArray()}));
  assert_equals(x.length, 4);
}, '[compute] Reject if an input is missing.');

context_test(async (t, context) => {
  const graph = await buildDouble(context);
  const x = makeArray();
  await promise_rejects_js(
      t, TypeError, context.compute(graph, {x}, {z: makeArray()}));
  assert_equals(x.length, 4);
}, '[compute] Reject if the graph has no such output.');

for (const wrong of [new Float32Array(3), new Float32Array(5),
                     new Int32Array(4), new Float64Array(2)]) {
  const what = `a ${wrong.constructor.name} of ${wrong.length}`;
  context_test(async (t, context) => {
    const graph = await buildDouble(context);
    await promise_rejects_js(
        t, TypeError, context.compute(graph, {x: wrong}, {y: makeArray()}));
  }, `[compute] Reject if an input is ${what}.`);

  context_test(async (t, context) => {
    const graph = await buildDouble(context);
    const x = makeArray();
    await promise_rejects_js(
        t, TypeError, context.compute(graph, {x}, {y: wrong}));
    assert_equals(x.length, 4);
  }, `[compute] Reject if an output is ${what}.`);
}

context_test(async (t, context) => {
  const graph = await buildDouble(context);
  const detached = makeArray();
  detached.buffer.transfer();
  await promise_rejects_js(
      t, TypeError, context.compute(graph, {x: detached}, {y: makeArray()}));
  await promise_rejects_js(
      t, TypeError, context.compute(graph, {x: makeArray()}, {y: detached}));
}, '[compute] Reject if a buffer is detached.');

context_test(async (t, context) => {
  const graph = await buildDouble(context);
  const buffer = new ArrayBuffer(32);
  const x = new Float32Array(buffer, 0, 4);
  const y = new Float32Array(buffer, 16, 4);
  await promise_rejects_js(t, TypeError, context.compute(graph, {x}, {y}));
}, '[compute] Reject if an input and an output share a buffer.');
