// The part of a document that libraries need to load themselves: elements that hold others, `<script>`, and XMLHttpRequest. Whatever shows or
// measures something is missing: `webnn serve` has it.
//
// `read(url)` gives a file, `request(url)` too, and tells the user if there is none; `fetch` is that of the program, and
// `isLocal(url)` says that an address is the program's own; `setTask` calls a function later; `runScript(url,
// text)` and `importModule(url)` run a script; `fail(error)` reports an error that nobody caught. `isPage` is false in a worker, which has no
// document.
(function (global, host, isPage) {
'use strict';
const {read, request: get, fetch, isLocal, setTask, runScript, importModule, fail} = host;
const {
  Array, ArrayBuffer, Blob, DOMException, Event, EventTarget, JSON, Map, Object, Reflect, TextDecoder, TextEncoder, TypeError, URL, Uint8Array, WeakMap,
} = global;
const {href} = global.location;
const define = (name, value) => Object.defineProperty(global, name, {value, writable: true, enumerable: false, configurable: true});

// An event reaches the function in the attribute, and the listeners.
function fire(owner, type, members = {}) {
  const event = Object.assign(new Event(type), members), handler = owner[`on${type}`];
  if (typeof handler === 'function') try { Reflect.apply(handler, owner, [event]); } catch (error) { fail(error); }
  owner.dispatchEvent(event);
}

// ---- XMLHttpRequest

const TYPES = ['', 'arraybuffer', 'blob', 'json', 'text'];
class XMLHttpRequest extends EventTarget {
  static UNSENT = 0; static OPENED = 1; static HEADERS_RECEIVED = 2; static LOADING = 3; static DONE = 4;
  readyState = 0; status = 0; statusText = ''; responseURL = ''; timeout = 0; withCredentials = false; upload = new EventTarget();
  onreadystatechange = null; onloadstart = null; onprogress = null; onload = null; onloadend = null; onerror = null; onabort = null; ontimeout = null;
  #request = null; #type = ''; #content = null; #mime = ''; #override = '';
  open(method, url, asynchronous = true) {
    if (arguments.length < 2) throw new TypeError(`open needs 2 arguments, got ${arguments.length}`);
    const address = URL.parse(`${url}`, href);
    if (address === null) throw new DOMException(`open: ${url} is not an address`, 'SyntaxError');
    if (!asynchronous && isPage && this.#type !== '') throw new DOMException('open: a page cannot wait for a response with responseType', 'InvalidAccessError');
    this.#request = {method: `${method}`.toUpperCase(), url: address.href, asynchronous: Boolean(asynchronous)};
    Object.assign(this, {status: 0, statusText: '', responseURL: ''});
    this.#content = null;
    this.#change(1);
  }
  setRequestHeader() { if (this.readyState !== 1) throw new DOMException('setRequestHeader: call open() first', 'InvalidStateError'); }
  overrideMimeType(type) { this.#override = `${type}`; }
  send() {
    const request = this.#request;
    if (this.readyState !== 1 || request === null) throw new DOMException('send: call open() first', 'InvalidStateError');
    if (!request.asynchronous) {
      const answer = isLocal(request.url) ? {refused: 'a request that waits reads files only: use fetch()'} : get(request.url);
      if (answer.refused) throw new DOMException(`send: ${request.url}: ${answer.refused}`, 'NetworkError');
      this.#finish(request, answer);
      return;
    }
    fire(this, 'loadstart');
    const finish = answer => { if (this.#request === request) this.#finish(request, answer); };
    if (!isLocal(request.url)) { setTask(() => finish(get(request.url))); return; }
    fetch(request.url).then(
      async response => finish({content: new Uint8Array(await response.arrayBuffer()), type: response.headers.get('content-type') ?? ''}),
      error => finish({refused: error.message}));
  }
  abort() {
    const isBusy = this.#request !== null && this.readyState === 1;
    this.#request = null;
    this.readyState = 0;
    if (isBusy) { fire(this, 'abort'); fire(this, 'loadend'); }
  }
  #finish({method, url}, {content, type, missing, refused}) {
    if (refused) {
      this.#change(4);
      fire(this, 'error');
      fire(this, 'loadend');
      return;
    }
    const isAllowed = method === 'GET' || method === 'HEAD';
    const [status, statusText] = !isAllowed ? [405, 'Method Not Allowed'] : missing ? [404, 'Not Found'] : [200, 'OK'];
    Object.assign(this, {status, statusText, responseURL: url});
    this.#mime = type ?? '';
    this.#content = status === 200 && method === 'GET' ? content : new Uint8Array(0);
    const total = this.#content.length, sizes = {loaded: total, total, lengthComputable: true};
    for (const state of [2, 3, 4]) this.#change(state);
    for (const event of ['progress', 'load', 'loadend']) fire(this, event, sizes);
  }
  #change(state) {
    this.readyState = state;
    fire(this, 'readystatechange');
  }
  get responseType() { return this.#type; }
  set responseType(type) {
    if (isPage && this.#request?.asynchronous === false) throw new DOMException('responseType: a page cannot wait for it', 'InvalidAccessError');
    if (TYPES.includes(`${type}`)) this.#type = `${type}`;
  }
  #text() {
    const label = /charset=([^;\s]+)/i.exec(this.#override)?.[1] ?? 'utf-8';
    return this.#content === null ? '' : new TextDecoder(label).decode(this.#content);
  }
  get responseText() {
    if (!['', 'text'].includes(this.#type)) throw new DOMException(`responseText: responseType is '${this.#type}'`, 'InvalidStateError');
    return this.#text();
  }
  get response() {
    if (['', 'text'].includes(this.#type)) return this.#text();
    if (this.readyState !== 4 || this.#content === null) return null;
    if (this.#type === 'arraybuffer') return this.#content.buffer;
    if (this.#type === 'blob') return new Blob([this.#content], {type: this.#mime});
    try { return JSON.parse(this.#text()); } catch { return null; }
  }
  getResponseHeader(name) {
    const headers = this.#content === null ? {} : {'content-type': this.#mime, 'content-length': `${this.#content.length}`};
    return headers[`${name}`.toLowerCase()] ?? null;
  }
  getAllResponseHeaders() {
    return ['content-length', 'content-type'].map(name => `${name}: ${this.getResponseHeader(name) ?? ''}\r\n`).join('');
  }
}
define('XMLHttpRequest', XMLHttpRequest);
if (!isPage) return null;

// ---- Elements

// The elements of the document, by a number that a program cannot change.
const makers = new Map();
class Element extends EventTarget {
  #parent = null; #children = []; #attributes = new Map(); #name;
  style = {}; dataset = {}; onload = null; onerror = null;
  constructor(name) { super(); this.#name = name; }
  get localName() { return this.#name; }
  get tagName() { return this.#name.toUpperCase(); }
  get nodeName() { return this.tagName; }
  get nodeType() { return 1; }
  get ownerDocument() { return document; }
  get parentNode() { return this.#parent; }
  get parentElement() { return this.#parent; }
  get childNodes() { return [...this.#children]; }
  get children() { return this.#children.filter(each => each instanceof Element); }
  get firstChild() { return this.#children[0] ?? null; }
  get lastChild() { return this.#children.at(-1) ?? null; }
  get isConnected() { return this === root || (this.#parent?.isConnected ?? false); }
  get textContent() { return this.#children.map(each => each.textContent ?? each.data).join(''); }
  set textContent(text) { this.replaceChildren(`${text ?? ''}`); }
  get innerText() { return this.textContent; }
  set innerText(text) { this.textContent = text; }
  get id() { return this.getAttribute('id') ?? ''; }
  set id(value) { this.setAttribute('id', value); }
  get className() { return this.getAttribute('class') ?? ''; }
  set className(value) { this.setAttribute('class', value); }
  getAttribute(name) { return this.#attributes.get(`${name}`.toLowerCase()) ?? null; }
  setAttribute(name, value) { this.#attributes.set(`${name}`.toLowerCase(), `${value}`); }
  hasAttribute(name) { return this.getAttribute(name) !== null; }
  removeAttribute(name) { this.#attributes.delete(`${name}`.toLowerCase()); }
  getElementsByTagName(name) {
    return this.children.flatMap(each => [...(each.localName === `${name}`.toLowerCase() || name === '*' ? [each] : []), ...each.getElementsByTagName(name)]);
  }
  contains(other) { return other === this || (other instanceof Element && other.#parent !== null && this.contains(other.#parent)); }
  insertBefore(node, next) {
    if (node instanceof Element) {
      if (node.contains(this)) throw new DOMException('an element cannot hold itself', 'HierarchyRequestError');
      node.remove();
      node.#parent = this;
    }
    const index = next === null || next === undefined ? this.#children.length : this.#children.indexOf(next);
    if (index < 0) throw new DOMException('insertBefore: the second node is not a child', 'NotFoundError');
    this.#children.splice(index, 0, node);
    if (node instanceof Element && node.isConnected) for (const each of [node, ...node.getElementsByTagName('script')]) begun.get(each)?.();
    return node;
  }
  appendChild(node) { return this.insertBefore(node, null); }
  append(...nodes) { for (const each of nodes) this.insertBefore(each instanceof Element ? each : makeText(each), null); }
  prepend(...nodes) { for (const each of nodes.reverse()) this.insertBefore(each instanceof Element ? each : makeText(each), this.firstChild); }
  replaceChildren(...nodes) {
    for (const each of this.children) each.remove();
    this.#children = [];
    this.append(...nodes);
  }
  removeChild(node) {
    const index = this.#children.indexOf(node);
    if (index < 0) throw new DOMException('removeChild: the node is not a child', 'NotFoundError');
    this.#children.splice(index, 1);
    if (node instanceof Element) node.#parent = null;
    return node;
  }
  remove() { this.#parent?.removeChild(this); }
}
const makeText = data => Object.freeze({nodeType: 3, data: `${data}`});

// ---- Scripts

// What a script does when it becomes a part of the document.
const begun = new WeakMap();
let currentScript = null;
class HTMLScriptElement extends Element {
  async = true; defer = false; crossOrigin = null; noModule = false;
  constructor() {
    super('script');
    begun.set(this, () => {
      begun.delete(this);
      if (this.src !== '') setTask(() => this.#load(this.src)); else runClassic(this, `${href}#inline`, this.textContent);
    });
  }
  get src() { return this.hasAttribute('src') ? URL.parse(this.getAttribute('src'), href)?.href ?? this.getAttribute('src') : ''; }
  set src(url) { this.setAttribute('src', url); }
  get type() { return this.getAttribute('type') ?? ''; }
  set type(type) { this.setAttribute('type', type); }
  get text() { return this.textContent; }
  set text(text) { this.textContent = text; }
  #load(url) {
    const done = () => fire(this, 'load'), failed = () => fire(this, 'error');
    if (this.type === 'module') { importModule(url).then(done, error => { fail(error); failed(); }); return; }
    const start = ({content, missing, refused}) => {
      if (missing || refused) { failed(); return; }
      runClassic(this, url, new TextDecoder().decode(content));
      done();
    };
    if (isLocal(url)) fetch(url).then(async response => start({content: await response.arrayBuffer()}), failed); else start(read(url));
  }
}
// The attribute is what a script sees that asks where it comes from.
function runClassic(element, url, text) {
  const before = currentScript;
  currentScript = element;
  try { runScript(url, text); } catch (error) { fail(error); } finally { currentScript = before; }
}
makers.set('script', () => new HTMLScriptElement());

// ---- The document

let readyState = 'loading';
const root = new Element('html'), head = new Element('head'), body = new Element('body');
class Document extends EventTarget {
  title = ''; cookie = ''; hidden = false; visibilityState = 'visible'; referrer = ''; characterSet = 'UTF-8'; contentType = 'text/html';
  get nodeType() { return 9; }
  get documentElement() { return root; }
  get head() { return head; }
  get body() { return body; }
  get currentScript() { return currentScript; }
  get readyState() { return readyState; }
  get baseURI() { return href; }
  get URL() { return href; }
  get location() { return global.location; }
  get defaultView() { return global; }
  createElement(name) {
    const wanted = `${name}`.toLowerCase();
    return makers.get(wanted)?.() ?? new Element(wanted);
  }
  createTextNode(data) { return makeText(data); }
  getElementsByTagName(name) { return [...(`${name}`.toLowerCase() === 'html' ? [root] : []), ...root.getElementsByTagName(name)]; }
  getElementById(id) { return root.getElementsByTagName('*').find(each => each.id === `${id}`) ?? null; }
}
const document = new Document();
root.append(head, body);
for (const [name, value] of Object.entries({document, Document, Element, HTMLElement: Element, HTMLScriptElement})) define(name, value);

// Run a script of the page as one of its elements.
function runAsElement(url, run) {
  const before = currentScript, element = new HTMLScriptElement();
  begun.delete(element);
  element.src = url;
  currentScript = element;
  try { run(); } finally { currentScript = before; }
}
function finish() {
  readyState = 'interactive';
  fire(document, 'DOMContentLoaded');
  readyState = 'complete';
  fire(document, 'readystatechange');
}
return {Element, makers, runAsElement, finish, fire};
})
