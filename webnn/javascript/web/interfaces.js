// What the interfaces of the web have in common, for an engine that has none: https://webidl.spec.whatwg.org/#js-interfaces
(function (global) {
'use strict';
const {Object, Reflect, Set, Symbol, TypeError} = global;

// The prototypes of interfaces. An object that has one of them is none that structured cloning knows, unless it says so.
const prototypes = new Set();

// Finish the class of an interface: its members are enumerable, and it has a tag.
function finish(Interface, name = Interface.name) {
  const {prototype} = Interface;
  for (const [owner, hidden] of [[prototype, 'constructor'], [Interface, 'prototype']]) {
    for (const key of Reflect.ownKeys(owner)) {
      if (typeof key === 'string' && ![hidden, 'name', 'length'].includes(key)) Object.defineProperty(owner, key, {enumerable: true});
    }
  }
  Object.defineProperty(prototype, Symbol.toStringTag, {value: name, configurable: true});
  prototypes.add(prototype);
  return Interface;
}

// Numbers that an interface and its instances show.
function addConstants(Interface, constants) {
  for (const [name, value] of Object.entries(constants)) {
    for (const owner of [Interface, Interface.prototype]) Object.defineProperty(owner, name, {value, enumerable: true});
  }
}

// What `onabort` and the like are: https://html.spec.whatwg.org/#event-handler-attributes. `listen` adds a listener to the target.
function addHandler(owner, type, listen, call = (handler, self, event) => Reflect.apply(handler, self, [event])) {
  const handlers = new global.WeakMap();
  Object.defineProperty(owner, `on${type}`, {
    get() { return handlers.get(this ?? global) ?? null; },
    set(value) {
      const self = this ?? global, isHandler = (typeof value === 'object' && value !== null) || typeof value === 'function';
      if (!handlers.has(self)) {
        if (!isHandler) return;
        listen(self, type, event => {
          const handler = handlers.get(self);
          if (typeof handler === 'function' && call(handler, self, event) === (event.type === 'error' && self === global)) event.preventDefault();
        });
      }
      handlers.set(self, isHandler ? value : null);
    },
    enumerable: true, configurable: true,
  });
}

// A dictionary: an object, or nothing.
function dictionary(value, name) {
  if (value === undefined || value === null) return {};
  if (typeof value !== 'object' && typeof value !== 'function') throw new TypeError(`${name} must be an object, got ${String(value)}`);
  return value;
}

function needs(name, values, count) {
  if (values.length < count) throw new TypeError(`${name} needs ${count} argument${count === 1 ? '' : 's'}, got ${values.length}`);
}

return {addConstants, addHandler, dictionary, finish, needs, prototypes};
})
