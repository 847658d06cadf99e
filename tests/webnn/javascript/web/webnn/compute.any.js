// META: title=MLContext.compute
// META: script=resources/helpers.js

'use strict';

const VIEWS = {
  float32: Float32Array, float16: Float16Array, int32: Int32Array, uint32: Uint32Array, int64: BigInt64Array,
  uint64: BigUint64Array, int8: Int8Array, uint8: Uint8Array,
};

// ---- The transfer: https://www.w3.org/TR/webnn/#mlnamedarraybufferviews-transfer-alg

for (const [dataType, View] of [...Object.entries(VIEWS), ['float16', Uint16Array]]) {
  builder_test(async (builder, t, context) => {
    const graph = await buildCopies(builder, {y: ['x', {dataType, dimensions: [3]}]});
    const size = View.BYTES_PER_ELEMENT, input = new ArrayBuffer(8 * size), output = new ArrayBuffer(9 * size);
    const bytes = new Uint8Array(input).map((_, index) => index % 60);
    new Uint8Array(input).set(bytes);
    new Uint8Array(output).fill(77);
    const x = new View(input, 2 * size, 3), y = new View(output, 4 * size, 3), other = new Uint8Array(output);
    const promise = context.compute(graph, {x}, {y});
    // Before the promise is resolved, and before any task: the views are gone already.
    for (const view of [x, y, other]) assert_array_equals([view.length, view.byteLength, view.byteOffset], [0, 0, 0]);
    assert_true(input.detached && output.detached);
    const result = await promise;
    for (const [name, view, offset, length, old] of [['inputs', result.inputs.x, 2, 8, x], ['outputs', result.outputs.y, 4, 9, y]]) {
      assert_not_equals(view, old, name);
      assert_equals(Object.getPrototypeOf(view), View.prototype, name);
      assert_array_equals([view.byteOffset, view.length, view.buffer.byteLength], [offset * size, 3, length * size], name);
      assert_false(view.buffer.resizable, name);
    }
    assert_array_equals(new Uint8Array(result.inputs.x.buffer), bytes, 'the whole buffer of the input moved');
    const expected = new Uint8Array(9 * size).fill(77);
    expected.set(bytes.slice(2 * size, 5 * size), 4 * size);
    assert_array_equals(new Uint8Array(result.outputs.y.buffer), expected, 'what lies around the output is left alone');
  }, `compute: a ${View.name} for ${dataType}, with an offset`);
}

builder_test(async (builder, t, context) => {
  const graph = await buildCopies(builder, {first: ['b', FLOATS], second: ['a', FLOATS]});
  const inputs = {b: new Float32Array(2), a: new Float32Array(2)}, outputs = {second: new Float32Array(2), first: new Float32Array(2)};
  const result = await context.compute(graph, inputs, outputs);
  assert_equals(Object.getPrototypeOf(result), Object.prototype);
  assert_array_equals(Reflect.ownKeys(result), ['inputs', 'outputs']);
  for (const [name, keys] of [['inputs', ['b', 'a']], ['outputs', ['second', 'first']]]) {
    assert_flags(result, name, {writable: true, enumerable: true, configurable: true});
    assert_equals(Object.getPrototypeOf(result[name]), Object.prototype, name);
    assert_array_equals(Reflect.ownKeys(result[name]), keys, 'the order is the one given');
    for (const key of keys) assert_flags(result[name], key, {writable: true, enumerable: true, configurable: true});
  }
}, 'compute: the result is a plain object of plain objects');

builder_test(async (builder, t, context) => {
  const graph = await buildCopies(builder, {y: ['x', FLOATS]});
  let views = {inputs: {x: new Float32Array([1, 2])}, outputs: {y: new Float32Array(2)}};
  const first = views.inputs.x;
  for (let count = 0; count < 5; count++) {
    views.inputs.x[0] += 1;
    views = await context.compute(graph, views.inputs, views.outputs);
  }
  assert_array_equals(views.outputs.y, [6, 2]);
  await promise_rejects_js(t, TypeError, context.compute(graph, {x: first}, views.outputs), 'the first view is used up');
  assert_equals(views.outputs.y.length, 2);
}, 'compute: the result can be computed with again, the views given cannot');

builder_test(async (builder, t, context) => {
  const graph = await buildCopies(builder, {y: ['x', FLOATS], z: ['w', FLOATS]});
  const buffer = new ArrayBuffer(32), at = offset => new Float32Array(buffer, offset, 2), own = () => new Float32Array(2);
  const view = at(0);
  for (const [what, inputs, outputs] of [
    ['two inputs', {x: at(0), w: at(8)}, {y: own(), z: own()}], ['two outputs', {x: own(), w: own()}, {y: at(0), z: at(16)}],
    ['an input and an output', {x: at(8), w: own()}, {y: at(8), z: own()}], ['one view, twice', {x: view, w: view}, {y: own(), z: own()}],
    ['one view, in and out', {x: view, w: own()}, {y: view}], ['overlapping', {x: at(0), w: own()}, {y: own(), z: at(4)}],
  ]) {
    await promise_rejects_js(t, TypeError, context.compute(graph, inputs, outputs), what);
    for (const each of [...Object.values(inputs), ...Object.values(outputs)]) assert_equals(each.length, 2, `${what}: nothing is transferred`);
    assert_false(buffer.detached, what);
  }
}, 'compute: two views of one buffer are refused, and stay usable');

builder_test(async (builder, t, context) => {
  const graph = await buildCopies(builder, {y: ['x', FLOATS]}), other = await createBuilder();
  const foreign = await buildCopies(other.builder, {y: ['x', FLOATS]}), floats = length => new Float32Array(length);
  for (const [what, used, inputs, outputs] of [
    ['a missing input', graph, {}, {y: floats(2)}], ['an unknown input', graph, {x: floats(2), w: floats(2)}, {y: floats(2)}],
    ['an unknown output', graph, {x: floats(2)}, {y: floats(2), z: floats(2)}], ['a short input', graph, {x: floats(1)}, {y: floats(2)}],
    ['a long output', graph, {x: floats(2)}, {y: floats(3)}], ['an input of another type', graph, {x: new Int32Array(2)}, {y: floats(2)}],
    ['an output of another type', graph, {x: floats(2)}, {y: new Uint8Array(8)}],
    ['a DataView', graph, {x: new DataView(new ArrayBuffer(8))}, {y: floats(2)}],
    ['an input that is no view', graph, {x: [1, 2]}, {y: floats(2)}], ['an output that is a buffer', graph, {x: floats(2)}, {y: new ArrayBuffer(8)}],
    ['a graph of another context', foreign, {x: floats(2)}, {y: floats(2)}], ['an operand', other.builder, {x: floats(2)}, {y: floats(2)}],
  ]) {
    const lengths = () => [...Object.values(inputs), ...Object.values(outputs)].map(view => view.byteLength), before = lengths();
    await promise_rejects_js(t, TypeError, context.compute(used, inputs, outputs), what);
    assert_array_equals(lengths(), before, `${what}: nothing is transferred`);
  }
}, 'compute: what does not fit the graph is refused, and the views stay usable');

builder_test(async (builder, t, context) => {
  const graph = await buildCopies(builder, {y: ['x', FLOATS], z: ['w', FLOATS]}), x = new Float32Array([1, 2]);
  let result = await context.compute(graph, {x, w: new Float32Array([3, 4])}, {z: new Float32Array(2)});
  assert_array_equals(Reflect.ownKeys(result.outputs), ['z']);
  assert_array_equals(result.outputs.z, [3, 4]);
  result = await context.compute(graph, result.inputs, {});
  assert_array_equals(Reflect.ownKeys(result.outputs), []);
  assert_array_equals(result.inputs.x, [1, 2]);
}, 'compute: some of the outputs, or none');

// ---- Order

builder_test(async (builder, t, context) => {
  const graph = await buildCopies(builder, {y: ['x', FLOATS]}), events = [];
  const promise = context.compute(graph, {x: new Float32Array(2)}, {y: new Float32Array(2)}).then(() => events.push('computed'));
  Promise.resolve().then(() => events.push('a microtask')).then(() => events.push('another'));
  events.push('the call has returned');
  await promise;
  assert_array_equals(events, ['the call has returned', 'a microtask', 'another', 'computed']);
}, 'compute: the promise is resolved in a later task');

builder_test(async (builder, t, context) => {
  const x = builder.input('x', FLOATS), constant = number => builder.constant('float32', number);
  const graph = await builder.build({sum: builder.add(x, constant(1000)), product: builder.mul(x, constant(2))}), order = [];
  const results = await Promise.all(Array.from({length: 64}, async (_, index) => {
    const views = {sum: new Float32Array(2), product: new Float32Array(2)};
    const result = await context.compute(graph, {x: new Float32Array([index, -index])}, views);
    order.push(index);
    return result;
  }));
  results.forEach(({inputs, outputs}, index) => {
    assert_array_equals(inputs.x, [index, index ? -index : -0]);
    assert_array_equals(outputs.sum, [1000 + index, 1000 - index]);
    assert_array_equals(outputs.product, [2 * index, index ? -2 * index : -0]);
  });
  assert_array_equals(order, Array.from(order.keys()), 'they end in the order of the calls');
}, 'compute: many at once keep their numbers apart');

promise_test(async () => {
  const all = await Promise.all([1, 2, 3].map(async factor => {
    const {context, builder} = await createBuilder();
    const graph = await builder.build({y: builder.mul(builder.input('x', FLOATS), builder.constant('float32', factor))});
    return (await context.compute(graph, {x: new Float32Array([1, 2])}, {y: new Float32Array(2)})).outputs.y;
  }));
  all.forEach((y, index) => assert_array_equals(y, [index + 1, 2 * (index + 1)]));
}, 'compute: several contexts at once');

builder_test(async (builder, t, context) => {
  const graph = await buildCopies(builder, {y: ['x', FLOATS]}), before = [];
  for (let count = 0; count < 200; count++) clearTimeout(count);
  const promise = context.compute(graph, {x: new Float32Array([1, 2])}, {y: new Float32Array(2)});
  const timer = setTimeout(() => {}, 100000);
  for (let count = 0; count <= timer; count++) clearTimeout(count);
  assert_array_equals((await promise).outputs.y, [1, 2]);
}, 'compute: a program that clears all timers does not stop it');

builder_test(async (builder, t, context) => {
  const graph = await buildCopies(builder, {y: ['x', FLOATS]}), x = new Float32Array([1, 2]);
  let inner;
  const outputs = {
    get y() {
      inner ??= context.compute(graph, {x: new Float32Array([3, 4])}, {y: new Float32Array(2)});
      return new Float32Array(2);
    },
  };
  const outer = await context.compute(graph, {x}, outputs);
  assert_array_equals(outer.outputs.y, [1, 2]);
  assert_array_equals((await inner).outputs.y, [3, 4]);

  const moved = new Float32Array([5, 6]);
  const detaching = {get y() { moved.buffer.transfer(); return new Float32Array(2); }};
  await promise_rejects_js(t, TypeError, context.compute(graph, {x: moved}, detaching), 'x is detached then');
}, 'compute: a getter may compute, and may detach');
