// What a test computes, and what it expects, goes to the host. The functions that compare are those of testharness.js and of the tests'
// own scripts; they still compare, but a difference does not end the subtest: all of its outputs are to be recorded.
(function (global, emit) {
'use strict';
const {Array, ArrayBuffer, JSON, Math, Number, Object, Reflect, Uint8Array, Uint16Array, WeakMap} = global;
const evaluate = global.eval;

// ---- Computations: the memory of their results is known by number and name

const results = new WeakMap();
// Those of the subtest that runs, to find copies of them.
let recent = [];
let count = 0;
function note(result, memory, byteOffset = 0) {
  const noted = {...result, memory, byteOffset};
  results.set(memory, noted);
  recent.push(noted);
}
function begin() {
  emit('computing', JSON.stringify(++count));
  return count;
}

const context = global.MLContext.prototype, {compute, dispatch, readTensor, writeTensor} = context;
if (compute !== undefined) {
  context.compute = {compute(...values) {
    const computation = begin();
    const promise = Reflect.apply(compute, this, values);
    // Whoever waits for the promise comes after this.
    promise.then(({outputs}) => {
      for (const [output, view] of Object.entries(outputs)) note({computation, output}, view.buffer, view.byteOffset);
    }, () => {});
    return promise;
  }}.compute;
}
if (dispatch !== undefined) {
  // What a tensor holds: the result of the last computation that wrote it.
  const written = new WeakMap();
  context.dispatch = {dispatch(...values) {
    const computation = begin();
    Reflect.apply(dispatch, this, values);
    for (const [output, tensor] of Object.entries(values[2])) written.set(tensor, {computation, output, dataType: tensor.dataType});
  }}.dispatch;
  context.writeTensor = {writeTensor(...values) {
    Reflect.apply(writeTensor, this, values);
    written.delete(values[0]);
  }}.writeTensor;
  context.readTensor = {readTensor(...values) {
    const result = written.get(values[0]), promise = Reflect.apply(readTensor, this, values);
    if (result !== undefined) {
      promise.then(memory => {
        const given = memory ?? values[1];
        if (ArrayBuffer.isView(given)) note(result, given.buffer, given.byteOffset);
        else note(result, given);
      }, () => {});
    }
    return promise;
  }}.readTensor;
}

// ---- Comparisons

// Numbers as the format of recorded cases has them; `null` is something else. Data of tests are texts where a number would lose digits.
function encode(value) {
  if (typeof value === 'bigint' || (typeof value === 'string' && /^-?\d+$/.test(value))) return {$bigint: `${value}`};
  if (typeof value !== 'number') return null;
  if (Object.is(value, -0)) return '-0';
  return Number.isFinite(value) ? value : `${value}`;
}

// A result is compared as it is, or as the one element of an array where a number is expected; or its numbers are, which the tests' own
// scripts make of types that have no array of their own.
function find(actual, expected) {
  if (Array.isArray(actual) && actual.length === 1 && ArrayBuffer.isView(actual[0])) {
    return locate(actual[0], encode(expected?.[0]));
  }
  const all = Array.from(expected ?? [], encode);
  return ArrayBuffer.isView(actual) ? locate(actual, all) ?? copied(actual, all) : Array.isArray(actual) ? copied(actual, all) : undefined;
}

function locate(view, expected) {
  const result = results.get(view.buffer);
  return result && {...result, start: view.byteOffset - result.byteOffset, expected};
}

function copied(numbers, expected) {
  const same = recent.filter(({dataType, memory, byteOffset}) => {
    const decoded = DECODERS[dataType]?.(memory, byteOffset, numbers.length);
    return decoded !== undefined && decoded.every((value, index) => Object.is(value, numbers[index]));
  });
  const result = same.find(each => !each.compared) ?? same[0];
  return result && {...result, start: 0, expected};
}

const nibbles = extend => (memory, offset, length) => {
  const bytes = new Uint8Array(memory, offset);
  if (bytes.length !== Math.ceil(length / 2)) return undefined;
  return Array.from({length}, (_, index) => extend(bytes[index >> 1] >> 4 * (index & 1) & 15));
};
const DECODERS = {
  float16: (memory, offset, length) => {
    const bits = new Uint16Array(memory, offset, Math.min(length, (memory.byteLength - offset) >> 1));
    return bits.length === length ? Array.from(bits, half) : undefined;
  },
  int4: nibbles(value => value << 28 >> 28),
  uint4: nibbles(value => value),
};

// Returns the number of a float16.
function half(bits) {
  const exponent = bits >> 10 & 31, fraction = bits & 1023, sign = bits >> 15 ? -1 : 1;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * (exponent === 0 ? fraction * 2 ** -24 : (1024 + fraction) * 2 ** (exponent - 25));
}

function watch(name, describe) {
  const original = evaluate(`typeof ${name} === 'function' ? ${name} : undefined`);
  if (original === undefined) return false;
  const watched = function (...values) {
    const found = find(values[0], values[1]);
    if (found === undefined) return Reflect.apply(original, this, values);
    let difference = null;
    try { Reflect.apply(original, this, values); } catch (error) { difference = `${error?.message ?? error}`; }
    for (const each of recent) each.compared ||= each.computation === found.computation && each.output === found.output;
    const {computation, output, start, expected} = found;
    emit('comparison', JSON.stringify({computation, output, start, expected, ...describe(values), difference}));
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
  assert_array_equals: ([actual]) => ({...tolerance('ULP', 0), bits: actual instanceof global.Uint16Array}),
};
const missing = Object.keys(COMPARISONS).filter(name => !watch(name, COMPARISONS[name]));
emit('missing', JSON.stringify(missing));
global.add_result_callback(() => { recent = []; });
})
