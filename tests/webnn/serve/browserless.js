// What a page has and the realm lacks, as far as page_host.js uses it: requests, a live connection, blobs, channels, workers.
// `exchange(method, address, bytes)` asks the host: it returns the status, and bytes. `take()` returns what was pushed: an address and bytes.
((global, exchange, push, take) => {
const text = bytes => Array.from(bytes, each => String.fromCharCode(each)).join('');
const ask = (method, address, body) => {
  const [status, bytes] = JSON.parse(exchange(method, address, JSON.stringify(Array.from(body))));
  return [status, new Uint8Array(bytes)];
};
class Blob {
  constructor(parts) {
    const all = parts.map(part => typeof part === 'string' ? new TextEncoder().encode(part) : part);
    this.bytes = new Uint8Array(all.flatMap(part => Array.from(part instanceof Blob ? part.bytes : part)));
  }
  get size() { return this.bytes.length; }
  slice(start, end) { return new Blob([this.bytes.subarray(start, end)]); }
}
const bytesOf = body => body instanceof Blob ? body.bytes : typeof body === 'string' ? new TextEncoder().encode(body) : body ?? [];
const blobs = new Map();
class XMLHttpRequest {
  open(method, address) { this.method = method; this.address = address; }
  setRequestHeader() {}
  overrideMimeType() {}
  send(body) {
    global.sizes.push([body instanceof Blob, bytesOf(body).length]);
    const [status, bytes] = blobs.has(this.address) ? [200, blobs.get(this.address).bytes] : ask(this.method, this.address, bytesOf(body));
    if (status === 0) throw new Error('the connection was refused');
    // As in Firefox: what is pushed arrives while a synchronous request waits.
    if (global.isEager && this.address.includes('/call')) {
      const pushed = JSON.parse(take());
      if (pushed !== null) deliver(...pushed);
    }
    Object.assign(this, {status, response: bytes.buffer, responseText: text(bytes)});
  }
}
class WebSocket {
  static OPEN = 1;
  readyState = 0;
  constructor(address) {
    this.address = address;
    sockets.push(this);
    setTimeout(() => {
      if (global.offline) { this.close(); return; }
      this.readyState = 1;
      this.onopen({target: this});
    });
  }
  send(body) {
    if (typeof body !== 'string') { ask('SEND', this.address, bytesOf(body)); return; }
    push(this.address, body);
    this.onmessage({data: new ArrayBuffer()});
  }
  close() { this.readyState = 3; this.onclose?.(); }
}
const sockets = [];
class MessageChannel {
  constructor() {
    this.port1 = {};
    this.port2 = {postMessage: data => setTimeout(() => this.port1.onmessage({data}))};
  }
}
class Worker {
  constructor(address, options) { global.started.push([String(address), options?.type]); }
}
async function fetch(address, {method = 'GET', body = ''} = {}) {
  await undefined;
  const [status, bytes] = ask(method, address, bytesOf(body));
  return {ok: status === 200, status, statusText: '', arrayBuffer: async () => bytes.buffer, json: async () => JSON.parse(text(bytes))};
}
Object.assign(global, {Blob, XMLHttpRequest, WebSocket, MessageChannel, Worker, fetch, sizes: [], started: [], offline: false, isEager: false});
URL.createObjectURL = blob => { const address = `blob:${global.location.origin}/${blobs.size}`; blobs.set(address, blob); return address; };
URL.revokeObjectURL = address => { blobs.delete(address); };
global.textOf = address => text(blobs.get(address).bytes);
Object.defineProperty(global, 'isSecureContext', {value: true});
global.document = {baseURI: global.location.href};
global.origin = global.location.origin;
global.parent = global;
global.sockets = sockets;
// What a browser with a WebNN of its own has.
for (const name of ['ML', 'MLContext', 'MLNewest', 'MLGraphBuilder']) global[name] = class {};
global.MLine = 1;
function deliver(address, bytes) {
  for (const each of sockets) if (each.address === address) each.onmessage({data: new Uint8Array(bytes).buffer});
}
return deliver;
})
