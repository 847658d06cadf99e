// Watches what a program does with WebNN, in a browser or in the emulator: every call of a member of the ML interfaces, what became of it,
// and the console. It runs before the program.
//
// The program sees the same objects, names and errors as without it. A promise of WebNN is another promise, settled with the same value a
// microtask later. Random numbers are the same in each run: those of Math.random, crypto.getRandomValues and crypto.randomUUID. Clocks run.
//
// Each record is a line of `console.debug`, JSON behind `mark`, which the program does not know. `most` is the size of the largest result
// whose bytes are kept. `global[mark]()` tells how much is still to come.
(function (global, mark, most) {
'use strict';
const {Array, ArrayBuffer, Error, JSON, Map, Math, Object, Promise, Proxy, Reflect, Set, String,
  Uint8Array, WeakMap} = global;
const {apply, construct, getOwnPropertyDescriptor, ownKeys} = Reflect, {defineProperty} = Object, {isView} = ArrayBuffer;
const {stringify} = JSON, {imul, min} = Math, {then} = Promise.prototype;
const debug = global.console.debug.bind(global.console);
const tagOf = value => apply(Object.prototype.toString, value, []).slice(8, -1);
let pending = 0;
const put = record => debug(mark + stringify(record));

// ---- Values

// Objects of WebNN are named by the call that returned them.
const names = new WeakMap(), facts = new Map();
const LONGEST_TEXT = 200, LONGEST_LIST = 64, DEEPEST = 8;
const HEX = Array.from({length: 256}, (_, byte) => byte.toString(16).padStart(2, '0'));

function digest(bytes) {
  let hash = 0x811c9dc5;
  for (let index = 0; index < bytes.length; index++) hash = imul(hash ^ bytes[index], 0x01000193);
  return hash >>> 0;
}
function bytesOf(value) {
  return isView(value) ? new Uint8Array(value.buffer, value.byteOffset, value.byteLength) : new Uint8Array(value);
}
function describeBytes(value, keep) {
  const kind = tagOf(value);
  try {
    const bytes = bytesOf(value), found = {kind, bytes: bytes.length, digest: digest(bytes)};
    if (keep && bytes.length <= most) {
      const pieces = [];
      for (let index = 0; index < bytes.length; index++) pieces.push(HEX[bytes[index]]);
      found.data = pieces.join('');
    }
    return found;
  } catch {
    return {kind, detached: true};
  }
}

// A value as JSON. Getters of the program's objects are not called.
function describe(value, keep = false, depth = 0) {
  switch (typeof value) {
    case 'undefined': return {undefined: true};
    case 'bigint': return {bigint: String(value)};
    case 'number': return value - value !== 0 || Object.is(value, -0) ? {number: Object.is(value, -0) ? '-0' : String(value)} : value;
    case 'string': return value.length <= LONGEST_TEXT ? value : {text: value.slice(0, LONGEST_TEXT), length: value.length};
    case 'boolean': return value;
    case 'symbol': case 'function': return {kind: typeof value};
  }
  if (value === null) return null;
  if (names.has(value)) return {object: names.get(value), ...factsOf(value)};
  const isBuffer = isView(value) || ['ArrayBuffer', 'SharedArrayBuffer'].includes(tagOf(value));
  if (isBuffer) return describeBytes(value, keep);
  if (depth > DEEPEST) return {kind: 'deep'};
  if (value instanceof Error || tagOf(value) === 'DOMException') return {error: describeError(value)};
  if (Array.isArray(value)) {
    const list = [];
    for (let index = 0; index < min(value.length, LONGEST_LIST); index++) list.push(describeMember(value, index, keep, depth));
    return value.length <= LONGEST_LIST ? list : {list, length: value.length};
  }
  const members = {};
  for (const key of ownKeys(value).filter(each => typeof each === 'string').slice(0, 4 * LONGEST_LIST)) {
    if (getOwnPropertyDescriptor(value, key)?.enumerable) {
      defineProperty(members, key, {value: describeMember(value, key, keep, depth), enumerable: true});
    }
  }
  return {members};
}
function describeMember(owner, key, keep, depth) {
  const member = getOwnPropertyDescriptor(owner, key);
  return member !== undefined && 'value' in member ? describe(member.value, keep, depth + 1) : {kind: member === undefined ? 'hole' : 'accessor'};
}
function describeError(error) {
  try { return [String(error.name), String(error.message)]; } catch { return ['Error', 'it cannot be read']; }
}
function factsOf(object) {
  const found = {};
  for (const [name, get] of facts.get(tagOf(object)) ?? []) {
    try { found[name] = describe(apply(get, object, [])); } catch { /* it is lost or destroyed */ }
  }
  return found;
}

// ---- Members

let calls = 0;
const given = new WeakMap();

// Name the objects that a call returned: by its number, and by their places if there are several.
function nameAll(value, name) {
  if (typeof value !== 'object' || value === null || names.has(value)) return;
  const tag = tagOf(value);
  if (tag.startsWith('ML')) names.set(value, `${tag}@${name}`);
  else if (Array.isArray(value)) value.forEach((each, index) => nameAll(each, `${name}.${index}`));
}

function finish(number, member, value, filled) {
  nameAll(value, number);
  const reads = member === 'MLContext.readTensor' || member === 'MLContext.compute';
  put({end: number, value: describe(value, reads), ...(filled === undefined ? {} : {filled: describe(filled, true)})});
}
const fail = (number, error) => put({end: number, error: describeError(error)});

function watch(member, self, values, call) {
  const number = ++calls;
  put({call: number, member, self: names.get(self) ?? tagOf(self), arguments: values.map(each => describe(each, member === 'MLContext.writeTensor'))});
  let value;
  try { value = call(); } catch (error) { fail(number, error); throw error; }
  if (tagOf(value) !== 'Promise') { finish(number, member, value); return value; }
  if (given.has(value)) { put({end: number, value: {kind: 'promise'}}); return given.get(value); }
  const filled = member === 'MLContext.readTensor' ? values[1] : undefined, isLoss = member === 'MLContext.lost';
  if (isLoss) put({end: number, value: {kind: 'promise'}}); else pending++;
  const settled = new Promise((resolve, reject) => {
    apply(then, value, [
      result => { if (!isLoss) { pending--; finish(number, member, result, filled); } resolve(result); },
      error => { if (!isLoss) { pending--; fail(number, error); } reject(error); },
    ]);
  });
  given.set(value, settled);
  return settled;
}

const FACTS = new Set(['dataType', 'shape', 'readable', 'writable', 'constant']);
for (const name of Object.getOwnPropertyNames(global).filter(each => /^ML[A-Z]?/.test(each) && typeof global[each] === 'function')) {
  const Interface = global[name], {prototype} = Interface;
  if (prototype === undefined) continue;
  for (const key of Object.getOwnPropertyNames(prototype).filter(each => each !== 'constructor')) {
    const property = getOwnPropertyDescriptor(prototype, key), member = `${name}.${key}`;
    if (!property.configurable) continue;
    const wrap = original => new Proxy(original, {
      apply: (_, self, values) => watch(member, self, values, () => apply(original, self, values)),
    });
    if (typeof property.value === 'function') defineProperty(prototype, key, {...property, value: wrap(property.value)});
    if (property.get !== undefined) {
      if (FACTS.has(key)) facts.set(name, [...facts.get(name) ?? [], [key, property.get]]);
      defineProperty(prototype, key, {...property, get: wrap(property.get)});
    }
  }
  const Watched = new Proxy(Interface, {
    construct: (_, values, target) => watch(`${name}.constructor`, undefined, values,
      () => construct(Interface, values, target === Watched ? Interface : target)),
  });
  const made = getOwnPropertyDescriptor(prototype, 'constructor');
  if (made?.configurable) defineProperty(prototype, 'constructor', {...made, value: Watched});
  defineProperty(global, name, {...getOwnPropertyDescriptor(global, name), value: Watched});
}

// ---- The console, and errors that nobody caught

const {slice} = Object.getPrototypeOf(Uint8Array.prototype), MOST_SHOWN = 32;
function text(value) {
  if (typeof value === 'string') return value;
  const found = describe(value);
  if (isView(value) && value.length !== undefined) return `${found.kind} [${apply(slice, value, [0, MOST_SHOWN]).join(', ')}]`;
  return found?.error ? found.error.join(': ') : found?.bigint ?? found?.number ?? (found?.undefined ? 'undefined' : stringify(found));
}
for (const level of ['log', 'info', 'debug', 'warn', 'error', 'table', 'trace', 'dir', 'assert']) {
  const original = global.console[level];
  if (typeof original !== 'function') continue;
  global.console[level] = new Proxy(original, {
    apply: (_, self, values) => {
      put({console: level, text: values.map(text).join(' ').slice(0, 1 << 14)});
      return apply(original, self, values);
    },
  });
}
const uncaught = error => put({uncaught: typeof error === 'object' && error !== null ? describeError(error) : ['Error', text(error)]});
global.addEventListener?.('error', event => { if (event.error != null || event.message) uncaught(event.error ?? event.message); });
// A script that cannot be loaded: the event goes to its element, not to the window.
global.addEventListener?.('error', ({target}) => {
  if (target !== global && target?.tagName === 'SCRIPT') put({uncaught: ['TypeError', `a script cannot be loaded: ${target.src || 'a part of it'}`]});
}, true);
global.addEventListener?.('unhandledrejection', ({reason}) => uncaught(reason));

// ---- Random numbers

let state = 0x2545f491;
function next() {
  state ^= state << 13;
  state ^= state >>> 17;
  state ^= state << 5;
  return state >>> 0;
}
const replace = (owner, key, make) => {
  const property = owner && getOwnPropertyDescriptor(owner, key);
  if (property?.configurable) defineProperty(owner, key, {...property, value: new Proxy(property.value, {apply: make(property.value)})});
};
replace(Math, 'random', () => () => next() / 2 ** 32);
replace(global.Crypto?.prototype, 'getRandomValues', original => (_, self, values) => {
  const filled = apply(original, self, values), bytes = bytesOf(filled);
  for (let index = 0; index < bytes.length; index++) bytes[index] = next() >>> 24;
  return filled;
});
replace(global.Crypto?.prototype, 'randomUUID', () => () => {
  const digits = Array.from({length: 8}, () => (next() >>> 16).toString(16).padStart(4, '0'));
  const [a, b, c, d, e, ...rest] = digits;
  return `${a}${b}-${c}-4${d.slice(1)}-8${e.slice(1)}-${rest.join('')}`;
});

defineProperty(global, mark, {value: () => ({pending}), enumerable: false});
})
