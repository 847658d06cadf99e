// URL: https://url.spec.whatwg.org/#url-class. The host takes addresses apart: `parse(text, base)` returns the components, null if there are
// none, and `change(address, name, value)` those of the changed address.
(function (global, host, params, interfaces) {
'use strict';
const {parse, change} = host, {URLSearchParams, follow} = params, {finish, needs} = interfaces;
const {Object, TypeError, WeakMap} = global;
const COMPONENTS = ['protocol', 'username', 'password', 'host', 'hostname', 'port', 'pathname', 'search', 'hash'];
const convert = value => `${value}`.toWellFormed();

const states = new WeakMap();
function stateOf(self) {
  const state = states.get(self);
  if (state === undefined) throw new TypeError('Illegal invocation, this must be a URL');
  return state;
}
function find(values) {
  const [text, base] = values;
  return parse(convert(text), base === undefined ? undefined : convert(base));
}
function need(parts, text) {
  if (parts === null) throw new TypeError(`Invalid URL: ${text}`);
  return parts;
}
function set(state, name, value) {
  state.parts = need(change(state.parts.href, name, convert(value)), value);
  if (state.params !== null && (name === 'href' || name === 'search')) state.update(state.parts.search);
}

class URL {
  constructor(url, base = undefined) {
    needs('URL', arguments, 1);
    states.set(this, {parts: need(find([url, base]), url), params: null, update: null});
  }
  static canParse(url, base = undefined) { needs('canParse', arguments, 1); return find([url, base]) !== null; }
  static parse(url, base = undefined) {
    needs('parse', arguments, 1);
    return find([url, base]) === null ? null : new URL(url, base);
  }
  get href() { return stateOf(this).parts.href; }
  set href(value) { set(stateOf(this), 'href', value); }
  get origin() { return stateOf(this).parts.origin; }
  get searchParams() {
    const state = stateOf(this);
    if (state.params === null) {
      state.params = new URLSearchParams(state.parts.search);
      state.update = follow(state.params, query => { state.parts = change(state.parts.href, 'search', query); });
    }
    return state.params;
  }
  toString() { return stateOf(this).parts.href; }
  toJSON() { return stateOf(this).parts.href; }
}
for (const name of COMPONENTS) {
  Object.defineProperty(URL.prototype, name, Object.getOwnPropertyDescriptor({
    get [name]() { return stateOf(this).parts[name]; },
    set [name](value) { set(stateOf(this), name, value); },
  }, name));
}
finish(URL);

return {URL};
})
