// META: title=Conversion of dictionaries and records
// META: script=resources/helpers.js

'use strict';

// ---- Dictionaries: https://webidl.spec.whatwg.org/#js-dictionary

const IMAGE = {dataType: 'float32', dimensions: [1, 2, 4, 4]};

builder_test(async builder => {
  const x = builder.input('x', IMAGE);
  for (const options of [undefined, null, {}, [], () => {}, /x/, new Map(), Object.create(null), builder, new Proxy({}, {}), new Number(5)]) {
    assert_array_equals(builder.averagePool2d(x, options).shape(), [1, 2, 1, 1], String(Object.prototype.toString.call(options)));
  }
  for (const options of [0, 1, NaN, true, false, '', 'windowDimensions', 1n, Symbol()]) {
    assert_throws_js(TypeError, () => builder.averagePool2d(x, options), typeof options);
  }
}, 'undefined, null and all objects are dictionaries; other values are not');

builder_test(async builder => {
  const x = builder.input('x', IMAGE), members = {windowDimensions: [2, 2]};
  class Options { get windowDimensions() { return [2, 2]; } }
  const callable = Object.assign(() => {}, members);
  const hidden = Object.defineProperty({}, 'windowDimensions', {value: [2, 2], enumerable: false});
  for (const options of [members, Object.create(members), new Options(), callable, hidden, Object.assign([], members), new Proxy(members, {})]) {
    assert_array_equals(builder.averagePool2d(x, options).shape(), [1, 2, 3, 3]);
  }
  try {
    Object.prototype.windowDimensions = [2, 2];
    assert_array_equals(builder.averagePool2d(x, {}).shape(), [1, 2, 3, 3], 'Object.prototype');
    assert_array_equals(builder.averagePool2d(x, Object.create(null)).shape(), [1, 2, 1, 1], 'no prototype');
    assert_array_equals(builder.averagePool2d(x).shape(), [1, 2, 1, 1], 'no dictionary');
    assert_array_equals(builder.averagePool2d(x, null).shape(), [1, 2, 1, 1], 'null');
  } finally {
    delete Object.prototype.windowDimensions;
  }
}, 'Members may be inherited, hidden or made by getters');

builder_test(async builder => {
  const x = builder.input('x', IMAGE);
  for (const options of [{windowDimensions: undefined}, {strides: undefined, layout: undefined, roundingType: undefined}, {unknown: Symbol(), 0: 0}]) {
    assert_array_equals(builder.averagePool2d(x, options).shape(), [1, 2, 1, 1]);
  }
  for (const member of ['windowDimensions', 'strides', 'layout', 'roundingType']) {
    assert_throws_js(TypeError, () => builder.averagePool2d(x, {[member]: null}), `${member}: null`);
  }
}, 'A member that is undefined is missing, one that is null is not');

builder_test(async builder => {
  const record = [], members = {beta: 2, c: builder.input('c', {...FLOATS, dimensions: []}), alpha: 1, bTranspose: true, other: 1};
  const a = builder.input('a', {dataType: 'float32', dimensions: [2, 2]});
  builder.gemm(a, a, spy(members, record));
  assert_array_equals(record, ['aTranspose', 'alpha', 'bTranspose', 'beta', 'c'].map(name => `get ${name}`));

  record.length = 0;
  builder.pad(a, [1, 1], [1, 1], spy({}, record));
  assert_array_equals(record, ['get mode', 'get value']);

  record.length = 0;
  builder.input('x', spy(IMAGE, record));
  assert_array_equals(record, ['get dataType', 'get dimensions']);
}, 'Members are read once, in the order of their names, and nothing else is');

builder_test(async builder => {
  const events = [];
  const track = (name, value) => ({[Symbol.toPrimitive]() { events.push(`convert ${name}`); return value; }});
  const a = builder.input('a', {dataType: 'float32', dimensions: [2, 2]});
  builder.gemm(a, a, {
    get beta() { events.push('get beta'); return track('beta', 1); },
    get alpha() { events.push('get alpha'); return track('alpha', 1); },
  });
  assert_array_equals(events, ['get alpha', 'convert alpha', 'get beta', 'convert beta']);

  events.length = 0;
  assert_throws_js(TypeError, () => builder.gemm(a, a, {alpha: NaN, get beta() { events.push('get beta'); return 1; }}));
  assert_throws_js(TypeError, () => builder.input('x', {get dimensions() { events.push('get dimensions'); return []; }}), 'dataType is required');
  assert_array_equals(events, [], 'the first fault ends it');
}, 'A member is converted before the next one is read');

builder_test(async builder => {
  const events = [];
  const name = {toString() { events.push('name'); return 'x'; }};
  builder.input(name, {get dataType() { events.push('dataType'); return 'float32'; }});
  assert_array_equals(events, ['name', 'dataType']);
  events.length = 0;
  assert_throws_js(TypeError, () => builder.pad({}, {get [Symbol.iterator]() { events.push('padding'); return undefined; }}, []));
  assert_throws_js(TypeError, () => builder.input(name), 'too few arguments');
  assert_array_equals(events, []);
}, 'Arguments are converted from left to right, and only if there are enough');

builder_test(async builder => {
  assert_array_equals(builder.input('x', {dataType: 'int8'}).shape(), []);
  for (const descriptor of [undefined, null, {}, [], {dataType: undefined}, {dimensions: []}]) {
    assert_throws_js(TypeError, () => builder.input('x', descriptor));
  }
}, 'A required member must be there');

builder_test(async (builder, t, context) => {
  const inner = {get axis() { builder.input('inner', FLOATS); return 0; }};
  const x = builder.input('x', FLOATS), indices = builder.input('i', {dataType: 'int32', dimensions: [1]});
  const y = builder.gather(x, indices, inner);
  const result = await context.compute(await builder.build({y}), {x: new Float32Array([3, 4]), i: new Int32Array([1])}, {y: new Float32Array(1)});
  assert_array_equals(result.outputs.y, [4]);
}, 'A getter may use the builder');

builder_test(async builder => {
  const x = builder.input('x', IMAGE), options = {windowDimensions: [2, 2]};
  const before = JSON.stringify(options);
  builder.averagePool2d(x, options);
  assert_equals(JSON.stringify(options), before);
  assert_array_equals(builder.averagePool2d(x, Object.freeze(options)).shape(), [1, 2, 3, 3]);
}, 'The object given is not changed');

// ---- Records: https://webidl.spec.whatwg.org/#js-record

builder_test(async (builder, t, context) => {
  const makers = {
    'an object': y => ({y, z: y}),
    'an object without a prototype': y => Object.assign(Object.create(null), {y, z: y}),
    'an object with a prototype and hidden properties': y => Object.assign(
      Object.create({inherited: 1}, {hidden: {value: 1}, [Symbol('hidden')]: {value: 1}}), {y, get z() { return y; }}),
    'a getter': y => ({get y() { return y; }, get z() { return y; }}),
    'a function': y => Object.assign(() => {}, {y, z: y}),
    'a proxy': y => new Proxy({y, z: y}, {}),
    'a frozen object': y => Object.freeze({y, z: y}),
  };
  for (const [what, make] of Object.entries(makers)) {
    const builder = new MLGraphBuilder(context);
    const graph = await builder.build(make(builder.relu(builder.input('x', FLOATS))));
    const {outputs} = await context.compute(graph, {x: new Float32Array([-1, 1])}, {z: new Float32Array(2), y: new Float32Array(2)});
    assert_array_equals(Reflect.ownKeys(outputs), ['z', 'y'], what);
    assert_array_equals([...outputs.y, ...outputs.z], [0, 1, 0, 1], what);
  }
}, 'Own enumerable properties are a record');

builder_test(async (builder, t, context) => {
  const record = [], y = builder.relu(builder.input('x', FLOATS));
  const graph = await builder.build(spy(Object.defineProperty({z: y, y}, 'hidden', {value: 1, enumerable: false}), record));
  const descriptorOf = 'getOwnPropertyDescriptor';
  assert_array_equals(record, ['ownKeys', `${descriptorOf} z`, 'get z', `${descriptorOf} y`, 'get y', `${descriptorOf} hidden`]);
  const gone = new Proxy({}, {
    ownKeys: () => ['y', 'gone'],
    getOwnPropertyDescriptor: (_, name) => name === 'y' ? {value: 1, enumerable: true, configurable: true} : undefined,
    get: () => new Float32Array(2),
  });
  const {outputs} = await context.compute(graph, {x: new Float32Array(2)}, gone);
  assert_array_equals(Reflect.ownKeys(outputs), ['y'], 'a key without a property');
}, 'A record is asked for its keys, and each key for its property and its value');

builder_test(async (builder, t, context) => {
  const y = builder.relu(builder.input('x', FLOATS));
  await promise_rejects_js(t, TypeError, builder.build({y, [Symbol('s')]: y}), 'an enumerable symbol');
  await promise_rejects_js(t, TypeError, builder.build([y, 1]), 'an array holds what is no operand');
  for (const value of [undefined, null, true, 1, 'y', 1n, Symbol()]) await promise_rejects_js(t, TypeError, builder.build(value), typeof value);
  for (const value of [undefined, null, {}, [y]]) await promise_rejects_js(t, TypeError, builder.build({y, z: value}), typeof value);
  const graph = await builder.build({y});
  for (const value of [undefined, null, true, 1, 'y', 1n, Symbol()]) {
    await promise_rejects_js(t, TypeError, context.compute(graph, value, {y: new Float32Array(2)}), `inputs: ${typeof value}`);
    await promise_rejects_js(t, TypeError, context.compute(graph, {x: new Float32Array(2)}, value), `outputs: ${typeof value}`);
  }
}, 'What is no record, or holds a symbol or a wrong value, is refused');

promise_test(async () => {
  const {context, builder} = await createBuilder();
  const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', '10', '2', 'then', 'length', '$v', '\ud800', 'a\0b'];
  const outputs = {}, views = {};
  const x = builder.input('x', FLOATS);
  for (const [index, name] of names.entries()) {
    const value = builder.add(x, builder.constant('float32', index));
    Object.defineProperty(outputs, name, {value, enumerable: true, configurable: true});
  }
  const graph = await builder.build(outputs);
  for (const name of names) Object.defineProperty(views, name, {value: new Float32Array(2), enumerable: true, configurable: true});
  const result = await context.compute(graph, {x: new Float32Array([1, 2])}, views);
  assert_equals(Object.getPrototypeOf(result.outputs), Object.prototype);
  // Integer-like names come first, as in every object.
  assert_array_equals(Reflect.ownKeys(result.outputs), ['2', '10', ...names.filter(name => !/^\d+$/.test(name))]);
  for (const [index, name] of names.entries()) {
    assert_flags(result.outputs, name, {writable: true, enumerable: true, configurable: true});
    assert_array_equals(result.outputs[name], [1 + index, 2 + index], name);
  }
}, 'Every name can be the name of an output: __proto__, then, numbers, lone surrogates');

builder_test(async (builder, t, context) => {
  const graph = await builder.build([0, 1].map(index => builder.add(builder.input(`${index}`, FLOATS), builder.constant('float32', index))));
  const views = () => [new Float32Array(2), new Float32Array(2)];
  const result = await context.compute(graph, views(), views());
  assert_array_equals(result.outputs[1], [1, 1]);
}, 'An array is a record of its indices');
