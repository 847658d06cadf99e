// META: title=Conversion of sequences and unions
// META: script=resources/helpers.js

'use strict';

// https://webidl.spec.whatwg.org/#js-sequence, https://webidl.spec.whatwg.org/#js-union

const MATRIX = {dataType: 'float32', dimensions: [6, 4]};
function* generate(...values) { yield* values; }

const iterables = {
  'an array': [4, 6], 'a set': new Set([4, 6]), 'the keys of a map': new Map([[4, 1], [6, 1]]).keys(), 'a generator': generate(4, 6),
  'a Uint32Array': new Uint32Array([4, 6]), 'a Uint8Array': new Uint8Array([4, 6]), 'a Float64Array': new Float64Array([4.5, 6.5]),
  'a String object': new String('46'), 'a sparse array': Object.assign([4], {1: 6}), 'an array of strings': ['4', '6'],
  'an object with an iterator': {[Symbol.iterator]: () => generate(4, 6)},
  'a function with an iterator': Object.assign(() => {}, {[Symbol.iterator]: () => generate(4, 6)}),
  'an inherited iterator': Object.create([4, 6]), 'a proxy': new Proxy([4, 6], {}), 'arguments': (function () { return arguments; })(4, 6),
  'an iterator without return': {[Symbol.iterator]() { let next = 2; return {next: () => ({value: next += 2, done: next > 6})}; }},
  'an array with an iterator of its own': Object.assign([1, 2, 3], {[Symbol.iterator]: () => generate(4, 6)}),
};
const others = {
  'undefined': undefined, 'null': null, 'a number': 46, 'a boolean': true, 'a string': '46', 'a BigInt': 46n, 'a symbol': Symbol(),
  'an object': {}, 'an array-like object': {length: 2, 0: 4, 1: 6}, 'a function': () => {},
  'an array without an iterator': Object.assign([4, 6], {[Symbol.iterator]: undefined}),
  'an iterator that is null': {[Symbol.iterator]: null}, 'an iterator that is no function': {[Symbol.iterator]: 1},
  'an iterator that is no object': {[Symbol.iterator]: () => 1}, 'an iterator without next': {[Symbol.iterator]: () => ({})},
  'a step that is no object': {[Symbol.iterator]: () => ({next: () => 1})}, 'an ArrayBuffer': new ArrayBuffer(8), 'a WeakSet': new WeakSet(),
  'a BigUint64Array': new BigUint64Array([4n, 6n]), 'an array with a hole': [4, , 6],
};
const copy = values => typeof values?.next === 'function' ? [4, 6].values() : values;

builder_test(async builder => {
  const x = builder.input('x', MATRIX);
  for (const [what, values] of Object.entries(iterables)) {
    assert_array_equals(builder.reshape(x, copy(values)).shape(), [4, 6], what);
    assert_array_equals(builder.input('y', {dataType: 'int8', dimensions: copy(values)}).shape(), [4, 6], `${what}, as a member`);
  }
  assert_array_equals(builder.reshape(x, generate(2, 12)).shape(), [2, 12], 'a fresh generator');
  for (const [what, values] of Object.entries(others)) {
    assert_throws_js(TypeError, () => builder.reshape(x, values), what);
    if (values !== undefined) assert_throws_js(TypeError, () => builder.input('y', {dataType: 'int8', dimensions: values}), `${what}, as a member`);
  }
}, 'What has an iterator is a sequence, nothing else is');

builder_test(async builder => {
  const x = builder.input('x', MATRIX), events = [];
  const iterator = {
    get next() { events.push('get next'); let value = 2; return () => { events.push('next'); return result(value += 2); }; },
    return() { events.push('return'); return {}; },
  };
  const result = value => ({get done() { events.push('done'); return value > 6; }, get value() { events.push('value'); return value; }});
  const values = {get [Symbol.iterator]() { events.push('get iterator'); return () => { events.push('iterator'); return iterator; }; }};
  builder.reshape(x, values);
  const steps = ['next', 'done', 'value'];
  assert_array_equals(events, ['get iterator', 'iterator', 'get next', ...steps, ...steps, 'next', 'done']);
}, 'The iterator is used as the specification says');

builder_test(async builder => {
  const x = builder.input('x', MATRIX), thrown = new RangeError('mine');
  const raise = () => { throw thrown; };
  const broken = {
    'the method': {[Symbol.iterator]: raise}, 'next': {[Symbol.iterator]: () => ({next: raise})},
    'get next': {[Symbol.iterator]: () => ({get next() { return raise(); }})},
    'done': {[Symbol.iterator]: () => ({next: () => ({get done() { return raise(); }})})},
    'value': {[Symbol.iterator]: () => ({next: () => ({done: false, get value() { return raise(); }})})},
    'an element': [4, {valueOf: raise}], 'a generator': (function* () { yield 4; raise(); })(),
  };
  for (const [what, values] of Object.entries(broken)) {
    try {
      builder.reshape(x, values);
      assert_unreached(what);
    } catch (error) {
      assert_equals(error, thrown, what);
    }
  }
  let closed = false;
  const endless = (function* () { try { for (;;) yield -1; } finally { closed = true; } })();
  assert_throws_js(TypeError, () => builder.reshape(x, endless));
  assert_false(closed, 'an iterator is not closed when an element is refused');
}, 'What an iterator throws comes through');

builder_test(async builder => {
  const x = builder.input('x', {dataType: 'float32', dimensions: [1]});
  assert_equals(builder.concat(Array.from({length: 1000}, () => x), 0).shape()[0], 1000);
  assert_throws_js(TypeError, () => builder.reshape(x, new Array(2 ** 32 - 1)), 'the first hole ends it');
  assert_throws_js(TypeError, () => builder.reshape(x, new Uint32Array(30000).fill(1)), 'too many dimensions are refused');
  for (const values of [[x, undefined], [x, null], [x, {}], [x, 'x'], [x, Object.create(x)], [[x]], [x, builder.relu()]]) {
    assert_throws_js(TypeError, () => builder.concat(values, 0));
  }
  assert_throws_js(TypeError, () => builder.concat([], 0));
}, 'Sequences may be long, and hold what their type says only');

builder_test(async builder => {
  const x = builder.input('x', MATRIX), values = [4, 6];
  const shape = builder.reshape(x, values).shape();
  shape[0] = 'changed';
  values[0] = 1;
  const y = builder.reshape(x, [4, 6]);
  y.shape().length = 0;
  assert_array_equals(y.shape(), [4, 6]);
  assert_not_equals(y.shape(), y.shape());
}, 'A sequence is a copy, in both directions');

// ---- Unions: split() takes a number or a sequence

const shapes = operands => operands.map(operand => operand.shape()[0]).join();

builder_test(async builder => {
  const x = builder.input('x', MATRIX);
  for (const [splits, expected] of [
    [2, '3,3'], ['3', '2,2,2'], [true, '6'], [2.9, '3,3'], [{valueOf: () => 2}, '3,3'], [new Number(3), '2,2,2'], [[2, 4], '2,4'],
    [new Set([1, 5]), '1,5'], [generate(1, 2, 3), '1,2,3'], [new Uint32Array([3, 3]), '3,3'], [[6], '6'], [new String('24'), '2,4'], [['2', 4.5], '2,4'],
  ]) {
    const what = `${typeof splits} ${String(splits)}`;
    assert_equals(shapes(builder.split(x, splits)), expected, what);
  }
  for (const splits of [undefined, null, NaN, -1, 0, 2 ** 32, 'two', 2n, Symbol(), {}, () => {}, [2, -1], [7], [],
                        {[Symbol.iterator]: 1}, {[Symbol.iterator]: false, valueOf: () => 2}]) {
    assert_throws_js(TypeError, () => builder.split(x, splits), `${typeof splits} ${String(splits)}`);
  }
}, 'A union of a number and a sequence: what has no iterator is a number');

builder_test(async builder => {
  const x = builder.input('x', MATRIX), record = [];
  assert_equals(shapes(builder.split(x, spy([2, 4], record))), '2,4');
  assert_array_equals(record.filter(each => each === 'get Symbol(Symbol.iterator)'), ['get Symbol(Symbol.iterator)'], 'the iterator is asked for once');
  let reads = 0;
  assert_equals(shapes(builder.split(x, {get [Symbol.iterator]() { return reads++ ? undefined : () => generate(2, 4); }})), '2,4');
}, 'The choice of a union reads the iterator once');

builder_test(async builder => {
  const endless = value => ({[Symbol.iterator]: () => ({next: () => ({value})})}), x = builder.input('x', MATRIX);
  assert_throws_js(TypeError, () => builder.split(x, endless(1)));
  assert_throws_js(TypeError, () => builder.concat(endless(x), 0));
  assert_throws_js(TypeError, () => builder.reshape(x, endless(1)));
}, 'An iterator that never ends');

builder_test(async builder => {
  const first = builder.split(builder.input('x', MATRIX), 2);
  assert_true(Array.isArray(first));
  assert_equals(Object.getPrototypeOf(first), Array.prototype);
  assert_array_equals(Reflect.ownKeys(first), ['0', '1', 'length']);
  assert_true(first.every(each => each instanceof MLOperand));
  assert_not_equals(first[0], first[1]);
}, 'A sequence that is returned is an array');
