// Dedicated workers of a program in Node: each is a process of its own, behind walls of its own, and Python carries the messages. A program
// asks for its messages: now and then while it is busy, and when nothing else is left to do.
//
// `ask(question, parts)` puts a question to Python and returns the answer and its byte arrays; `resolve(url)` is the address that the program
// means; `fetchText(url)` promises the text of an address of the program's own; `setTask`, `setTick` and `setPoll` call a function later,
// before any task, and again and again; `fail(error)` reports an error that nobody caught. `scope` is "window" or "dedicatedworker", `target`
// the global object's events.
(function (global, host, scope, target, name) {
'use strict';
const {ask, resolve, fetchText, setTask, setTick, setPoll, fail, v8, readScript, runScript} = host;
const {Array, DOMException, Error, Event, EventTarget, Map, MessageEvent, Object, Reflect, String, TypeError, URL, WeakMap, structuredClone} = global;
const define = (name, value) => Object.defineProperty(global, name, {value, writable: true, enumerable: false, configurable: true});
const {Deserializer, Serializer} = v8;
const {readHeader, readValue} = Deserializer.prototype, {releaseBuffer, writeHeader, writeValue} = Serializer.prototype;
const PARENT = 0, POLL = 4;

// ---- Messages

function pack(message, options) {
  // This checks and transfers as it must be; what comes out of it is the program's no more.
  const given = Array.isArray(options) ? options : options?.transfer;
  const copy = structuredClone(message, {transfer: given === undefined ? [] : [...given]});
  const serializer = new Serializer();
  try {
    Reflect.apply(writeHeader, serializer, []);
    Reflect.apply(writeValue, serializer, [copy]);
  } catch (error) {
    throw new DOMException(`postMessage: ${error.message}`, 'DataCloneError');
  }
  return Reflect.apply(releaseBuffer, serializer, []);
}
function unpack(bytes) {
  const deserializer = new Deserializer(bytes);
  Reflect.apply(readHeader, deserializer, []);
  return Reflect.apply(readValue, deserializer, []);
}
function send(to, bytes) {
  const [{refused}] = ask({do: 'post', to}, [bytes]);
  if (refused) throw new DOMException(`postMessage: ${refused}`, 'QuotaExceededError');
}

const ErrorEvent = global.ErrorEvent ?? class ErrorEvent extends Event {
  constructor(type, {message, filename, error}) {
    super(type, {cancelable: true});
    Object.assign(this, {message, filename, lineno: 0, colno: 0, error});
  }
};
// Listeners that stand in an attribute: `onmessage`.
function addHandler(owner, type, targetOf) {
  const handlers = new WeakMap();
  Object.defineProperty(owner, `on${type}`, {
    get() { return handlers.get(this)?.value ?? null; },
    set(value) {
      const known = handlers.get(this), handler = typeof value === 'function' ? value : null;
      if (known) { known.value = handler; return; }
      if (handler === null) return;
      const entry = {value: handler}, self = this;
      handlers.set(this, entry);
      targetOf(this).addEventListener(type, event => {
        if (!entry.value) return;
        // The handler of a scope's errors is an old one: it gets what the event has, and says by `true` that the error is handled.
        const isOld = type === 'error' && self === global, {message, filename, lineno, colno, error} = event;
        const answer = Reflect.apply(entry.value, self, isOld ? [message, filename, lineno, colno, error] : [event]);
        if (isOld && answer === true) event.preventDefault();
      });
    },
    enumerable: true, configurable: true,
  });
}

// ---- Worker

// The workers that have not ended, by their numbers, and what is known of each: {number, heard, waiting}: whether anybody listens to its errors,
// and what was sent before it had a number.
const living = new Map(), states = new WeakMap();
let poll, isClosing = false;
function stateOf(worker) {
  const state = states.get(worker);
  if (state === undefined) throw new TypeError('Illegal invocation, this must be a Worker');
  return state;
}
function start(worker, state, url, kind, name, source) {
  if (state.ended) return;
  const [{number, refused}] = ask({do: 'start', url, kind, name, source}, []);
  if (refused) { setTask(() => tellError(worker, state, {message: refused, filename: url})); return; }
  state.number = number;
  living.set(number, worker);
  poll ??= setPoll(() => receive(false), POLL);
  for (const bytes of state.waiting.splice(0)) send(number, bytes);
}
function tellError(worker, state, {message, filename}) {
  worker.dispatchEvent(new ErrorEvent('error', {message, filename, cancelable: true}));
  if (!state.heard) fail(new Error(`in the worker ${filename}: ${message}`));
}

class Worker extends EventTarget {
  constructor(url, options = undefined) {
    if (arguments.length === 0) throw new TypeError('Worker needs 1 argument, got 0');
    super();
    const {type = 'classic', name = ''} = options ?? {}, kind = String(type), address = resolve(`${url}`);
    if (address === null) throw new DOMException(`Worker: ${url} is no address`, 'SyntaxError');
    if (!['classic', 'module'].includes(kind)) throw new TypeError(`Worker: options.type must be 'classic' or 'module', got '${kind}'`);
    const state = {number: undefined, heard: false, waiting: [], ended: false};
    states.set(this, state);
    if (['blob:', 'data:'].includes(new URL(address).protocol)) {
      const refuse = ({message}) => tellError(this, state, {message, filename: address});
      fetchText(address).then(source => start(this, state, address, kind, `${name}`, source), refuse);
    } else {
      start(this, state, address, kind, `${name}`, null);
    }
  }
  addEventListener(type, ...rest) {
    if (type === 'error') stateOf(this).heard = true;
    return super.addEventListener(type, ...rest);
  }
  postMessage(message, options = undefined) {
    const state = stateOf(this), bytes = pack(message, options);
    if (state.number === undefined) { if (!state.ended) state.waiting.push(bytes); } else if (!state.ended) send(state.number, bytes);
  }
  terminate() {
    const state = stateOf(this);
    if (state.number !== undefined && !state.ended) ask({do: 'terminate', to: state.number}, []);
    state.ended = true;
    living.delete(state.number);
  }
}
for (const type of ['message', 'messageerror', 'error']) addHandler(Worker.prototype, type, worker => worker);
define('Worker', Worker);

// ---- What comes in

// Take the messages that are there; each is delivered in a task of its own. Returns whether there are any.
function receive(wait) {
  const [{messages}, ...parts] = ask({do: 'receive', wait}, []);
  for (const [index, message] of messages.entries()) setTask(() => deliver({...message, bytes: parts[index]}));
  return messages.length > 0;
}
function deliver({from, type, message, filename, bytes}) {
  const worker = living.get(from), to = from === PARENT ? target : worker;
  if (to === undefined || (from === PARENT && isClosing)) return;
  switch (type) {
  case 'message': {
    let event;
    try { event = new MessageEvent('message', {data: unpack(bytes)}); } catch { event = new MessageEvent('messageerror'); }
    to.dispatchEvent(event);
    return;
  }
  case 'error': tellError(worker, states.get(worker), {message, filename}); return;
  case 'end':
    states.get(worker).ended = true;
    living.delete(from);
  }
}

// Wait for messages, if any may come.
const wait = () => (scope === 'window' && living.size === 0 ? false : receive(true));

// ---- The scope of a worker

// An error that nobody caught is an event of the scope, and then of the `Worker` object, unless a listener of the scope has handled it. What
// such a listener throws goes to the object at once.
let isReporting = false;
const describe = error => (error instanceof Error ? `${error.name}: ${error.message}` : String(error)).toWellFormed();
function report(error, makeEvent) {
  if (!isReporting) {
    isReporting = true;
    const isHandled = !target.dispatchEvent(makeEvent());
    // Node throws what a listener has thrown in a tick, before this one.
    setTick(() => { isReporting = false; });
    if (isHandled) return;
  }
  ask({do: 'error', message: describe(error)}, []);
}
function reportError(error) {
  report(error, () => new ErrorEvent('error', {message: describe(error), filename: global.location.href, error, cancelable: true}));
}
function reportRejection(reason, promise) {
  report(reason, () => Object.assign(new Event('unhandledrejection', {cancelable: true}), {reason, promise}));
}
function makeScope(exit) {
  const illegal = (name, Parent) => ({[name]: class extends Parent { constructor() { throw new TypeError(`${name}: Illegal constructor`); } }}[name]);
  const WorkerGlobalScope = illegal('WorkerGlobalScope', EventTarget), Scope = illegal('DedicatedWorkerGlobalScope', WorkerGlobalScope);
  define('WorkerGlobalScope', WorkerGlobalScope);
  define('DedicatedWorkerGlobalScope', Scope);
  Object.setPrototypeOf(global, Scope.prototype);
  define('name', name);
  define('postMessage', (message, options) => send(PARENT, pack(message, options)));
  define('close', () => { isClosing = true; setTask(exit); });
  define('importScripts', (...urls) => {
    for (const each of urls) {
      const url = resolve(`${each}`);
      let text;
      try { text = readScript(url); } catch (error) { throw new DOMException(`importScripts: ${error.message}`, 'NetworkError'); }
      runScript(url, text);
    }
  });
  for (const type of ['message', 'messageerror', 'error', 'unhandledrejection']) addHandler(global, type, () => target);
  poll = setPoll(() => receive(false), POLL);
}

return {makeScope, reportError, reportRejection, wait};
})
