// The XMLHttpRequest that libraries load themselves with; `makeElements` (elements.js) makes the document.
//
// `host` has what elements.js asks for, and `request(url)`, which is `read(url)` and tells the user if there is no such file; `isLocal(url)`
// says that an address is the program's own. `isPage` is false in a worker, which has no document.
(function (global, host, isPage, makeElements) {
'use strict';
const {request: get, fetch, isLocal, setTask, fail} = host;
const {Blob, DOMException, Event, EventTarget, JSON, Object, Reflect, TextDecoder, TypeError, URL, Uint8Array} = global;
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
return isPage ? makeElements(global, host) : null;
})
