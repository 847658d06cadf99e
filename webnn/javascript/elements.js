// The part of a document that libraries and tests need: elements that hold others, and `<script>`. Whatever shows or measures something is
// missing: `webnn serve` has it.
//
// `host` has `read(url)`, which gives a file, `fetch`, `isLocal(url)`, which says that `fetch` must read an address, `setTask`, which calls a
// function later, `runScript(url, text)` and `importModule(url)`, which run a script, and `fail(error)`, which reports an error that nobody caught.
(function (global, host) {
'use strict';
const {read, fetch, isLocal, setTask, runScript, importModule, fail} = host;
const {DOMException, Event, EventTarget, Map, Object, Reflect, TextDecoder, URL, WeakMap} = global;
const {href} = global.location;
const define = (name, value) => Object.defineProperty(global, name, {value, writable: true, enumerable: false, configurable: true});

// An event reaches the function in the attribute, and the listeners.
function fire(owner, type, members = {}) {
  const event = Object.assign(new Event(type), members), handler = owner[`on${type}`];
  if (typeof handler === 'function') try { Reflect.apply(handler, owner, [event]); } catch (error) { fail(error); }
  owner.dispatchEvent(event);
}

// ---- Elements

// Functions that make elements, by their names; and what an element does when it becomes a part of the document, and when it no longer is.
const makers = new Map(), begun = new WeakMap(), ended = new WeakMap();
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
    if (node instanceof Element && node.isConnected) for (const each of [node, ...node.getElementsByTagName('*')]) begun.get(each)?.();
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
    const left = node instanceof Element && node.isConnected ? [node, ...node.getElementsByTagName('*')] : [];
    this.#children.splice(index, 1);
    if (node instanceof Element) node.#parent = null;
    for (const each of left) ended.get(each)?.();
    return node;
  }
  remove() { this.#parent?.removeChild(this); }
}
const makeText = data => Object.freeze({nodeType: 3, data: `${data}`});

// ---- Scripts

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
  const element = new HTMLScriptElement();
  begun.delete(element);
  element.src = url;
  const before = currentScript;
  setCurrent(element);
  try { run(); } finally { setCurrent(before); }
}
function setCurrent(element) { currentScript = element; }
function finish() {
  readyState = 'interactive';
  fire(document, 'DOMContentLoaded');
  readyState = 'complete';
  fire(document, 'readystatechange');
}
return {Element, begun, ended, finish, fire, makers, runAsElement, setCurrent};
})
