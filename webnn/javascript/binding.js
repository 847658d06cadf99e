// The interfaces of the IDL, for JavaScript: https://webidl.spec.whatwg.org/#js-interfaces. Everything is made from the IDL as data; what
// needs code of its own stands in navigator.js.
//
// `transport.send(text, buffers)` is the one call to Python: it takes a text and byte arrays, and returns a text and a list of what came
// back, each with `size` and with the methods `copyTo(bytes)` and `take()`, which returns a buffer: one of them works once, until the next
// call. A host may also have `transport.tell(text, buffers, now)`, which sends a request without an answer, `now` or with the next one, and
// `transport.makeForesight`, which finds out what needs no answer (foresight.js). Where operations go on after the first answer, that has their
// number, `pending`, and `transport.wait(number, settle, fail)` calls one of the functions with what `send` returns, or an error, in a later
// task. There, `transport.start(text, buffers)` starts an operation without waiting and returns its number, undefined if that is not possible at
// the moment. `queueTask(callback)` runs a callback in a later task.
// `makeSpecial` makes the hooks of members that need code (navigator.js has their form). `markAsUncloneable(object)`, which a browser and older
// versions of Node do not have, makes structured cloning of an object fail: no interface of the IDL is serializable. `warnings` are
// conversion.js's. `evaluate(text)` is given by hosts whose engine makes objects faster of a literal than with JSON.parse. `hasWebGPU`: the program
// has a WebGPU of its own, which `transport.makeBridge` (webgpu.js) connects.
(function (global, idl, makeConversion, transport, queueTask, externals, makeSpecial, markAsUncloneable, warnings, evaluate, hasWebGPU) {
'use strict';
const {DOMException, JSON, Map, Object, Promise, Reflect, Symbol, TypeError, Uint8Array, WeakMap, WeakRef} = global;
const {defineProperty} = Object, {send, tell, start, makeForesight, makeBridge} = transport;

// ---- Objects: each stands for a Python object, which a number names

// What is known of an object: {name, handle, owner, facts, attributes}: its interface, its number, the slot of the object that made it, what
// Python said of its attributes when it was made, and the values of its attributes, which never change. Those of WebGPU have the object, `ref`:
// Python may name it again.
const slots = new WeakMap();
const living = new Map();
const prototypes = new Map();
const dropped = [];
// How many of them a request names: a garbage collector may drop very many at once, and the text of a request is bounded.
const MOST_DROPPED = 65536;
// A handle of WebGPU may have been given to another object meanwhile.
const registry = global.FinalizationRegistry && new global.FinalizationRegistry(slot => {
  if (living.get(slot.handle) !== slot) return;
  living.delete(slot.handle);
  dropped.push(slot.handle);
});

const slotOf = value => slots.get(value);
function isA(slot, name) {
  for (let each = slot.name; each !== undefined; each = idl.interfaces[each].inherits) if (each === name) return true;
  return false;
}

// Make an object that cannot be cloned. Where the host cannot mark one, it is a WeakRef by its nature: no engine clones those, and nothing else
// of a WeakRef is seen, because its methods are in the prototype that the object does not have.
const TARGET = {}, shells = new Map();
function makeObject(prototype) {
  if (markAsUncloneable !== undefined) {
    const object = Object.create(prototype);
    markAsUncloneable(object);
    return object;
  }
  if (!shells.has(prototype)) shells.set(prototype, defineProperty(function () {}, 'prototype', {value: prototype}));
  return Reflect.construct(WeakRef, [TARGET], shells.get(prototype));
}

// Make the object of an interface for a handle.
function wrap(name, handle, owner, facts, prototype = prototypes.get(name)) {
  const object = makeObject(prototype), slot = {name, handle, owner, facts, attributes: undefined};
  if (name === 'MLContext') slot.isLost = false;
  if (name.startsWith('GPU')) slot.ref = new WeakRef(object);
  slots.set(object, slot);
  living.set(handle, slot);
  registry?.register(object, slot);
  return object;
}

// The slot of the context that an object belongs to, undefined for `navigator.ml`.
function contextOf(slot) {
  let each = slot;
  while (each !== undefined && each.name !== 'MLContext') each = each.owner;
  return each;
}

// Who makes the objects that an answer names: set while it becomes a value.
let maker;
const objects = {
  interfaceOf: value => slotOf(value)?.name,
  handleOf(value, name) {
    const slot = slotOf(value) ?? (name === 'GPUDevice' ? bridge?.findDevice(value) : undefined);
    return slot !== undefined && isA(slot, name) ? slot.handle : undefined;
  },
  make: ({$i, $h, $a}) => living.get($h)?.ref?.deref() ?? wrap($i, $h, maker, $a),
};
function lift(lifter, value, owner) {
  maker = owner;
  return lifter(value);
}

const conversion = makeConversion(global, idl, objects, externals, warnings);
const special = makeSpecial(conversion.inspect, () => bridge);
// With dimensions that have names, an operation may depend on the elements of constants.
const dependsOnElements = Object.hasOwn(idl.typedefs, 'MLDimension');
const foresight = tell && makeForesight(global, handle => living.get(handle), contextOf, dependsOnElements);

// ---- The program's own WebGPU, if a draft has a use for it

const bridge = makeBridge && idl.interfaces.GPUBridge && makeBridge(global, {
  slotOf,
  request: (interfaceName, member, slot, values, views) => request(interfaceName, member, slot, values, {views}),
  adopt(object, name, handle) {
    const slot = {name, handle, owner: undefined, ref: new WeakRef(object)};
    slots.set(object, slot);
    living.set(handle, slot);
    registry?.register(object, slot);
    return slot;
  },
  objectOf: handle => living.get(handle)?.ref.deref(),
  forget: handle => dropped.push(handle),
  settle: () => { for (const each of awaited.splice(0)) settleAwaited(...each); },
});

// Where operations do not go on after the first answer, a read may still wait for bytes of a buffer of WebGPU.
const awaited = [];
const wait = transport.wait ?? ((...operation) => awaited.push(operation));
function settleAwaited(number, accept, fail) {
  let answered;
  try { answered = send(`{"result":${number}}`, []); } catch (error) { fail(error); return; }
  if (JSON.parse(answered[0]).pending === undefined) accept(answered); else awaited.push([number, accept, fail]);
}

// ---- Calls

const ERRORS = {TypeError, RangeError: global.RangeError, Error: global.Error};
const makeError = ([name, message]) => Object.hasOwn(ERRORS, name) ? new ERRORS[name](message) : new DOMException(message, name);

// How a call is made: it waits for the answer; or it is told without one if that is certain; or it is an operation that is started if possible,
// or if it is certain, too, that Python begins it.
const WAITS = 'waits', TELLS = 'tells if certain', STARTS = 'starts', STARTS_IF_CERTAIN = 'starts if certain';

// Call a member of a Python object. `call.views` are the views among the arguments; what lies in those of `written`, which are written
// to, need not travel. Returns the answer as it came: {value, buffers}. That of an operation that was started has its number, `pending`, and
// the `mark` of foresight.js.
function request(interfaceName, member, slot, values, call, written = [], how = TELLS) {
  const buffers = [], views = [], seen = [];
  for (const [index, source] of call.views.entries()) {
    const {kind, buffer, offset, length, detached} = conversion.inspect(source), sent = !written.includes(index);
    if (sent) buffers.push(detached ? new Uint8Array() : new Uint8Array(buffer, offset, length));
    // Views of one buffer share its number, so that Python sees them share their memory.
    if (!seen.includes(buffer)) seen.push(buffer);
    views.push({kind, buffer: seen.indexOf(buffer), offset, length, detached, sent});
  }
  const parts = [interfaceName, member, slot?.handle ?? null, values, views];
  // Not put together of texts: quickjs-ng's Python package cannot take those that are longer than about 8 KiB.
  const ended = dropped.splice(0, MOST_DROPPED), text = JSON.stringify([...parts, ended]);
  const mayBeCertain = foresight && (how === TELLS || how === STARTS_IF_CERTAIN);
  const head = mayBeCertain && (ended.length > 0 ? JSON.stringify(parts).slice(0, -1) : text.slice(0, -',[]]'.length));
  const key = mayBeCertain ? foresight.keyOf(interfaceName, member, slot, values, views, head) : undefined;
  const known = key && foresight.foresee(key), tells = how === TELLS && known !== undefined;
  if (how === STARTS || (how === STARTS_IF_CERTAIN && known !== undefined)) {
    const pending = start(text, buffers);
    if (pending !== undefined) {
      foresight.sending(member, slot, false);
      return {pending, mark: foresight.mark()};
    }
  }
  foresight?.sending(member, slot, !tells);
  if (tells) {
    tell(`${text.slice(0, -1)},${JSON.stringify(known.handles)}]`, buffers, member === 'dispatch');
    if (member === 'dispatch') settleLater();
    return {value: known.value, buffers: []};
  }
  const answer = exchange(text, buffers, member);
  if (key !== undefined) foresight.learn(key, interfaceName === 'MLContext' ? null : answer.value);
  return answer;
}

function exchange(text, buffers, member) {
  const answered = send(text, buffers);
  foresight?.settle();
  return read(answered, member);
}

// What an answer says: {value, buffers, pending}; an error is thrown.
function read([text, buffers], member) {
  const {value, pending, error, lost} = JSON.parse(text);
  // Who destroys a context loses it at once; otherwise it is lost in a task of its own.
  if (lost !== undefined) tellLost(lost, member === 'destroy' ? lose => lose() : queueTask);
  if (error) throw makeError(error);
  return {value, buffers, pending};
}

// Contexts are lost: [[handle, message], ...].
function tellLost(lost, run) {
  for (const [context, message] of lost) {
    const slot = living.get(context);
    if (slot !== undefined) slot.isLost = true;
    run(() => special.lose(slot, message));
  }
}

// A program that waits for nothing else is told of a lost context, too.
const NOTHING = '"nothing"';
let willSettle = false;
function settleLater() {
  if (willSettle) return;
  willSettle = true;
  queueTask(() => {
    willSettle = false;
    if (foresight.willSettle()) return;
    const number = start?.(NOTHING, []), mark = foresight.mark();
    if (number === undefined) exchange(NOTHING, []); else wait(number, answered => { foresight.settle(mark); read(answered); }, () => {});
  });
}

// ---- Interfaces

const method = (name, length, body) => {
  // A method's shorthand: it has no prototype and cannot be constructed.
  const made = {[name](...values) { return body(this, values); }}[name];
  defineProperty(made, 'length', {value: length, configurable: true});
  return made;
};

function checkBrand(self, owner, name) {
  const slot = slotOf(self);
  if (slot === undefined || !isA(slot, owner)) throw new TypeError(`${name}: Illegal invocation, this must be an ${owner}`);
  return slot;
}

const isPromise = type => typeof type === 'object' && Object.hasOwn(type, 'promise');
// What returns a promise throws nothing: the promise is rejected.
const rejecting = body => (...values) => { try { return body(...values); } catch (error) { return Promise.reject(error); } };

// What makes the value of each answer that never changes, by the number that Python gives to the answer.
const constants = [];
// Names of members are the IDL's: none is `__proto__`, which means something else in a literal than in JSON.
const makerOf = text => evaluate === undefined ? () => JSON.parse(text) : evaluate(`() => (${text})`);
// Return the value of an operation whose answer for an object never changes. Python is asked once; each call makes a new value.
function recall(slot, member, ask, lifter) {
  const known = slot.constants ??= new Map();
  if (!known.has(member)) {
    const {$c: number, value} = ask().value;
    if (value !== undefined) constants[number] = makerOf(JSON.stringify(lift(lifter, value, slot)));
    known.set(member, constants[number]);
  }
  return known.get(member)();
}

function addOperation(owner, prototype, name, overloads) {
  const {length, convert} = conversion.argumentsOf(overloads.map(each => each.arguments), name);
  const {returns} = overloads[0], returnsPromise = isPromise(returns);
  const lifter = conversion.lifter(returns), hook = special.operations[`${owner}.${name}`];
  const how = !returnsPromise ? TELLS : start === undefined ? WAITS : hook?.begin === undefined ? STARTS : STARTS_IF_CERTAIN;
  const body = (self, values) => {
    const slot = checkBrand(self, owner, name), call = {views: []};
    const converted = convert(values, call);
    const ask = () => request(owner, name, slot, converted, call, hook?.written?.(converted), how);
    if (hook?.constant) return recall(slot, name, ask, lifter);
    const answer = ask(), begun = hook?.begin?.(converted, call);
    const finish = answered => hook?.finish?.(answered, converted, call, slot, begun) ?? (() => lift(lifter, answered.value, slot));
    if (!returnsPromise) return finish(answer)();
    const result = answer.pending === undefined ? finish(answer) : undefined;
    return new Promise((resolve, reject) => {
      const {pending, mark} = answer, context = contextOf(slot);
      const conclude = hook?.wait?.(converted, context, reject, mark === undefined) ?? (() => ({}));
      const settle = makeResult => {
        const end = conclude();
        if (end === undefined) return;
        try {
          const made = makeResult();
          if (end.error !== undefined) throw end.error;
          special.checkNotLost(context, name);
          resolve(made());
        } catch (error) { reject(error); }
      };
      if (result !== undefined) { queueTask(() => settle(() => result)); return; }
      const accept = answered => {
        if (mark !== undefined) foresight.settle(mark);
        settle(() => finish(read(answered)));
      };
      wait(pending, accept, error => settle(() => { throw error; }));
    });
  };
  const value = method(name, length, returnsPromise ? rejecting(body) : body);
  defineProperty(prototype, name, {value, writable: true, enumerable: true, configurable: true});
}

function addAttribute(owner, prototype, {name, type}) {
  const lifter = conversion.lifter(type), hook = special.attributes[`${owner}.${name}`];
  const body = self => {
    const slot = checkBrand(self, owner, name), attributes = slot.attributes ??= new Map();
    if (!attributes.has(name)) {
      const isKnown = slot.facts !== undefined && Object.hasOwn(slot.facts, name);
      const ask = () => lift(lifter, isKnown ? slot.facts[name] : request(owner, name, slot, [], {views: []}).value, slot);
      attributes.set(name, hook ? hook(slot) : ask());
    }
    return attributes.get(name);
  };
  const read = isPromise(type) ? rejecting(body) : body;
  const {get} = Reflect.getOwnPropertyDescriptor({get [name]() { return read(this); }}, name);
  defineProperty(prototype, name, {get, set: undefined, enumerable: true, configurable: true});
}

function addInterface(name, definition) {
  const constructors = definition.constructors ?? [];
  const {length, convert} = constructors.length ? conversion.argumentsOf(constructors, name) : {length: 0};
  const Interface = function (...values) {
    if (!constructors.length) throw new TypeError(`${name}: Illegal constructor`);
    if (new.target === undefined) throw new TypeError(`${name}: needs the operator new`);
    const call = {views: []};
    const converted = convert(values, call);
    const {value} = request(name, 'constructor', undefined, converted, call);
    const prototype = new.target.prototype, owner = living.get(converted[0]?.$h);
    return wrap(name, value.$h, owner, undefined, conversion.isObject(prototype) ? prototype : prototypes.get(name));
  };
  defineProperty(Interface, 'name', {value: name, configurable: true});
  defineProperty(Interface, 'length', {value: length, configurable: true});
  const prototype = Object.create(definition.inherits === undefined ? Object.prototype : prototypes.get(definition.inherits));
  defineProperty(Interface, 'prototype', {value: prototype, writable: false, enumerable: false, configurable: false});
  defineProperty(prototype, 'constructor', {value: Interface, writable: true, enumerable: false, configurable: true});
  defineProperty(prototype, Symbol.toStringTag, {value: name, writable: false, enumerable: false, configurable: true});
  prototypes.set(name, prototype);
  addMembers(name, prototype, definition);
  expose(name, Interface);
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

// A namespace has constants only, here.
function addNamespace(name, {constants}) {
  const namespace = {};
  for (const {name: each, value} of constants) {
    defineProperty(namespace, each, {value, writable: false, enumerable: true, configurable: false});
  }
  defineProperty(namespace, Symbol.toStringTag, {value: name, writable: false, enumerable: false, configurable: true});
  expose(name, namespace);
}

// A program that has WebGPU keeps its own.
const isHidden = name => idl.interfaces[name]?.hidden || (hasWebGPU && name.startsWith('GPU'));
const expose = (name, value) => isHidden(name) || defineProperty(global, name, {value, writable: true, enumerable: false, configurable: true});
for (const [name, definition] of Object.entries(idl.interfaces)) addInterface(name, definition);
for (const [name, definition] of Object.entries(idl.namespaces ?? {})) addNamespace(name, definition);

return {
  wrap, tellLost,
  // Every context is lost, without an answer that says so.
  loseAll(message) {
    for (const [handle, {name}] of [...living]) if (name === 'MLContext') tellLost([[handle, message]], queueTask);
  },
};
})
