// The page around an HTML test, or a worker that a page starts, in a realm of quickjs-ng: its frames, its messages and its workers. Each
// document and each worker is a realm. What they tell each other goes through the host as text.
//
// `emit(kind, text)` asks the host, and returns its answer as text. `need` is that of page.js, `makeElements` is elements.js, null in a worker.
// `setup` has `href`, and of a document `context`, `parent` and `top`, numbers of browsing contexts; of a worker `kind` and `port`. Returns the
// functions that the host calls.
(function (global, emit, need, makeElements, setup) {
'use strict';
const {Array, DOMException, Error, JSON, Map, Object, Proxy, Reflect, Set, Symbol, TypeError, URL} = global;
const {ErrorEvent, Event, EventTarget, MessageEvent} = global;
const {addHandler, dictionary, finish} = need('interfaces'), {adopt, fire, listen} = need('events');
const {deserialize, serialize} = need('clone');
const define = (name, value) => Object.defineProperty(global, name, {value, writable: true, enumerable: false, configurable: true});
function ask(kind, content) {
  const answer = emit(`page:${kind}`, JSON.stringify(content));
  return typeof answer === 'string' ? JSON.parse(answer) : undefined;
}
const base = setup.base ?? setup.href;
function resolve(url, name) {
  const address = URL.parse(`${url}`, base);
  if (address === null) throw new DOMException(`${name}: ${url} is not an address`, 'SyntaxError');
  return address;
}
// A message that cannot be read is an event, too.
function deliver(target, {data, origin = '', source = null}) {
  let value;
  try { value = deserialize(data); } catch { fire(target, new MessageEvent('messageerror', {origin, source})); return; }
  fire(target, new MessageEvent('message', {data: value, origin, source}));
}
const transferOf = options => Array.isArray(options) ? options : dictionary(options, 'postMessage: options').transfer;

// ---- Ports: one end of a pair. The host knows the other end by the number.

const ports = new Map();
const post = (port, message, options) => { ask('send', {port, data: serialize(message, transferOf(options))}); };
class MessagePort extends EventTarget {
  #port; #waiting = [];
  constructor(port) {
    super();
    this.#port = port;
    ports.set(port, {target: this, take: message => { if (this.#waiting === null) deliver(this, message); else this.#waiting.push(message); }});
  }
  postMessage(message, options = undefined) { post(this.#port, message, options); }
  start() {
    const waiting = this.#waiting ?? [];
    this.#waiting = null;
    for (const each of waiting) deliver(this, each);
  }
  close() { ports.delete(this.#port); }
}
const handle = (Interface, types) => {
  for (const type of types) addHandler(Interface.prototype, type, listen);
};
handle(MessagePort, ['message', 'messageerror']);
// A handler of messages starts its port.
const {get, set} = Object.getOwnPropertyDescriptor(MessagePort.prototype, 'onmessage');
Object.defineProperty(MessagePort.prototype, 'onmessage', {
  get, set(value) { Reflect.apply(set, this, [value]); this.start(); }, enumerable: true, configurable: true,
});
finish(MessagePort);

// ---- Workers

function startWorker(kind, url, options) {
  const {name = '', type = 'classic'} = typeof options === 'string' ? {name: options} : dictionary(options, `${kind}: options`);
  const address = resolve(url, kind);
  if (address.origin !== new URL(base).origin) throw new DOMException(`${kind}: ${address.href} is of another origin`, 'SecurityError');
  if (type !== 'classic') throw new DOMException(`${kind}: the runner's pages have no module workers`, 'NotSupportedError');
  return ask('worker', {kind, url: address.href, name: `${name}`});
}
class Worker extends EventTarget {
  #port;
  constructor(url, options = undefined) {
    super();
    this.#port = startWorker('Worker', url, options);
    ports.set(this.#port, {target: this, take: message => deliver(this, message)});
  }
  postMessage(message, options = undefined) { post(this.#port, message, options); }
  terminate() { ask('terminate', {port: this.#port}); }
}
handle(Worker, ['error', 'message', 'messageerror']);
define('Worker', finish(Worker));
define('MessagePort', MessagePort);

const functions = {
  message(text) {
    const {port, source, ...message} = JSON.parse(text);
    if (port === undefined) deliver(global, {...message, source: source === null ? null : windowOf(source)}); else ports.get(port)?.take(message);
  },
  // An error of a worker, or one that kept it from starting.
  failed(text) {
    const {port, message} = JSON.parse(text), target = ports.get(port)?.target;
    if (target !== undefined) fire(target, new ErrorEvent('error', {message, cancelable: true}));
  },
};

if (makeElements === null) {
  // ---- The scope of a worker
  define('name', setup.name);
  define('close', () => { ask('close', null); });
  if (setup.kind === 'dedicatedworker') {
    define('postMessage', (message, options = undefined) => { post(setup.port, message, options); });
    ports.set(setup.port, {target: global, take: message => deliver(global, message)});
    listen(global, 'error', ({message}) => { ask('error', {message}); });
  } else {
    Reflect.deleteProperty(global, 'Worker');
    addHandler(global, 'connect', listen);
  }
  return {...functions, connect_port(port) {
    const end = new MessagePort(port);
    fire(global, new MessageEvent('connect', {data: '', source: end, ports: [end]}));
  }};
}

class SharedWorker extends EventTarget {
  #end;
  constructor(url, options = undefined) {
    super();
    const port = startWorker('SharedWorker', url, options);
    this.#end = new MessagePort(port);
    ports.get(port).target = this;
  }
  get port() { return this.#end; }
}
handle(SharedWorker, ['error']);
define('SharedWorker', finish(SharedWorker));

// ---- The address

let {href} = setup;
function go(url) {
  const address = resolve(url, 'location');
  const [to, from] = [address.href, href].map(each => each.replace(/#.*/s, ''));
  if (to === from && address.hash !== '') { href = address.href; return; }
  ask('navigate', {context: setup.context, url: address.href});
}
class Location {
  get href() { return href; }
  set href(url) { go(url); }
  assign(url) { go(url); }
  replace(url) { go(url); }
  reload() { ask('navigate', {context: setup.context, url: href}); }
  toString() { return href; }
}
const hasHost = URL.parse(href)?.host;
for (const part of ['origin', 'protocol', 'host', 'hostname', 'port', 'pathname', 'search', 'hash']) {
  const {get: read, set: change} = Object.getOwnPropertyDescriptor({
    get [part]() { return part === 'origin' ? setup.origin : URL.parse(href)?.[part] ?? ''; },
    set [part](value) { const address = new URL(href); address[part] = value; go(address.href); },
  }, part);
  Object.defineProperty(Location.prototype, part, {get: read, set: part !== 'origin' && hasHost ? change : undefined, enumerable: true, configurable: true});
}
const location = new (finish(Location))();
Object.defineProperty(global, 'location', {get: () => location, set: go, enumerable: true, configurable: true});
define('origin', setup.origin);

// ---- Other windows: messages reach them, and little else

// The interfaces of a window of the same origin that this realm has for it. What they make belongs to that window's document, which the host knows
// by a number.
const {MLGraphBuilder} = global, builders = new Map();
function builderOf(document) {
  if (!builders.has(document)) {
    builders.set(document, {MLGraphBuilder: class extends MLGraphBuilder {
      constructor(...values) {
        ask('act', {document});
        try { super(...values); } finally { ask('act', {document: null}); }
      }
    }}.MLGraphBuilder);
  }
  return builders.get(document);
}
const INTERFACES = {
  DOMException: () => DOMException,
  MLGraphBuilder(context) {
    const document = ask('document', {context});
    return document === undefined ? undefined : builderOf(document);
  },
};

const SHARED = ['then', Symbol.toStringTag, Symbol.hasInstance, Symbol.isConcatSpreadable];
const windows = new Map([[setup.context, global]]);
// A target is an address by itself.
function originOf(target) {
  const address = URL.parse(target);
  if (address === null) throw new DOMException(`postMessage: ${target} is not an address`, 'SyntaxError');
  return address.origin;
}
function sendTo(context, message, target, transfer) {
  const options = typeof target === 'object' && target !== null ? target : {targetOrigin: target, transfer};
  const wanted = `${options.targetOrigin ?? '/'}`;
  const origin = wanted === '*' ? '*' : wanted === '/' ? setup.origin : originOf(wanted);
  ask('post', {context, origin, data: serialize(message, options.transfer)});
}
function refuse(name) {
  throw new DOMException(`${String(name)}: the runner's pages see another window by its messages only`, 'SecurityError');
}
function windowOf(context) {
  if (!windows.has(context)) windows.set(context, makeWindow(context));
  return windows.get(context);
}
function makeWindow(context) {
  const family = name => windowOf(ask('family', {context})[name]), self = () => windows.get(context);
  const address = new Proxy(Object.create(null), {
    get: (_, key) => key === 'replace' ? url => { ask('navigate', {context, url: resolve(url, 'location').href}); } : SHARED.includes(key) ? undefined : refuse(key),
    set: (_, key, url) => key === 'href' ? (ask('navigate', {context, url: resolve(url, 'location').href}), true) : refuse(key),
  });
  const members = {
    window: self, self, frames: self, parent: () => family('parent'), top: () => family('top'), opener: () => null,
    closed: () => ask('family', {context}) === undefined, length: () => ask('children', {context}).length,
    location: () => address, focus: () => () => {}, blur: () => () => {}, close: () => () => {},
    postMessage: () => function postMessage(message, target = undefined, transfer = undefined) { sendTo(context, message, target, transfer); },
  };
  return new Proxy(Object.create(null), {
    get(_, key) {
      if (typeof key === 'string' && Object.hasOwn(members, key)) return members[key]();
      const child = typeof key === 'string' && /^\d+$/.test(key) ? ask('children', {context})[key] : undefined;
      if (child !== undefined) return windowOf(child);
      if (Object.hasOwn(INTERFACES, key) && ask('same', {context})) return INTERFACES[key](context);
      return SHARED.includes(key) ? undefined : refuse(key);
    },
    has: (_, key) => (typeof key === 'string' && Object.hasOwn(members, key)) || (SHARED.includes(key) ? false : refuse(key)),
    set: (_, key, url) => key === 'location' ? (ask('navigate', {context, url: resolve(url, 'location').href}), true) : refuse(key),
    deleteProperty: (_, key) => refuse(key),
  });
}
const own = name => windowOf(ask('family', {context: setup.context})[name]);
for (const [name, read] of Object.entries({
  parent: () => own('parent'), top: () => own('top'), frames: () => global, opener: () => null, frameElement: () => null,
  length: () => ask('children', {context: setup.context}).length,
})) Object.defineProperty(global, name, {get: read, set: value => define(name, value), enumerable: true, configurable: true});
define('postMessage', (message, target = undefined, transfer = undefined) => { sendTo(setup.context, message, target, transfer); });
for (const type of ['load', 'pageshow', 'hashchange']) addHandler(global, type, listen);

// ---- The document

const fail = error => { global.reportError(error); };
const {Element, begun, ended, finish: finishDocument, fire: fireAt, makers, setCurrent} = makeElements(global, {
  read(url) {
    const {text} = ask('read', url);
    return text === null ? {missing: true} : {content: new global.TextEncoder().encode(text)};
  },
  fetch: global.fetch, isLocal: () => false,
  setTask: callback => global.setTimeout(callback, 0), runScript: (url, text) => { (0, eval)(text); },
  importModule: async () => { throw new TypeError("the runner's pages have no modules"); }, fail,
});
const {document} = global, frames = new Map();
Object.defineProperty(document, 'location', {get: () => location, set: go, configurable: true});
const FEATURES = ['webnn'];
const policyOf = allows => Object.freeze({
  features: () => [...FEATURES], allowsFeature: name => FEATURES.includes(`${name}`) && allows(`${name}`),
  allowedFeatures: () => FEATURES.filter(allows),
});
// The name in the specification, and the one that browsers had first.
document.permissionsPolicy = document.featurePolicy = policyOf(name => ask('allowed', {name}));

// A frame by its place among the page's frames.
function addIndex(index) {
  const get = () => {
    const context = ask('children', {context: setup.context})[index];
    return context === undefined ? undefined : windowOf(context);
  };
  if (!Object.hasOwn(global, index)) Object.defineProperty(global, index, {get, set: undefined, enumerable: true, configurable: true});
}
class HTMLIFrameElement extends Element {
  #number = frames.size + 1; #context;
  constructor() {
    super('iframe');
    frames.set(this.#number, this);
    begun.set(this, () => {
      this.#context = ask('frame', {number: this.#number});
      addIndex(global.length - 1);
    });
    ended.set(this, () => { ask('unframe', {context: this.#context}); this.#context = undefined; });
  }
  setAttribute(name, value) {
    super.setAttribute(name, value);
    this.#change(`${name}`.toLowerCase());
  }
  removeAttribute(name) {
    super.removeAttribute(name);
    if (`${name}`.toLowerCase() === 'srcdoc') this.#change('srcdoc');
  }
  #change(name) { if (this.#context !== undefined && (name === 'src' || name === 'srcdoc')) ask('changed', {context: this.#context}); }
  get contentWindow() { return this.#context === undefined ? null : windowOf(this.#context); }
  get contentDocument() {
    if (this.#context !== undefined && ask('same', {context: this.#context})) refuse('contentDocument');
    return null;
  }
  get permissionsPolicy() { return policyOf(name => ask('allowed', {name, number: this.#number})); }
  get featurePolicy() { return this.permissionsPolicy; }
  get src() { return this.hasAttribute('src') ? URL.parse(this.getAttribute('src'), base)?.href ?? this.getAttribute('src') : ''; }
  set src(url) { this.setAttribute('src', url); }
  get sandbox() { return this.getAttribute('sandbox') ?? ''; }
  set sandbox(value) { this.setAttribute('sandbox', value); }
}
for (const name of ['allow', 'name', 'srcdoc']) {
  Object.defineProperty(HTMLIFrameElement.prototype, name, {
    get() { return this.getAttribute(name) ?? ''; }, set(value) { this.setAttribute(name, value); }, enumerable: true, configurable: true,
  });
}
makers.set('iframe', () => new HTMLIFrameElement());
for (const Kind of [HTMLIFrameElement]) define(Kind.name, Kind);

// ---- The text of the page, which the host has taken apart

const VOID = new Set(['area', 'base', 'br', 'col', 'embed', 'hr', 'img', 'input', 'link', 'meta', 'source', 'track', 'wbr']);
const IN_HEAD = new Set(['base', 'link', 'meta', 'noscript', 'script', 'style', 'template', 'title']);
let open = [document.head], script = null;
function begin(name, attributes) {
  const known = {html: document.documentElement, head: document.head, body: document.body}[name];
  if (name === 'body' || (known === undefined && open.at(-1) === document.head && !IN_HEAD.has(name))) open = [document.body];
  const element = known ?? document.createElement(name);
  for (const [key, value] of attributes) element.setAttribute(key, value);
  if (known !== undefined) return;
  // The host runs the scripts of the page's text.
  if (name === 'script') { script = element; begun.delete(element); }
  open.at(-1).append(element);
  if (!VOID.has(name)) open.push(element);
}
function end(name) {
  const index = open.findLastIndex(each => each.localName === name);
  if (name === 'head') open = [document.body]; else if (index > 0) open.length = index;
}
return {
  ...functions,
  build(text) {
    for (const [kind, content, attributes] of JSON.parse(text)) {
      if (kind === 'start') begin(content, attributes); else if (kind === 'end') end(content); else open.at(-1).append(content);
    }
  },
  enter() { setCurrent(script); },
  leave() { setCurrent(null); },
  loaded() { fire(global, new Event('load')); },
  finish: finishDocument,
  // They decide about a frame's next document.
  attributes: number => JSON.stringify(Object.fromEntries(
    ['allow', 'name', 'sandbox', 'src', 'srcdoc'].map(name => [name, name === 'src' ? frames.get(number).src : frames.get(number).getAttribute(name)]))),
  frameLoaded(number) { fireAt(frames.get(number), 'load'); },
};
})
