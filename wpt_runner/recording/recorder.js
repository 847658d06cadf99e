// What a test computes, and what it expects, goes to the host. The functions that compare are those of testharness.js and of the tests'
// own scripts; they still compare, but a difference does not end the subtest: all of its outputs are to be recorded.
(function (global, emit) {
'use strict';
const {Array, ArrayBuffer, JSON, Number, Object, Reflect, WeakMap} = global;
const evaluate = global.eval;

// ---- Computations: the buffers of their results are known by number and name

const computed = new WeakMap();
let count = 0;
const {compute} = global.MLContext.prototype;
global.MLContext.prototype.compute = {compute(...values) {
  const computation = ++count;
  emit('computing', JSON.stringify(computation));
  const promise = Reflect.apply(compute, this, values);
  // Whoever waits for the promise comes after this.
  promise.then(({outputs}) => {
    for (const [output, {buffer, byteOffset}] of Object.entries(outputs)) computed.set(buffer, {computation, output, byteOffset});
  }, () => {});
  return promise;
}}.compute;

// ---- Comparisons

// Numbers as the format of recorded cases has them; `null` is something else. Data of tests are texts where a number would lose digits.
function encode(value) {
  if (typeof value === 'bigint' || (typeof value === 'string' && /^-?\d+$/.test(value))) return {$bigint: `${value}`};
  if (typeof value !== 'number') return null;
  if (Object.is(value, -0)) return '-0';
  return Number.isFinite(value) ? value : `${value}`;
}

// A result is compared as it is, or as the one element of an array where a number is expected.
function find(actual, expected) {
  if (ArrayBuffer.isView(actual)) return {view: actual, expected: Array.from(expected ?? [], encode)};
  const wrapped = Array.isArray(actual) && actual.length === 1 && ArrayBuffer.isView(actual[0]);
  return wrapped ? {view: actual[0], expected: encode(expected?.[0])} : undefined;
}

function watch(name, describe) {
  const original = evaluate(`typeof ${name} === 'function' ? ${name} : undefined`);
  if (original === undefined) return false;
  const watched = function (...values) {
    const found = find(values[0], values[1]), result = found && computed.get(found.view.buffer);
    if (result === undefined) return Reflect.apply(original, this, values);
    let difference = null;
    try { Reflect.apply(original, this, values); } catch (error) { difference = `${error?.message ?? error}`; }
    const {computation, output, byteOffset} = result, start = found.view.byteOffset - byteOffset;
    emit('comparison', JSON.stringify({computation, output, start, expected: found.expected, ...describe(values, found.view), difference}));
    return undefined;
  };
  // A function of the global object is assigned as a variable is, too.
  evaluate(`value => { ${name} = value; }`)(watched);
  return true;
}

const tolerance = (metric, value) => ({metric, tolerance: encode(value)});
const COMPARISONS = {
  assert_array_approx_equals_ulp: ([, , distance]) => tolerance('ULP', distance),
  assert_array_approx_equals: ([, , distance]) => tolerance('ATOL', distance),
  // Whether two arrays are equal is asked of what they show: where there is no Float16Array, that is bits.
  assert_array_equals: (_, view) => ({...tolerance('ULP', 0), bits: view instanceof global.Uint16Array}),
};
const missing = Object.keys(COMPARISONS).filter(name => !watch(name, COMPARISONS[name]));
emit('missing', JSON.stringify(missing));
})
