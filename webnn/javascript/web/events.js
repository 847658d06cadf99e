// Events and their targets, https://dom.spec.whatwg.org/#events, without a tree: a target is the whole path.
(function (global, clock, report, interfaces) {
'use strict';
const {addConstants, dictionary, finish, needs} = interfaces;
const {Array, Object, Reflect, String, TypeError, WeakMap} = global;
const now = clock.now.bind(clock);

// ---- Event

const NONE = 0, AT_TARGET = 2;
const states = new WeakMap();
function stateOf(event) {
  const state = states.get(event);
  if (state === undefined) throw new TypeError('Illegal invocation, this must be an Event');
  return state;
}
// `isTrusted` belongs to each event itself, and cannot be changed.
const {get: getIsTrusted} = Object.getOwnPropertyDescriptor({get isTrusted() { return stateOf(this).isTrusted; }}, 'isTrusted');

class Event {
  constructor(type, init = undefined) {
    needs('Event', arguments, 1);
    const name = `${type}`, {bubbles, cancelable, composed} = dictionary(init, 'Event: the second argument');
    states.set(this, {
      type: name, bubbles: !!bubbles, cancelable: !!cancelable, composed: !!composed, target: null, currentTarget: null, phase: NONE,
      timeStamp: now(), isTrusted: false, isDispatched: false, isStopped: false, isStoppedNow: false, isCanceled: false, isPassive: false,
    });
    Object.defineProperty(this, 'isTrusted', {get: getIsTrusted, enumerable: true});
  }
  get type() { return stateOf(this).type; }
  get target() { return stateOf(this).target; }
  get srcElement() { return stateOf(this).target; }
  get currentTarget() { return stateOf(this).currentTarget; }
  get eventPhase() { return stateOf(this).phase; }
  get bubbles() { return stateOf(this).bubbles; }
  get cancelable() { return stateOf(this).cancelable; }
  get composed() { return stateOf(this).composed; }
  get timeStamp() { return stateOf(this).timeStamp; }
  get defaultPrevented() { return stateOf(this).isCanceled; }
  get returnValue() { return !stateOf(this).isCanceled; }
  set returnValue(value) { if (!value) cancel(stateOf(this)); }
  get cancelBubble() { return stateOf(this).isStopped; }
  set cancelBubble(value) { if (value) stateOf(this).isStopped = true; }
  composedPath() {
    const {currentTarget} = stateOf(this);
    return currentTarget === null ? [] : [currentTarget];
  }
  stopPropagation() { stateOf(this).isStopped = true; }
  stopImmediatePropagation() { Object.assign(stateOf(this), {isStopped: true, isStoppedNow: true}); }
  preventDefault() { cancel(stateOf(this)); }
  initEvent(type, bubbles = false, cancelable = false) {
    needs('initEvent', arguments, 1);
    initialize(stateOf(this), `${type}`, bubbles, cancelable);
  }
}
function cancel(state) {
  if (state.cancelable && !state.isPassive) state.isCanceled = true;
}
function initialize(state, type, bubbles, cancelable) {
  if (state.isDispatched) return false;
  Object.assign(state, {type, bubbles: !!bubbles, cancelable: !!cancelable, target: null});
  Object.assign(state, {isTrusted: false, isStopped: false, isStoppedNow: false, isCanceled: false});
  return true;
}
finish(Event);
addConstants(Event, {NONE, CAPTURING_PHASE: 1, AT_TARGET, BUBBLING_PHASE: 3});

// ---- The events with more members. A member is its value where the event's maker gives none, and what converts a given one; a member
// without such a value must be given.

const text = value => `${value}`, number = value => value >>> 0;
function object(value) {
  if ((typeof value === 'object' && value !== null) || typeof value === 'function') return value;
  throw new TypeError(`promise must be an object, got ${String(value)}`);
}
function kindOfEvent(name, members) {
  const values = new WeakMap(), required = Object.values(members).filter(member => !('missing' in member)).length;
  const Kind = {[name]: class extends Event {
    constructor(type, init = undefined) {
      needs(name, arguments, 1 + required);
      super(type, init);
      const given = dictionary(init, `${name}: the second argument`), own = {};
      for (const [member, rule] of Object.entries(members)) {
        const value = given[member];
        if (value === undefined && !('missing' in rule)) throw new TypeError(`${name}: ${member} must be given`);
        own[member] = value === undefined ? rule.missing : rule.convert ? rule.convert(value) : value;
      }
      values.set(this, own);
    }
  }}[name];
  Object.defineProperty(Kind, 'length', {value: 1 + required, configurable: true});
  const own = event => {
    const found = values.get(event);
    if (found === undefined) throw new TypeError(`Illegal invocation, this must be a ${name}`);
    return found;
  };
  for (const member of Object.keys(members)) {
    const {get} = Object.getOwnPropertyDescriptor({get [member]() { return own(this)[member]; }}, member);
    Object.defineProperty(Kind.prototype, member, {get, set: undefined, enumerable: true, configurable: true});
  }
  return {Kind: finish(Kind, name), own};
}

const {Kind: CustomEvent, own: customOf} = kindOfEvent('CustomEvent', {detail: {missing: null}});
CustomEvent.prototype.initCustomEvent = function initCustomEvent(type, bubbles = false, cancelable = false, detail = null) {
  const own = customOf(this);
  needs('initCustomEvent', arguments, 1);
  if (initialize(stateOf(this), `${type}`, bubbles, cancelable)) own.detail = detail;
};
const [missingText, missingNumber] = [{missing: '', convert: text}, {missing: 0, convert: number}];
const {Kind: ErrorEvent} = kindOfEvent('ErrorEvent', {
  message: missingText, filename: missingText, lineno: missingNumber, colno: missingNumber, error: {missing: undefined},
});
const {Kind: PromiseRejectionEvent} = kindOfEvent('PromiseRejectionEvent', {promise: {convert: object}, reason: {missing: undefined}});
const {Kind: MessageEvent} = kindOfEvent('MessageEvent', {
  data: {missing: null}, origin: missingText, lastEventId: missingText, source: {missing: null},
  ports: {missing: Object.freeze([]), convert: value => Object.freeze(Array.from(value))},
});

// ---- EventTarget

// The listeners of each target: {type, callback, capture, once, passive, removed}.
const lists = new WeakMap();
function listOf(self) {
  const list = lists.get(self ?? global);
  if (list === undefined) throw new TypeError('Illegal invocation, this must be an EventTarget');
  return list;
}
const flagsOf = options => typeof options === 'object' && options !== null || typeof options === 'function' ? options : {capture: options};

class EventTarget {
  constructor() { lists.set(this, []); }
  addEventListener(type, callback, options = undefined) {
    const list = listOf(this);
    needs('addEventListener', arguments, 2);
    const name = `${type}`, {capture, once, passive, signal} = flagsOf(options);
    if (signal !== undefined && !aborts.has(signal)) throw new TypeError('addEventListener: options.signal must be an AbortSignal');
    checkCallback('addEventListener', callback);
    if (callback === null || callback === undefined || (signal !== undefined && aborts.get(signal).isAborted)) return;
    if (list.some(each => each.type === name && each.callback === callback && each.capture === !!capture)) return;
    const listener = {type: name, callback, capture: !!capture, once: !!once, passive: !!passive, isRemoved: false};
    list.push(listener);
    if (signal !== undefined) aborts.get(signal).steps.push(() => remove(list, listener));
  }
  removeEventListener(type, callback, options = undefined) {
    const list = listOf(this);
    needs('removeEventListener', arguments, 2);
    const name = `${type}`, {capture} = flagsOf(options);
    checkCallback('removeEventListener', callback);
    const found = list.find(each => each.type === name && each.callback === callback && each.capture === !!capture);
    if (found !== undefined) remove(list, found);
  }
  dispatchEvent(event) {
    listOf(this);
    needs('dispatchEvent', arguments, 1);
    const state = states.get(event);
    if (state === undefined) throw new TypeError('dispatchEvent: the argument must be an Event');
    if (state.isDispatched) throw new global.DOMException('dispatchEvent: the event is being dispatched', 'InvalidStateError');
    state.isTrusted = false;
    return dispatch(this ?? global, event);
  }
}
finish(EventTarget);
function checkCallback(name, callback) {
  if (typeof callback !== 'object' && typeof callback !== 'function' && callback !== undefined) {
    throw new TypeError(`${name}: the listener must be a function, an object or null, got ${String(callback)}`);
  }
}
function remove(list, listener) {
  listener.isRemoved = true;
  const index = list.indexOf(listener);
  if (index >= 0) list.splice(index, 1);
}

// Call the listeners of a target; returns whether nobody prevented what would follow.
function dispatch(target, event) {
  const state = states.get(event);
  Object.assign(state, {isDispatched: true, target, phase: AT_TARGET, currentTarget: target});
  for (const capture of [true, false]) {
    if (state.isStopped) break;
    for (const listener of [...lists.get(target)]) {
      if (listener.isRemoved || listener.type !== state.type || listener.capture !== capture) continue;
      if (listener.once) remove(lists.get(target), listener);
      state.isPassive = listener.passive;
      try {
        const {callback} = listener;
        if (typeof callback === 'function') Reflect.apply(callback, target, [event]); else handle(callback, event);
      } catch (error) {
        report(error);
      }
      state.isPassive = false;
      if (state.isStoppedNow) break;
    }
  }
  Object.assign(state, {isDispatched: false, phase: NONE, currentTarget: null, isStopped: false, isStoppedNow: false});
  return !state.isCanceled;
}
function handle(callback, event) {
  const {handleEvent} = callback;
  if (typeof handleEvent !== 'function') throw new TypeError('the listener has no method handleEvent');
  Reflect.apply(handleEvent, callback, [event]);
}

// What the host itself dispatches can be trusted.
function fire(target, event) {
  states.get(event).isTrusted = true;
  return dispatch(target, event);
}
function listen(target, type, callback) {
  lists.get(target).push({type, callback, capture: false, once: false, passive: false, isRemoved: false});
}
const adopt = target => { lists.set(target, []); };
// What signals have, by their objects (abort.js): {isAborted, steps}.
const aborts = new WeakMap();

return {aborts, adopt, fire, listen, names: {CustomEvent, ErrorEvent, Event, EventTarget, MessageEvent, PromiseRejectionEvent}};
})
