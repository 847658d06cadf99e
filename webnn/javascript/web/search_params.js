// URLSearchParams: https://url.spec.whatwg.org/#interface-urlsearchparams, for an engine that has none.
(function (global, decodeUtf8, interfaces) {
'use strict';
const {finish} = interfaces;
const {Array, Number, Object, Reflect, String, Symbol, TypeError, WeakMap} = global;
const {encodeURIComponent} = global;

// ---- application/x-www-form-urlencoded: https://url.spec.whatwg.org/#application/x-www-form-urlencoded

const unescape = text => text.replaceAll('+', ' ').replace(/(?:%[0-9a-f]{2})+/gi, escapes =>
  decodeUtf8(escapes.slice(1).split('%').map(digits => Number.parseInt(digits, 16))));
const parse = text => text.split('&').filter(each => each !== '').map(each => {
  const end = each.indexOf('=');
  return end < 0 ? [unescape(each), ''] : [unescape(each.slice(0, end)), unescape(each.slice(end + 1))];
});
const escape = text => encodeURIComponent(text).replace(/[!'()~]|%20/g, each =>
  each === '%20' ? '+' : `%${each.charCodeAt(0).toString(16).toUpperCase()}`);

// ---- The interface

const convert = value => `${value}`.toWellFormed();
const lists = new WeakMap();
function listOf(self) {
  const list = lists.get(self);
  if (list === undefined) throw new TypeError('Illegal invocation, this must be a URLSearchParams');
  return list;
}
function require(name, values, count) {
  if (values.length < count) throw new TypeError(`${name} needs ${count} argument${count === 1 ? '' : 's'}, got ${values.length}`);
}

// The pairs that the constructor's argument stands for: a sequence of pairs, a record, or a text.
function pairsOf(init) {
  if (init === undefined) return [];
  if ((typeof init !== 'object' || init === null) && typeof init !== 'function') return parse(convert(init).replace(/^\?/, ''));
  if ((init[Symbol.iterator] ?? undefined) !== undefined) {
    return Array.from(init, pair => {
      const values = Array.from(pair, convert);
      if (values.length !== 2) throw new TypeError(`URLSearchParams: each pair must have two elements, got ${values.length}`);
      return values;
    });
  }
  const record = new global.Map();
  for (const key of Reflect.ownKeys(init)) {
    if (Reflect.getOwnPropertyDescriptor(init, key)?.enumerable) record.set(convert(key), convert(init[key]));
  }
  return [...record];
}

// Iterators look at the list as it is when they are asked.
const iterators = new WeakMap();
const IteratorPrototype = Object.getPrototypeOf(Object.getPrototypeOf([][Symbol.iterator]()));
const iteratorPrototype = Object.create(IteratorPrototype, {
  next: {value: function next() {
    const state = iterators.get(this);
    if (state === undefined) throw new TypeError('Illegal invocation, this must be a URLSearchParams Iterator');
    const pair = state.list[state.index++];
    return pair === undefined ? {value: undefined, done: true} : {value: state.show(pair), done: false};
  }, writable: true, enumerable: true, configurable: true},
  [Symbol.toStringTag]: {value: 'URLSearchParams Iterator', configurable: true},
});
function iterate(list, show) {
  const iterator = Object.create(iteratorPrototype);
  iterators.set(iterator, {list, index: 0, show});
  return iterator;
}

class URLSearchParams {
  constructor(init = undefined) { lists.set(this, pairsOf(init)); }
  get size() { return listOf(this).length; }
  append(...values) {
    const list = listOf(this);
    require('append', values, 2);
    list.push([convert(values[0]), convert(values[1])]);
    changed(this);
  }
  delete(...values) {
    const list = listOf(this);
    require('delete', values, 1);
    const gone = matcher(values);
    for (let index = list.length - 1; index >= 0; index--) if (gone(list[index])) list.splice(index, 1);
    changed(this);
  }
  get(...values) {
    const list = listOf(this);
    require('get', values, 1);
    return list.find(matcher(values.slice(0, 1)))?.[1] ?? null;
  }
  getAll(...values) {
    const list = listOf(this);
    require('getAll', values, 1);
    return list.filter(matcher(values.slice(0, 1))).map(([, value]) => value);
  }
  has(...values) {
    const list = listOf(this);
    require('has', values, 1);
    return list.some(matcher(values));
  }
  set(...values) {
    const list = listOf(this);
    require('set', values, 2);
    const [name, value] = values.map(convert), first = list.findIndex(([each]) => each === name);
    if (first < 0) list.push([name, value]); else list[first][1] = value;
    for (let index = list.length - 1; first >= 0 && index > first; index--) if (list[index][0] === name) list.splice(index, 1);
    changed(this);
  }
  // By code units, and stable, as `sort` is.
  sort() {
    listOf(this).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
    changed(this);
  }
  toString() { return serialize(listOf(this)); }
  entries() { return iterate(listOf(this), ([name, value]) => [name, value]); }
  keys() { return iterate(listOf(this), ([name]) => name); }
  values() { return iterate(listOf(this), ([, value]) => value); }
  forEach(callback, self = undefined) {
    const list = listOf(this);
    if (typeof callback !== 'function') throw new TypeError('forEach needs a function');
    for (let index = 0; index < list.length; index++) Reflect.apply(callback, self, [list[index][1], list[index][0], this]);
  }
}
// The pairs of a name, and of a value if one is given.
function matcher([first, second]) {
  const name = convert(first), value = second === undefined ? undefined : convert(second);
  return ([each, other]) => each === name && (value === undefined || other === value);
}
const {prototype} = URLSearchParams;
Object.defineProperty(prototype, Symbol.iterator, {value: prototype.entries, writable: true, enumerable: false, configurable: true});
finish(URLSearchParams);

// The parameters of an address tell it when they change, and it tells them: returns a function that takes the new query.
const followers = new WeakMap();
const changed = self => followers.get(self)?.(serialize(lists.get(self)));
function follow(params, callback) {
  followers.set(params, callback);
  return query => { lists.get(params).splice(0, Infinity, ...parse(query.replace(/^\?/, ''))); };
}
const serialize = list => list.map(([name, value]) => `${escape(name)}=${escape(value)}`).join('&');

return {URLSearchParams, follow};
})
