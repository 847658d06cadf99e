// META: title=Conversion of numbers, booleans, strings and enumerations
// META: script=resources/helpers.js

'use strict';

// https://webidl.spec.whatwg.org/#js-type-mapping

const HUGE = 2 ** 32;
const valueOf = value => ({valueOf: () => value});

// What [EnforceRange] unsigned long makes of a value, seen in a dimension.
const dimensions = [
  [1, 1], ['3', 3], [' 0x10\n', 16], ['1e2', 100], [1.9, 1], [true, 1], [valueOf(7), 7], [valueOf('7'), 7], [[5], 5], [new Number(6), 6],
  [{[Symbol.toPrimitive]: hint => hint === 'number' ? 8 : 9}, 8], [new Date(4), 4], [{toString: () => '11'}, 11],
  [HUGE / 2 - 1, HUGE / 2 - 1], [HUGE / 2 - 0.5, HUGE / 2 - 1],
];
// [EnforceRange] refuses these.
const refused = [
  NaN, Infinity, -Infinity, -1, HUGE, 2 ** 53, -HUGE, 1e300, undefined, 'one', '1n', '1_0', [1, 2], {}, () => 1, 1n, Symbol(), valueOf(1n),
  valueOf(NaN),
  Object(1n), Object(Symbol()), Object.create(null), {valueOf: () => ({}), toString: () => ({})}, new Date(NaN),
];
// These become zero, which is in range; the draft then refuses it as a dimension.
const zeros = [0, -0, 0.5, -0.9, null, false, '', ' \t', [], [[]], valueOf(null)];

function name(value) {
  if (typeof value === 'string') return `'${value}'`;
  if (typeof value === 'object' && value !== null) return `${Object.prototype.toString.call(value)} ${Object.keys(value)}`;
  return `${typeof value} ${Object.is(value, -0) ? '-0' : String(value)}`;
}

builder_test(async builder => {
  for (const [value, expected] of dimensions) {
    assert_array_equals(builder.input('x', {dataType: 'int8', dimensions: [value]}).shape(), [expected], name(value));
  }
  for (const value of refused) {
    assert_throws_js(TypeError, () => builder.input('x', {dataType: 'int8', dimensions: [value]}), name(value));
  }
  // The largest numbers are numbers still: it is the draft's limit of a tensor's size that refuses them.
  for (const value of [HUGE - 1, HUGE - 0.5]) {
    try {
      builder.input('x', {dataType: 'int8', dimensions: [value]});
      assert_unreached(name(value));
    } catch (error) {
      assert_true(error.message.includes('4294967295 bytes'), error.message);
    }
  }
}, '[EnforceRange] unsigned long: a dimension');

builder_test(async builder => {
  const x = builder.input('x', {dataType: 'float32', dimensions: [2, 4]});
  for (const value of zeros) {
    assert_array_equals(builder.concat([x, x], value).shape(), [4, 4], name(value));
    assert_array_equals(builder.gather(x, builder.input('i', {dataType: 'int32', dimensions: [3]}), {axis: value}).shape(), [3, 4], name(value));
    assert_array_equals(builder.slice(x, [value, value], [1, 1]).shape(), [1, 1], name(value));
  }
  for (const value of refused) {
    assert_throws_js(TypeError, () => builder.concat([x, x], value), name(value));
    if (value !== undefined) assert_throws_js(TypeError, () => builder.gather(x, x, {axis: value}), name(value));
  }
}, '[EnforceRange] unsigned long: an argument, a member, an element');

builder_test(async builder => {
  const x = builder.input('x', {dataType: 'float32', dimensions: [2, 4]});
  for (const value of refused) {
    let read = false;
    const sizes = {get [Symbol.iterator]() { read = true; return undefined; }};
    assert_throws_js(TypeError, () => builder.slice(x, [value, 0], sizes), name(value));
    assert_false(read, name(value));
  }
}, '[EnforceRange] unsigned long: what is refused is refused before the next argument is read');

builder_test(async (builder, t, context) => {
  const x = builder.constant({dataType: 'float32', dimensions: [2, 2]}, new Float32Array([0, 0, 2, 0]));
  const axes = [[0, 0], [1, 1], ['1', 1], [1.99, 1], [-0.99, 0], [HUGE, 0], [HUGE + 1, 1], [-HUGE + 1, 1], [2 ** 53, 0], [NaN, 0], [Infinity, 0],
                [-Infinity, 0], [null, 0], [undefined, 0], ['x', 0], [true, 1], [1e300, 0], [3 * HUGE + 1.5, 1]];
  const outputs = {}, views = {};
  axes.forEach(([value], index) => {
    outputs[`y${index}`] = builder.softmax(x, value);
    views[`y${index}`] = new Float32Array(4);
  });
  const result = await context.compute(await builder.build(outputs), {}, views);
  axes.forEach(([value, axis], index) => {
    // The softmax of 2 and 0 is about 0.88 and 0.12: in the second row along axis 1, in the first column along axis 0.
    const rounded = Array.from(result.outputs[`y${index}`], element => Math.round(element * 100) / 100);
    assert_array_equals(rounded, axis ? [0.5, 0.5, 0.88, 0.12] : [0.12, 0.5, 0.88, 0.5], name(value));
  });
  for (const value of [2, -1, HUGE - 1, HUGE + 2]) assert_throws_js(TypeError, () => builder.softmax(x, value), name(value));
  for (const value of [1n, Symbol(), Object(1n)]) assert_throws_js(TypeError, () => builder.softmax(x, value), name(value));
}, 'unsigned long wraps round');

const LARGEST = 3.4028234663852886e38;

builder_test(async (builder, t, context) => {
  const values = [[0.1, Math.fround(0.1)], ['0.5', 0.5], [true, 1], [null, 0], [false, 0], ['', 0], [valueOf(-2.5), -2.5], [[3], 3], [-0, -0], [1e-46, 0],
                  [-1e-46, -0], [1e-45, 2 ** -149], [LARGEST, LARGEST], [LARGEST + 1e31, LARGEST], [16777217, 16777216]];
  const bound = builder.input('x', {dataType: 'float32', dimensions: [1]});
  const outputs = {}, views = {};
  values.forEach(([value], index) => {
    outputs[`y${index}`] = builder.pad(bound, [1], [0], {value});
    views[`y${index}`] = new Float32Array(2);
  });
  const result = await context.compute(await builder.build(outputs), {x: new Float32Array(1)}, views);
  values.forEach(([value, expected], index) => {
    // Padding copies the value. Arithmetic would flush the denormal one to zero on some processors.
    assert_equals(result.outputs[`y${index}`][0], expected, name(value));
  });
  for (const value of [NaN, Infinity, -Infinity, 'x', {}, [1, 2], 3.5e38, -3.5e38, LARGEST + 2e31, 1e300, 1n, Symbol(), Object.create(null)]) {
    for (const options of [{alpha: value}, {beta: value}]) assert_throws_js(TypeError, () => builder.linear(bound, options), name(value));
    assert_throws_js(TypeError, () => builder.clamp(bound, {minValue: value}), name(value));
  }
}, 'float: the nearest float32; NaN and what is too large is refused');

builder_test(async (builder, t, context) => {
  const values = [[1.5, 1.5], ['1.5', 1.5], [null, 0], [true, 1], [[], 0], [valueOf(2), 2], [-0, -0], [LARGEST, LARGEST], [0.1, Math.fround(0.1)]];
  for (const [value, expected] of values) {
    const y = await evaluate(context, builder, builder.constant('float32', value), new Float32Array(1));
    assert_equals(y[0], expected, name(value));
  }
  for (const value of [NaN, Infinity, -Infinity, undefined, 'x', {}, [1, 2], 1n, Symbol()]) {
    assert_throws_js(TypeError, () => builder.constant('float32', value), name(value));
  }
}, 'double: a number as it is; NaN and infinities are refused');

builder_test(async builder => {
  const x = builder.input('x', {dataType: 'float32', dimensions: [2, 4]});
  for (const value of [true, 1, -1, 'false', 'x', {}, [], () => {}, Symbol(), 1n, Infinity, new Boolean(false), {valueOf() { throw new Error(); }}]) {
    assert_array_equals(builder.argMin(x, {axes: [1], keepDimensions: value}).shape(), [2, 1], name(value));
  }
  for (const value of [false, 0, -0, NaN, '', null, undefined, 0n]) {
    assert_array_equals(builder.argMin(x, {axes: [1], keepDimensions: value}).shape(), [2], name(value));
  }
}, 'boolean: every value is one or the other');

const NAMES = [
  ['x', 'x'], [1, '1'], [-0, '0'], [NaN, 'NaN'], [null, 'null'], [undefined, 'undefined'], [true, 'true'], [1n, '1'], [{}, '[object Object]'],
  [[1, [2, null]], '1,2,'], [{toString: () => 'own'}, 'own'], [{toString: null, valueOf: () => 'value'}, 'value'], ['\u00e9\u{1f600}', '\u00e9\u{1f600}'],
  ['\0', '\0'], ['a\0b', 'a\0b'], ['\ud800', '\ud800'], ['\udc00x', '\udc00x'], ['x\ud83d', 'x\ud83d'], [' ', ' '],
  ['"\\/\n\u2028', '"\\/\n\u2028'],
  ['__proto__', '__proto__'], ['constructor', 'constructor'], ['$h', '$h'], ['x'.repeat(100000), 'x'.repeat(100000)], [new String('s'), 's'],
  [{[Symbol.toPrimitive]: hint => hint}, 'string'],
];

for (const [index, [value, expected]] of NAMES.entries()) {
  builder_test(async (builder, t, context) => {
    const graph = await builder.build({y: builder.neg(builder.input(value, FLOATS))});
    const result = await context.compute(graph, {[expected]: new Float32Array([1, 2])}, {y: new Float32Array(2)});
    assert_array_equals(Reflect.ownKeys(result.inputs), [expected]);
    assert_array_equals(result.outputs.y, [-1, -2]);
  }, `DOMString ${index}: ${JSON.stringify(expected).slice(0, 20)}`);
}

builder_test(async builder => {
  for (const value of [Symbol(), Object.create(null), {toString: () => ({}), valueOf: () => ({})}, {toString: () => Symbol()}]) {
    assert_throws_js(TypeError, () => builder.input(value, FLOATS), name(value));
  }
  assert_throws_js(TypeError, () => builder.input('', FLOATS), 'an empty name is refused by the draft');
}, 'DOMString: what has no text is refused');

builder_test(async builder => {
  for (const value of ['int8', new String('int8'), {toString: () => 'int8'}, ['int8']]) {
    assert_equals(builder.input('x', {dataType: value}).dataType(), 'int8', name(value));
    assert_equals(builder.cast(builder.input('x', FLOATS), value).dataType(), 'int8', name(value));
  }
  for (const value of ['', 'INT8', 'int8 ', 'int8\0', 'int4', 'toString', null, 0, {}, [], ['int8', 'int8'], Symbol()]) {
    assert_throws_js(TypeError, () => builder.input('x', {dataType: value}), name(value));
    assert_throws_js(TypeError, () => builder.cast(builder.input('x', FLOATS), value), name(value));
  }
}, 'An enumeration takes its own values only');
