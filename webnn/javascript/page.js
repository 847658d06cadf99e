// A window for programs without a document, in an engine that has ECMAScript only: what testharness.js and the tests of a JavaScript API
// use, and no more. A missing name is better than one that does not do what a page expects.
//
// `host` has `read(path)`, which returns a text or null, `log(level, text)`, `schedule(number, milliseconds)`, after which the host calls
// `fire(number)`, and `cancel(number)`. `makeConsole(global, log)` is console.js.
(function (global, host, address, makeConsole) {
'use strict';
const {JSON, Map, Object, TypeError} = global;
const define = (name, value) => Object.defineProperty(global, name, {value, writable: true, enumerable: false, configurable: true});

for (const name of ['self', 'window']) define(name, global);
define('Window', {Window: class { constructor() { throw new TypeError('Window: Illegal constructor'); } }}.Window);
define('isSecureContext', true);
define('crossOriginIsolated', true);
define('GLOBAL', {isWindow: () => true, isWorker: () => false, isShadowRealm: () => false});
define('location', Object.freeze({
  ...address, hash: '', href: address.origin + address.pathname + address.search, toString() { return this.href; },
}));

// What the host takes is text that any language can hold.
const log = (level, message) => host.log(level, message.toWellFormed().replaceAll('\0', '\u2400'));
const text = makeConsole(global, log);
const read = path => host.read(path.toWellFormed().replaceAll('\0', '\u2400'));

// ---- Events: those of the window itself

const listeners = new Map();
define('addEventListener', (type, listener) => {
  const all = listeners.get(type) ?? [];
  if (!all.includes(listener)) listeners.set(type, [...all, listener]);
});
define('removeEventListener', (type, listener) => { listeners.set(type, (listeners.get(type) ?? []).filter(each => each !== listener)); });
function dispatch(event) {
  for (const listener of listeners.get(event.type) ?? []) {
    try {
      if (typeof listener === 'function') listener.call(global, event); else listener.handleEvent(event);
    } catch (error) {
      log('error', text(error));
    }
  }
}
// An error that nobody caught, as the window's listeners see it.
function report(message, error) {
  log('error', `Uncaught ${message}`);
  dispatch({type: 'error', error, message, filename: address.pathname, lineno: 0, colno: 0, preventDefault() {}});
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
  try { timer.callback.apply(global, timer.values); } catch (error) { report(text(error), error); }
}

// ---- Files of the checkout, as its server would send them

function pathOf(url) {
  const path = `${url}`.startsWith(address.origin) ? `${url}`.slice(address.origin.length) : `${url}`;
  return path.startsWith('/') ? path : address.pathname.replace(/[^/]*$/, '') + path;
}
define('XMLHttpRequest', class XMLHttpRequest {
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

return {fire, report, queueTask};
})
