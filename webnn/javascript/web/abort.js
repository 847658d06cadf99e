// AbortController and AbortSignal: https://dom.spec.whatwg.org/#aborting-ongoing-activities
(function (global, setTimeout, events, interfaces) {
'use strict';
const {aborts, adopt, fire, listen, names: {Event, EventTarget}} = events, {addHandler, finish, needs} = interfaces;
const {Array, DOMException, Math, Number, Object, Set, TypeError} = global;

function stateOf(self) {
  const state = aborts.get(self);
  if (state === undefined) throw new TypeError('Illegal invocation, this must be an AbortSignal');
  return state;
}
// A signal is aborted with its first source; `sources` are those that are no composition themselves.
function makeSignal() {
  const signal = Object.create(AbortSignal.prototype);
  adopt(signal);
  aborts.set(signal, {isAborted: false, reason: undefined, steps: [], sources: new Set(), dependents: new Set(), isComposed: false});
  return signal;
}
const abortError = () => new DOMException('signal is aborted without reason', 'AbortError');

function abort(signal, reason) {
  const state = aborts.get(signal);
  if (state.isAborted) return;
  const cause = reason === undefined ? abortError() : reason;
  const all = [signal, ...[...state.dependents].filter(each => !aborts.get(each).isAborted)];
  for (const each of all) Object.assign(aborts.get(each), {isAborted: true, reason: cause});
  for (const each of all) {
    for (const step of aborts.get(each).steps.splice(0)) step();
    fire(each, new Event('abort'));
  }
}

class AbortSignal extends EventTarget {
  constructor() { throw new TypeError('AbortSignal: Illegal constructor'); }
  static abort(reason = undefined) {
    const signal = makeSignal();
    Object.assign(aborts.get(signal), {isAborted: true, reason: reason === undefined ? abortError() : reason});
    return signal;
  }
  static timeout(milliseconds) {
    needs('timeout', arguments, 1);
    const delay = Number(milliseconds);
    if (!(delay > -1 && delay <= Number.MAX_SAFE_INTEGER)) throw new TypeError(`timeout: must be from 0 to 2^53 - 1, got ${milliseconds}`);
    const signal = makeSignal();
    setTimeout(() => abort(signal, new DOMException('signal timed out', 'TimeoutError')), Math.min(Math.trunc(delay), 2 ** 31 - 1));
    return signal;
  }
  static any(signals) {
    needs('any', arguments, 1);
    const given = Array.from(signals), result = makeSignal(), own = aborts.get(result);
    for (const signal of given) if (!aborts.has(signal)) throw new TypeError('any: each element must be an AbortSignal');
    const aborted = given.find(signal => aborts.get(signal).isAborted);
    if (aborted !== undefined) {
      Object.assign(own, {isAborted: true, reason: aborts.get(aborted).reason});
      return result;
    }
    own.isComposed = true;
    for (const signal of given) {
      const {isComposed, sources} = aborts.get(signal);
      for (const source of isComposed ? sources : [signal]) {
        own.sources.add(source);
        aborts.get(source).dependents.add(result);
      }
    }
    return result;
  }
  get aborted() { return stateOf(this).isAborted; }
  get reason() { return stateOf(this).reason; }
  throwIfAborted() {
    const {isAborted, reason} = stateOf(this);
    if (isAborted) throw reason;
  }
}
addHandler(AbortSignal.prototype, 'abort', (signal, type, callback) => { stateOf(signal); listen(signal, type, callback); });
finish(AbortSignal);

const signals = new global.WeakMap();
function signalOf(self) {
  const signal = signals.get(self);
  if (signal === undefined) throw new TypeError('Illegal invocation, this must be an AbortController');
  return signal;
}
class AbortController {
  constructor() { signals.set(this, makeSignal()); }
  get signal() { return signalOf(this); }
  abort(reason = undefined) { abort(signalOf(this), reason); }
}
finish(AbortController);

return {AbortController, AbortSignal};
})
