// structuredClone: https://html.spec.whatwg.org/#structured-cloning, in two passes: a value becomes a record, and a record a value. `platform`
// are prototypes of objects that cannot be cloned, `isUncloneable` knows more such objects.
(function (global, platform, isUncloneable, interfaces) {
'use strict';
const {dictionary, needs} = interfaces;
const {Array, ArrayBuffer, BigInt, Boolean, DataView, Date, DOMException, Error, Map, Number, Object, Reflect, RegExp, Set, SharedArrayBuffer,
  String, Symbol, TypeError, Uint8Array} = global;

const fail = what => { throw new DOMException(`structuredClone: ${what} cannot be cloned`, 'DataCloneError'); };
const getterOf = (prototype, name) => Object.getOwnPropertyDescriptor(prototype, name).get;
const read = (getter, value) => Reflect.apply(getter, value, []);

// What tells an object of the language from others: its own method works on it.
const BRANDS = [
  ['boolean', Boolean.prototype.valueOf], ['number', Number.prototype.valueOf], ['bigint', BigInt.prototype.valueOf],
  ['string', String.prototype.valueOf], ['symbol', Symbol.prototype.valueOf], ['date', Date.prototype.getTime],
  ['pattern', getterOf(RegExp.prototype, 'source')],
  ['map', getterOf(Map.prototype, 'size')], ['set', getterOf(Set.prototype, 'size')],
  ['buffer', getterOf(ArrayBuffer.prototype, 'byteLength')], ['shared', getterOf(SharedArrayBuffer.prototype, 'byteLength')],
  ['exception', getterOf(DOMException.prototype, 'code')],
];
function brandOf(value) {
  // Every method that refuses makes an error; without a stack, that takes a fifth of the time.
  const {stackTraceLimit} = Error;
  Error.stackTraceLimit = 0;
  try {
    for (const [brand, method] of BRANDS) {
      try { Reflect.apply(method, value, []); return brand; } catch { /* another one */ }
    }
    return undefined;
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}
const isDetached = getterOf(ArrayBuffer.prototype, 'detached');
const isResizable = getterOf(ArrayBuffer.prototype, 'resizable'), mostOf = getterOf(ArrayBuffer.prototype, 'maxByteLength');
const transferBuffer = ArrayBuffer.prototype.transfer, sliceBuffer = ArrayBuffer.prototype.slice;
const TypedArray = Object.getPrototypeOf(Uint8Array.prototype), kindOfView = getterOf(TypedArray, Symbol.toStringTag);
const ERRORS = ['EvalError', 'RangeError', 'ReferenceError', 'SyntaxError', 'TypeError', 'URIError'];
// Objects with hidden state of their own: they have one of these prototypes.
const GeneratorPrototype = Object.getPrototypeOf(function* () {}.prototype);
const HIDDEN = new Set([
  ...['FinalizationRegistry', 'Promise', 'WeakMap', 'WeakRef', 'WeakSet', 'Iterator'].map(name => global[name].prototype), GeneratorPrototype,
]);
function hasHidden(value) {
  for (let each = value; each !== null; each = Reflect.getPrototypeOf(each)) if (HIDDEN.has(each) || platform.has(each)) return true;
  return false;
}

// ---- From values to records

function makeRecord(value, memory) {
  if (typeof value === 'symbol') fail(String(value));
  if ((typeof value !== 'object' || value === null) && typeof value !== 'function') return {kind: 'primitive', value};
  if (memory.has(value)) return memory.get(value);
  const record = {};
  memory.set(value, record);
  return Object.assign(record, describe(value, memory));
}
function describe(value, memory) {
  if (typeof value === 'function') fail('a function');
  if (ArrayBuffer.isView(value)) return describeView(value, memory);
  const kind = brandOf(value), [, method] = BRANDS.find(([brand]) => brand === kind) ?? [];
  switch (kind) {
  case 'boolean': case 'number': case 'bigint': case 'string': return {kind: 'wrapper', value: read(method, value)};
  case 'symbol': return fail('a symbol');
  case 'date': return {kind, value: read(method, value)};
  case 'pattern': return {kind, source: read(method, value), flags: value.flags};
  case 'shared': return {kind: 'primitive', value};
  case 'buffer':
    if (read(isDetached, value)) fail('an ArrayBuffer that is detached');
    return {kind, content: Reflect.apply(sliceBuffer, value, [0]), most: read(isResizable, value) ? read(mostOf, value) : undefined};
  case 'exception': return {kind, name: value.name, message: value.message, stack: value.stack};
  case 'map': return {kind, entries: Array.from(value).map(pair => pair.map(each => makeRecord(each, memory)))};
  case 'set': return {kind, entries: Array.from(value).map(each => makeRecord(each, memory))};
  }
  if (Error.isError(value)) return describeError(value);
  if (isUncloneable(value) || hasHidden(value)) fail(Object.prototype.toString.call(value));
  // Objects within it may lead back to it, so it must be known before they are.
  const record = memory.get(value), properties = [];
  Object.assign(record, Array.isArray(value) ? {kind: 'array', length: value.length, properties} : {kind: 'object', properties});
  for (const key of Object.keys(value)) {
    if (Object.hasOwn(value, key)) properties.push([key, makeRecord(value[key], memory)]);
  }
  return record;
}
function describeView(value, memory) {
  const {buffer, byteOffset} = value, kind = read(kindOfView, value) ?? 'DataView';
  return {kind: 'view', view: kind, buffer: makeRecord(buffer, memory), byteOffset, length: kind === 'DataView' ? value.byteLength : value.length};
}
function describeError(value) {
  const {name: given} = value, name = ERRORS.includes(`${given}`) ? `${given}` : 'Error';
  const message = Object.getOwnPropertyDescriptor(value, 'message'), stack = Object.getOwnPropertyDescriptor(value, 'stack');
  return {kind: 'error', name, message: message && 'value' in message ? `${message.value}` : undefined, stack: stack?.value};
}

// ---- From records to values

function makeValue(record, memory) {
  if (record.kind === 'primitive') return record.value;
  if (memory.has(record)) return memory.get(record);
  const value = make(record, memory);
  memory.set(record, value);
  return fill(value, record, memory);
}
function make(record, memory) {
  switch (record.kind) {
  case 'wrapper': return Object(record.value);
  case 'date': return new Date(record.value);
  case 'pattern': return new RegExp(record.source, record.flags);
  case 'transferred': return Reflect.apply(transferBuffer, record.buffer, []);
  case 'buffer': return record.most === undefined ? record.content : resizable(record);
  case 'view': {
    const buffer = makeValue(record.buffer, memory), View = record.view === 'DataView' ? DataView : global[record.view];
    return new View(buffer, record.byteOffset, record.length);
  }
  case 'exception': return hidden(new DOMException(record.message, record.name), 'stack', record.stack);
  case 'error': {
    const {[record.name]: Kind} = global, error = record.message === undefined ? new Kind() : new Kind(record.message);
    return hidden(error, 'stack', record.stack);
  }
  case 'map': return new Map();
  case 'set': return new Set();
  case 'array': return new Array(record.length);
  default: return {};
  }
}
function resizable({content, most}) {
  const buffer = new ArrayBuffer(content.byteLength, {maxByteLength: most});
  new Uint8Array(buffer).set(new Uint8Array(content));
  return buffer;
}
function hidden(object, name, value) {
  if (typeof value === 'string') Object.defineProperty(object, name, {value, writable: true, enumerable: false, configurable: true});
  return object;
}
function fill(value, {kind, entries, properties}, memory) {
  if (kind === 'map') for (const [key, each] of entries) value.set(makeValue(key, memory), makeValue(each, memory));
  if (kind === 'set') for (const each of entries) value.add(makeValue(each, memory));
  for (const [key, each] of properties ?? []) {
    Object.defineProperty(value, key, {value: makeValue(each, memory), writable: true, enumerable: true, configurable: true});
  }
  return value;
}

// The records of a value and of what is transferred with it.
function recordOf(name, value, transfer) {
  const memory = new Map(), list = transfer === undefined ? [] : [...transfer];
  for (const buffer of list) {
    if (memory.has(buffer)) fail('what is transferred twice');
    if (typeof buffer !== 'object' || buffer === null) throw new TypeError(`${name}: options.transfer must hold objects`);
    if (brandOf(buffer) !== 'buffer') fail('what is transferred and is no ArrayBuffer');
    memory.set(buffer, {kind: 'transferred', buffer});
  }
  const record = makeRecord(value, memory);
  for (const buffer of list) if (read(isDetached, buffer)) fail('a transferred ArrayBuffer that is detached');
  return {record, moved: list.map(buffer => memory.get(buffer))};
}

function structuredClone(value, options = undefined) {
  needs('structuredClone', arguments, 1);
  const {transfer} = dictionary(options, 'structuredClone: options'), {record, moved} = recordOf('structuredClone', value, transfer);
  const made = new Map();
  for (const each of moved) makeValue(each, made);
  return makeValue(record, made);
}

// ---- Messages to other realms: a text has the records in a list, and each number in it is a place in the list

const {fromHex} = Uint8Array, {toHex} = Uint8Array.prototype, {parse, stringify} = global.JSON;
const SPECIAL = new Map([['undefined', undefined], ['NaN', NaN], ['Infinity', Infinity], ['-Infinity', -Infinity], ['-0', -0]]);
const packed = value => {
  if (typeof value === 'bigint') return ['bigint', `${value}`];
  if (Object.is(value, -0)) return ['special', '-0'];
  if (value === undefined || (typeof value === 'number' && !Number.isFinite(value))) return ['special', `${value}`];
  return ['plain', value];
};
const unpacked = ([kind, value]) => kind === 'bigint' ? BigInt(value) : kind === 'special' ? SPECIAL.get(value) : value;
const bytesOf = buffer => Reflect.apply(toHex, new Uint8Array(buffer), []);
const FIELDS = ['value', 'source', 'flags', 'name', 'message', 'stack', 'view', 'byteOffset', 'length', 'most'];

function serialize(value, transfer = undefined) {
  const {record, moved} = recordOf('postMessage', value, transfer), list = [], places = new Map();
  const add = each => {
    if (places.has(each)) return places.get(each);
    const place = list.push(null) - 1, entry = {kind: each.kind === 'transferred' ? 'buffer' : each.kind};
    places.set(each, place);
    if (each.kind === 'primitive' && typeof each.value === 'object' && each.value !== null) fail('a SharedArrayBuffer, in a message,');
    for (const field of FIELDS) if (field in each) entry[field] = packed(each[field]);
    if (each.kind === 'buffer') entry.bytes = bytesOf(each.content);
    if (each.kind === 'view') entry.buffer = add(each.buffer);
    if (each.kind === 'map') entry.entries = each.entries.map(pair => pair.map(add));
    if (each.kind === 'set') entry.entries = each.entries.map(add);
    if (each.properties) entry.properties = each.properties.map(([key, inner]) => [packed(key), add(inner)]);
    list[place] = entry;
    return place;
  };
  const first = add(record);
  // Nothing can fail any more: a failed message transfers nothing.
  for (const each of moved) list[add(each)].bytes = bytesOf(Reflect.apply(transferBuffer, each.buffer, []));
  return stringify([first, list]);
}
function deserialize(text) {
  const [first, list] = parse(text), records = list.map(({kind}) => ({kind}));
  list.forEach((entry, index) => {
    const record = records[index];
    for (const field of FIELDS) if (field in entry) record[field] = unpacked(entry[field]);
    if ('bytes' in entry) record.content = Reflect.apply(fromHex, Uint8Array, [entry.bytes]).buffer;
    if ('buffer' in entry) record.buffer = records[entry.buffer];
    if (entry.kind === 'map') record.entries = entry.entries.map(pair => pair.map(each => records[each]));
    if (entry.kind === 'set') record.entries = entry.entries.map(each => records[each]);
    if (entry.properties) record.properties = entry.properties.map(([key, each]) => [unpacked(key), records[each]]);
  });
  return makeValue(records[first], new Map());
}

return {deserialize, serialize, structuredClone};
})
