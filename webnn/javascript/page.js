// A window without a document, or a worker, in an engine that has ECMAScript only: what testharness.js and the tests of a JavaScript API use,
// and no more. A missing name is better than one that does not do what a page expects.
//
// `host` has `read(path)`, which returns a text or null, `log(level, text)`, `schedule(number, milliseconds)`, after which the host calls
// `fire(number)`, `cancel(number)`, `load(path)`, which runs a script and returns its error, "" if there is none, null if there is no such
// script, `script(name)`, the source of a file of the folder `web`, `random(size)`, and `parse` and `change` of web/url.js. `scope` is
// "window", or which kind of worker this is. `makeConsole(global, log)` is console.js.
(function (global, host, address, scope, evaluate, makeConsole) {
'use strict';
const {Array, Error, JSON, Map, Object, Promise, Reflect, Symbol, TypeError, WeakSet} = global;
const define = (name, value) => Object.defineProperty(global, name, {value, writable: true, enumerable: false, configurable: true});

define('self', global);
define('isSecureContext', true);
define('crossOriginIsolated', true);
define('GLOBAL', {isWindow: () => scope === 'window', isWorker: () => scope !== 'window', isShadowRealm: () => false});
define('location', Object.freeze({
  ...address, hash: '', href: address.origin + address.pathname + address.search, toString() { return this.href; },
}));

// What the host takes is text that any language can hold.
const log = (level, message) => host.log(level, message.toWellFormed().replaceAll('\0', '\u2400'));
const text = makeConsole(global, log);
const read = path => host.read(path.toWellFormed().replaceAll('\0', '\u2400'));

// ---- The interfaces of the web: their code is read when a program first asks for one of them

const uncloneable = new WeakSet();
const make = {
  interfaces: () => [],
  encoding: () => [need('interfaces')],
  search_params: () => [need('encoding').decodeUtf8, need('interfaces')],
  url: () => [host, need('search_params'), need('interfaces')],
  events: () => [engineClock, reportException, need('interfaces')],
  abort: () => [global.setTimeout, need('events'), need('interfaces')],
  clone: () => [need('interfaces').prototypes, value => uncloneable.has(value), need('interfaces')],
  crypto: () => [host.random, need('interfaces')],
  performance: () => [engineClock, need('clone').structuredClone, need('events').names, need('events').adopt, need('interfaces')],
};
const made = new Map();
function need(name) {
  if (!made.has(name)) made.set(name, evaluate(host.script(name))(global, ...make[name]()));
  if (name === 'events' && early !== null) startEvents();
  return made.get(name);
}
const engineClock = global.performance;
const LAZY = {
  abort: ['AbortController', 'AbortSignal'],
  clone: ['structuredClone'],
  crypto: ['Crypto', 'crypto'],
  encoding: ['TextDecoder', 'TextEncoder'],
  events: ['CustomEvent', 'ErrorEvent', 'Event', 'EventTarget', 'MessageEvent', 'PromiseRejectionEvent'],
  performance: ['Performance', 'PerformanceEntry', 'PerformanceMark', 'PerformanceMeasure', 'performance'],
  search_params: ['URLSearchParams'],
  url: ['URL'],
};
for (const [file, names] of Object.entries(LAZY)) {
  for (const name of names) {
    const get = () => {
      const {[name]: value} = need(file).names ?? need(file);
      define(name, value);
      return value;
    };
    Object.defineProperty(global, name, {get, set: value => define(name, value), enumerable: false, configurable: true});
  }
}

// ---- The global object: a window, or a worker's scope

function illegal(name, Parent = Object) {
  const Interface = {[name]: class extends Parent { constructor() { throw new TypeError(`${name}: Illegal constructor`); } }}[name];
  Object.defineProperty(Interface.prototype, Symbol.toStringTag, {value: name, configurable: true});
  return Interface;
}
const SCOPES = {dedicatedworker: 'DedicatedWorkerGlobalScope', sharedworker: 'SharedWorkerGlobalScope', serviceworker: 'ServiceWorkerGlobalScope'};
const Base = illegal(scope === 'window' ? 'Window' : 'WorkerGlobalScope'), Scope = scope === 'window' ? Base : illegal(SCOPES[scope], Base);
for (const each of new Set([Base, Scope])) define(each.name, each);
delete global[Symbol.toStringTag];
Object.setPrototypeOf(global, Scope.prototype);

// Listeners of the global object wait here until somebody needs events: most programs add some, and see none.
let early = [];
const FORWARDED = ['addEventListener', 'removeEventListener', 'dispatchEvent'];
const forward = (name, self, values) => Reflect.apply(need('events').names.EventTarget.prototype[name], self, values);
for (const name of FORWARDED) {
  const method = {[name](...values) {
    const [type, callback, options] = values, isPlain = typeof type === 'string' && typeof callback === 'function' && typeof options !== 'object';
    if (name === 'addEventListener' && early !== null && isPlain) { early.push(values); return undefined; }
    return forward(name, this, values);
  }}[name];
  Object.defineProperty(Base.prototype, name, {value: method, writable: true, enumerable: true, configurable: true});
}
const HANDLERS = ['error', 'unhandledrejection', 'rejectionhandled', 'message', 'messageerror'];
for (const type of HANDLERS) {
  const set = value => { need('events'); global[`on${type}`] = value; };
  Object.defineProperty(global, `on${type}`, {get: () => null, set, enumerable: true, configurable: true});
}
function startEvents() {
  const waiting = early, {adopt, listen, names: {EventTarget}} = made.get('events');
  early = null;
  adopt(global);
  for (const name of FORWARDED) delete Base.prototype[name];
  Object.setPrototypeOf(Base.prototype, EventTarget.prototype);
  for (const values of waiting) forward('addEventListener', global, values);
  const call = (handler, self, event) => Reflect.apply(handler, self, [event]);
  const callWithError = (handler, self, event) => event instanceof global.ErrorEvent ?
    Reflect.apply(handler, self, [event.message, event.filename, event.lineno, event.colno, event.error]) : call(handler, self, event);
  for (const type of HANDLERS) need('interfaces').addHandler(global, type, listen, type === 'error' ? callWithError : call);
}

// What only windows, or only workers, have.
if (scope === 'window') {
  define('window', global);
} else {
  define('importScripts', (...urls) => {
    for (const url of urls) {
      const refusal = host.load(pathOf(url).toWellFormed().replaceAll('\0', '\u2400'));
      if (refusal === null) throw new global.DOMException(`importScripts: there is no ${url}`, 'NetworkError');
      // What a script throws comes back as a text.
      const [, name, message] = /^(?:(\w*Error): )?(.*)/s.exec(refusal);
      if (refusal !== '') throw new (global[name] ?? Error)(message);
    }
  });
}
// Nobody is at the other end; but what cannot be sent is an error, as anywhere.
if (scope === 'dedicatedworker') {
  define('name', '');
  define('postMessage', (message, options) => { need('clone').structuredClone(message, Array.isArray(options) ? {transfer: options} : options); });
  define('close', () => {});
}

// ---- Errors that nobody caught, as the listeners of the global object see them

function reportError(message, error) {
  log('error', `Uncaught ${message}`);
  const {fire, names: {ErrorEvent}} = need('events');
  fire(global, new ErrorEvent('error', {message, filename: address.pathname, error, cancelable: true}));
}
// An error in a listener for errors is not reported again.
let isReporting = false;
function reportException(error) {
  if (isReporting) { log('error', `Uncaught ${text(error)}`); return; }
  isReporting = true;
  try { reportError(text(error), error); } finally { isReporting = false; }
}
define('reportError', function reportError(error) {
  if (arguments.length === 0) throw new TypeError('reportError needs 1 argument, got 0');
  reportException(error);
});
// The same for promises. The engine's host says when one is rejected that nobody handles, and when somebody does after all (rejections.py);
// `tellRejections` is called when there is no more to do at once.
let rejected = [];
const told = new WeakSet();
function noteRejection(promise, reason, isHandled) {
  const entry = rejected.find(each => each.promise === promise);
  if (!isHandled) {
    rejected.push({promise, reason, isHandled: false});
  } else if (entry !== undefined) {
    entry.isHandled = true;
  } else if (told.delete(promise)) {
    queueTask(() => fireRejection('rejectionhandled', {promise, reason}));
  }
}
const fireRejection = (type, init) => need('events').fire(global, new global.PromiseRejectionEvent(type, init));
function tellRejections() {
  // Listeners may reject more, and handle those that they have not been told of yet.
  const last = rejected.length;
  for (let index = 0; index < last; index++) {
    const {promise, reason, isHandled} = rejected[index];
    if (isHandled) continue;
    rejected[index].isHandled = true;
    told.add(promise);
    if (fireRejection('unhandledrejection', {promise, reason, cancelable: true})) log('error', `Uncaught (in promise) ${text(reason)}`);
  }
  rejected = rejected.slice(last);
  return last > 0;
}

// ---- Timers

const timers = new Map();
let lastTimer = 0;
function start(callback, milliseconds, values, repeats) {
  // The delay is a `long` of Web IDL: what is no number, or too large, is no delay.
  const number = ++lastTimer, delay = Math.max(0, milliseconds | 0);
  timers.set(number, {callback, values, delay, repeats});
  host.schedule(number, delay);
  return number;
}
define('setTimeout', (callback, milliseconds, ...values) => start(callback, milliseconds, values, false));
define('setInterval', (callback, milliseconds, ...values) => start(callback, milliseconds, values, true));
for (const name of ['clearTimeout', 'clearInterval']) define(name, number => { if (timers.delete(number | 0)) host.cancel(number | 0); });

// Tasks of the binding: they have numbers that a program cannot clear.
const tasks = new Map();
function queueTask(callback) {
  const number = -1 - ++lastTimer;
  tasks.set(number, callback);
  host.schedule(number, 0);
}

function fire(number) {
  const task = tasks.get(number);
  if (task !== undefined) {
    tasks.delete(number);
    return task();
  }
  const timer = timers.get(number);
  if (timer === undefined) return;
  if (timer.repeats) host.schedule(number, Math.max(1, timer.delay)); else timers.delete(number);
  try { timer.callback.apply(global, timer.values); } catch (error) { reportException(error); }
}

// ---- Files of the checkout, as its server would send them

function pathOf(url) {
  const path = `${url}`.startsWith(address.origin) ? `${url}`.slice(address.origin.length) : `${url}`;
  return path.startsWith('/') ? path : address.pathname.replace(/[^/]*$/, '') + path;
}
if (scope !== 'serviceworker') define('XMLHttpRequest', class XMLHttpRequest {
  readyState = 0; status = 0; responseText = '';
  #path;
  open(method, url, asynchronous = true) {
    if (`${method}`.toUpperCase() !== 'GET' || asynchronous) {
      throw new global.DOMException('this XMLHttpRequest only gets, and waits for the answer', 'NotSupportedError');
    }
    this.#path = pathOf(url);
    this.readyState = 1;
  }
  overrideMimeType() {}
  send() {
    const content = read(this.#path);
    this.readyState = 4;
    this.status = content === null ? 404 : 200;
    this.responseText = content ?? '';
  }
});
define('fetch', async url => {
  const content = read(pathOf(url)), body = content ?? '';
  const status = content === null ? 404 : 200;
  return {ok: status === 200, status, url: `${url}`, text: async () => body, json: async () => JSON.parse(body)};
});

const report = message => { reportError(message, undefined); };
const dispatch = type => { need('events').fire(global, new global.Event(type)); };
// The first promise that is rejected hands over the function that is told of the later ones.
const watch = () => { Promise.reject(noteRejection); };
// The host runs the bytecode of a script when this promise is rejected, and calls the function with the script's error (rejections.py).
const {reject} = Promise, {apply} = Reflect;
const run = () => {
  const failure = {isThrown: false, error: undefined};
  apply(reject, Promise, [error => { failure.error = error; failure.isThrown = true; }]);
  if (failure.isThrown) throw failure.error;
};
return {dispatch, fire, need, queueTask, report, run, tellRejections, watch, markAsUncloneable: object => { uncloneable.add(object); }};
})
