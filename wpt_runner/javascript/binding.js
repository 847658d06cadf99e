// The interfaces of the IDL, for JavaScript: https://webidl.spec.whatwg.org/#js-interfaces. Everything is made from the IDL as data; what
// needs code of its own stands in navigator.js.
//
// `send(text, buffers)` is the one call to Python: it takes a text and byte arrays, and returns a text and a list of what came back, each
// with a method `copyTo(bytes)`, which works until the next call. `queueTask(callback)` runs a callback in a later task.
(function (global, idl, makeConversion, send, queueTask, externals, special) {
'use strict';
const {DOMException, JSON, Map, Object, Promise, Reflect, Symbol, TypeError, Uint8Array, WeakMap} = global;
const {defineProperty} = Object;

// ---- Objects: each stands for a Python object, which a number names

const slots = new WeakMap();
const prototypes = new Map();
const dropped = [];
const registry = global.FinalizationRegistry && new global.FinalizationRegistry(handle => dropped.push(handle));

const slotOf = value => slots.get(value);
function isA(slot, name) {
  for (let each = slot.name; each !== undefined; each = idl.interfaces[each].inherits) if (each === name) return true;
  return false;
}

// Make the object of an interface for a handle.
function wrap(name, handle, prototype = prototypes.get(name)) {
  const object = Object.create(prototype);
  slots.set(object, {name, handle});
  registry?.register(object, handle);
  return object;
}

const objects = {
  interfaceOf: value => slotOf(value)?.name,
  handleOf(value, name) {
    const slot = slotOf(value);
    return slot !== undefined && isA(slot, name) ? slot.handle : undefined;
  },
};

const conversion = makeConversion(global, idl, objects, externals);

// ---- Calls

// Views of one buffer share its number, so that Python sees them share their memory.
const bufferNumbers = new WeakMap();
let buffersSeen = 0;
function bufferNumber(buffer) {
  if (!bufferNumbers.has(buffer)) bufferNumbers.set(buffer, ++buffersSeen);
  return bufferNumbers.get(buffer);
}

const ERRORS = {TypeError, RangeError: global.RangeError, Error: global.Error};
const makeError = ([name, message]) => Object.hasOwn(ERRORS, name) ? new ERRORS[name](message) : new DOMException(message, name);

// Call a member of a Python object. `call.views` are the views among the arguments; what lies in those of `written`, which are written
// to, need not travel. Returns the answer as it came: {value, buffers}.
function request(interfaceName, member, handle, values, call, written = []) {
  const buffers = [], views = [];
  for (const [index, view] of call.views.entries()) {
    const {kind, buffer, offset, length, detached} = conversion.inspect(view), sent = !written.includes(index);
    if (sent) buffers.push(detached ? new Uint8Array() : new Uint8Array(buffer, offset, length));
    views.push({kind, buffer: bufferNumber(buffer), offset, length, detached, sent});
  }
  const [text, answered] = send(JSON.stringify([interfaceName, member, handle, values, views, dropped.splice(0)]), buffers);
  const answer = JSON.parse(text);
  if (answer.error) throw makeError(answer.error);
  return {value: answer.value, buffers: answered};
}

// Make a JavaScript value of an answer.
function lift(value) {
  if (typeof value !== 'object' || value === null) return value;
  if (global.Array.isArray(value)) return value.map(lift);
  return wrap(value.$i, value.$h);
}

// ---- Interfaces

const method = (name, length, body) => {
  // A method's shorthand: it has no prototype and cannot be constructed.
  const made = {[name](...values) { return body(this, values); }}[name];
  defineProperty(made, 'length', {value: length, configurable: true});
  return made;
};

function addOperation(owner, prototype, name, overloads) {
  const {length, convert} = conversion.argumentsOf(overloads.map(each => each.arguments), name);
  const returnsPromise = typeof overloads[0].returns === 'object' && Object.hasOwn(overloads[0].returns, 'promise');
  const hook = special[`${owner}.${name}`];
  const body = (self, values) => {
    const slot = slotOf(self);
    if (slot === undefined || !isA(slot, owner)) throw new TypeError(`${name}: Illegal invocation, this must be an ${owner}`);
    const call = {views: []};
    const converted = convert(values, call);
    const answer = request(owner, name, slot.handle, converted, call, hook?.written(converted));
    const finish = hook ? hook.finish(answer, converted, call) : () => lift(answer.value);
    if (!returnsPromise) return finish();
    return new Promise((resolve, reject) => queueTask(() => { try { resolve(finish()); } catch (error) { reject(error); } }));
  };
  const safe = (self, values) => { try { return body(self, values); } catch (error) { return Promise.reject(error); } };
  defineProperty(prototype, name, {value: method(name, length, returnsPromise ? safe : body), writable: true, enumerable: true, configurable: true});
}

function addAttribute(owner, prototype, {name}) {
  const {get} = Reflect.getOwnPropertyDescriptor({get [name]() {
    const slot = slotOf(this);
    if (slot === undefined || !isA(slot, owner)) throw new TypeError(`${name}: Illegal invocation, this must be an ${owner}`);
    return lift(request(owner, name, slot.handle, [], {views: []}).value);
  }}, name);
  defineProperty(prototype, name, {get, set: undefined, enumerable: true, configurable: true});
}

function addInterface(name, definition) {
  const constructors = definition.constructors ?? [];
  const {length, convert} = constructors.length ? conversion.argumentsOf(constructors, name) : {length: 0};
  const Interface = function (...values) {
    if (!constructors.length) throw new TypeError(`${name}: Illegal constructor`);
    if (new.target === undefined) throw new TypeError(`${name}: needs the operator new`);
    const call = {views: []};
    const {value} = request(name, 'constructor', null, convert(values, call), call);
    const prototype = new.target.prototype;
    return wrap(name, value.$h, conversion.isObject(prototype) ? prototype : prototypes.get(name));
  };
  defineProperty(Interface, 'name', {value: name, configurable: true});
  defineProperty(Interface, 'length', {value: length, configurable: true});
  const prototype = Object.create(definition.inherits === undefined ? Object.prototype : prototypes.get(definition.inherits));
  defineProperty(Interface, 'prototype', {value: prototype, writable: false, enumerable: false, configurable: false});
  defineProperty(prototype, 'constructor', {value: Interface, writable: true, enumerable: false, configurable: true});
  defineProperty(prototype, Symbol.toStringTag, {value: name, writable: false, enumerable: false, configurable: true});
  prototypes.set(name, prototype);
  addMembers(name, prototype, definition);
  defineProperty(global, name, {value: Interface, writable: true, enumerable: false, configurable: true});
}

function addMembers(name, prototype, definition) {
  for (const attribute of definition.attributes ?? []) addAttribute(name, prototype, attribute);
  const operations = new Map();
  for (const operation of definition.operations ?? []) {
    if (!operations.has(operation.name)) operations.set(operation.name, []);
    operations.get(operation.name).push(operation);
  }
  for (const [each, overloads] of operations) addOperation(name, prototype, each, overloads);
}

for (const [name, definition] of Object.entries(idl.interfaces)) addInterface(name, definition);

return {inspect: conversion.inspect, wrap};
})
