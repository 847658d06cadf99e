// Values that go from Python into a program, and back: a text and byte arrays. values.py has the other end.
//
// The text is JSON, {values, marked}. `values` is an object of values by their names, and `marked` lists what JSON does not have, as [path, kind,
// what]: a typed array with its shape, whose bytes are the next byte array, or a "number" or "bigint" with its digits.
(function (global) {
'use strict';
const {Array, ArrayBuffer, BigInt, JSON, Number, Object, SharedArrayBuffer, String, Symbol, TypeError, Uint8Array} = global;
const DEEPEST = 64, MOST_DIGITS = 4000;
const MUST = 'must be null, a boolean, a number, a bigint, a string, a typed array, or an array or a plain object of these';

// A program that has no Float16Array has its bits.
const arrayOf = kind => kind === 'Float16Array' ? global.Float16Array ?? global.Uint16Array : global[kind];
function makeArray(kind, shape, buffer) {
  return Object.defineProperty(new (arrayOf(kind))(buffer), 'shape', {value: shape, writable: true, enumerable: false, configurable: true});
}

// Return the values of Python by their names.
function decode(text, buffers) {
  const {values, marked} = JSON.parse(text);
  let next = 0;
  for (const [path, kind, what] of marked) {
    const last = path.pop();
    let parent = values;
    for (const step of path) parent = parent[step];
    parent[last] = kind === 'number' ? Number(what) : kind === 'bigint' ? BigInt(what) : makeArray(kind, what, buffers[next++]);
  }
  return values;
}

const TYPED = Object.getPrototypeOf(Uint8Array.prototype), tagOf = Object.getOwnPropertyDescriptor(TYPED, Symbol.toStringTag).get;
const show = path => path.map((step, index) => typeof step === 'number' ? `[${step}]` : index === 0 ? step : `.${step}`).join('');
const kindOf = value => Object.prototype.toString.call(value).slice('[object '.length, -1);
const isShape = (shape, length) => Array.isArray(shape) && shape.length <= DEEPEST && shape.every(each => Number.isSafeInteger(each) && each >= 0) &&
  shape.reduce((product, each) => product * each, 1) === length;

// Return values by their names as a text and byte arrays, for Python.
function encode(values) {
  const marked = [], buffers = [], path = [];
  const refuse = what => { throw new TypeError(`${show(path)} ${MUST}, got ${what}`); };
  const mark = (kind, what) => { marked.push([[...path], kind, what]); return null; };
  function bytesOf(value) {
    const kind = tagOf.call(value), isView = ArrayBuffer.isView(value), buffer = isView ? value.buffer : value;
    if (buffer.detached) refuse(`${kindOf(value)} whose buffer is detached`);
    const {byteLength} = value, bytes = new Uint8Array(buffer, isView ? value.byteOffset : 0, byteLength);
    buffers.push(SharedArrayBuffer !== undefined && buffer instanceof SharedArrayBuffer ? bytes.slice() : bytes);
    if (kind === undefined) return mark('Uint8Array', [byteLength]);
    const shape = Object.hasOwn(value, 'shape') ? value.shape : [value.length];
    if (!isShape(shape, value.length)) refuse(`one whose property shape, ${JSON.stringify(shape)}, does not fit its ${value.length} elements`);
    return mark(kind, shape);
  }
  function copyObject(value, isList) {
    if (path.length > DEEPEST) refuse(`more than ${DEEPEST} levels of them`);
    const entries = isList ? Array.from(value, (each, index) => [index, each]) : Object.entries(value);
    const copy = isList ? [] : Object.create(null);
    for (const [key, each] of entries) {
      path.push(key);
      copy[key] = plain(each);
      path.pop();
    }
    return copy;
  }
  function plain(value) {
    switch (typeof value) {
      case 'boolean': case 'string': return value;
      case 'undefined': return null;
      case 'number': return Number.isFinite(value) && !Object.is(value, -0) ? value : mark('number', Object.is(value, -0) ? '-0' : String(value));
      case 'bigint': {
        const digits = String(value);
        return digits.length > MOST_DIGITS ? refuse(`a bigint of more than ${MOST_DIGITS} digits`) : mark('bigint', digits);
      }
      case 'object': break;
      default: return refuse(`a ${typeof value}`);
    }
    if (value === null) return null;
    if (ArrayBuffer.isView(value) || ['ArrayBuffer', 'SharedArrayBuffer'].includes(kindOf(value))) return bytesOf(value);
    if (Array.isArray(value)) return copyObject(value, true);
    const prototype = Object.getPrototypeOf(value);
    return prototype === null || prototype === Object.prototype ? copyObject(value, false) : refuse(kindOf(value));
  }
  const copies = Object.create(null);
  for (const [name, value] of Object.entries(values)) {
    path.push(name);
    copies[name] = plain(value);
    path.pop();
  }
  return [JSON.stringify({values: copies, marked}), buffers];
}

// Give the program the values of Python as global variables.
function install(text, buffers) {
  for (const [name, value] of Object.entries(decode(text, buffers))) {
    if (name in global) throw new TypeError(`${name}: a program has another global variable of this name`);
    Object.defineProperty(global, name, {value, writable: true, enumerable: false, configurable: true});
  }
}

// Read variables, by a function for each: values for Python.
function read(getters) {
  const values = Object.create(null);
  for (const [name, get] of Object.entries(getters)) {
    try {
      values[name] = get();
    } catch {
      throw new TypeError(`${name}: the program has no variable of this name`);
    }
  }
  return encode(values);
}

return {install, read};
})
