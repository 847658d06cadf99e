// The emulator in a page or a worker: `send`, `tell`, `start` and `wait` of the binding (binding.js), over what a page has: synchronous requests,
// in an isolated worker shared memory and a relay; and a live connection. messages.py has the form of what is sent.
//
// `setup` has the `endpoint` (the address of the emulator), the `idl`, the header `policy` of the document, how many bytes a `piece` has,
// and whether the program's `lines` are told.
// `sources` are the functions of the binding's files, `relaySource` is the text of relay.js.
(function (global, setup, sources, relaySource) {
'use strict';
const MARK = global.Symbol.for('webnn.serve');
if (global.Object.hasOwn(global, MARK)) return;
global.Object.defineProperty(global, MARK, {value: true});

// What this file does later, when the program may have changed what everybody shares, it does with what was there at first.
const {
  Array, ArrayBuffer, Atomics, Blob, DOMException, DataView, Error, Int32Array, JSON, Map, MessageChannel, Object, Proxy, Reflect, Set, SharedArrayBuffer, String,
  TextDecoder, TextEncoder, URL, Uint8Array, WebSocket, Worker, XMLHttpRequest, console, fetch, location, queueMicrotask, setTimeout,
} = global;
const inWindow = typeof global.document === 'object', inShared = global.SharedWorkerGlobalScope !== undefined;
const {endpoint} = setup, encoder = new TextEncoder(), decoder = new TextDecoder();

// ---- A native WebNN is hidden: what the chosen draft has is put in its place below

for (const name of Object.getOwnPropertyNames(global)) if (/^ML([A-Z]|$)/.test(name)) Reflect.deleteProperty(global, name);
const Navigator = global[inWindow ? 'Navigator' : 'WorkerNavigator'];
Reflect.deleteProperty(Navigator.prototype, 'ml');

// ---- Bodies: a number and messages

const TWO_32 = 2 ** 32, HEADER = 8, LENGTH = 8, NUMBER = 4;
// Large bodies travel as a Blob: a debugger (DevTools, Playwright) is sent the bytes of a view with each request, but not those of a Blob.
const LARGE = 1 << 15;

const messageSize = parts => parts.reduce((size, part) => size + LENGTH + part.length, HEADER);
function writeHead(view, at, kind, parts) {
  for (const [index, code] of [87, 78, kind.charCodeAt(0), 0].entries()) view.setUint8(at + index, code);
  view.setUint32(at + 4, parts.length, true);
  at += HEADER;
  for (const {length} of parts) {
    view.setUint32(at, length % TWO_32, true);
    view.setUint32(at + 4, length / TWO_32, true);
    at += LENGTH;
  }
  return at;
}
// The body of messages, [kind, parts] each, the first of which has a number: bytes, or a Blob if it is larger than `largest`.
function pack(number, messages, largest) {
  const size = messages.reduce((sum, [, parts]) => sum + messageSize(parts), NUMBER);
  const isLarge = size > largest, head = new Uint8Array(isLarge ? NUMBER : size), pieces = [head];
  new DataView(head.buffer).setUint32(0, number, true);
  let at = NUMBER;
  for (const [kind, parts] of messages) {
    if (isLarge) {
      const own = new Uint8Array(HEADER + LENGTH * parts.length);
      writeHead(new DataView(own.buffer), 0, kind, parts);
      // A Blob refuses shared and resizable memory.
      pieces.push(own, ...parts.map(part => part.buffer instanceof ArrayBuffer && !part.buffer.resizable ? part : part.slice()));
      continue;
    }
    at = writeHead(new DataView(head.buffer), at, kind, parts);
    for (const part of parts) { head.set(part, at); at += part.length; }
  }
  return isLarge ? new Blob(pieces) : head;
}
// A received body: {number, kind, parts}, each part with `size`, `copyTo(bytes)` and `take()`.
function unpack(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length), count = view.getUint32(NUMBER + 4, true);
  const parts = [];
  let at = NUMBER + HEADER + LENGTH * count;
  for (let index = 0; index < count; index++) {
    const place = NUMBER + HEADER + LENGTH * index, size = view.getUint32(place, true) + view.getUint32(place + 4, true) * TWO_32;
    const part = bytes.subarray(at, at += size);
    parts.push({size, part, copyTo: target => target.set(part), take: () => part.slice().buffer});
  }
  return {number: view.getUint32(0, true), kind: String.fromCharCode(view.getUint8(NUMBER + 2)), parts};
}
const HANDLE = /"\$h": ?(\d+)/g;
// What the binding takes of an answer. Its handles tell which numbers a later session may give to objects.
function answerOf({parts: [first, ...rest]}) {
  const text = decoder.decode(first.part);
  for (const [, digits] of text.matchAll(HANDLE)) highest = Math.max(highest, Number(digits) + 1);
  return [text, rest];
}

// ---- The session. It ends with its page, or with the emulator; then another one begins.

let name, highest = 1, binding, greeted;
// The messages that are not known to be carried out. The first one has the number `first`. Those from the place `shipped` on were not sent yet.
let queue, first, shipped;
// How many bytes they have, those that were not sent, and their texts; and how many of them are too large for a frame.
let queued, unsent, texts, tooLarge;
// Those before this number are to be sent.
let due = 0;
// The bytes that were written to tensors last, by the texts of the requests, and how many they are.
let kept, keptSize;
function begin() {
  const digits = global.crypto.getRandomValues(new Uint8Array(16));
  name = Array.from(digits, each => each.toString(16).padStart(2, '0')).join('');
  greeted = false;
  [queue, first, shipped, queued, unsent, texts, tooLarge] = [[], 1, 0, 0, 0, 0, 0];
  [kept, keptSize] = [new Map(), 0];
  due = 0;
}
begin();
const addressOf = what => `${endpoint}/${what}?s=${name}`;

// The origins of the documents around this one, the nearest first.
function ancestorsOf(frame) {
  if (location.ancestorOrigins !== undefined) return Array.from(location.ancestorOrigins);
  const origins = [];
  for (; frame !== frame.parent; frame = frame.parent) {
    try { origins.push(String(frame.parent.origin)); } catch { origins.push('null'); }
  }
  return origins;
}
// What the browser itself decides, null if it does not know the feature: a frame of another origin does not see its attribute.
function isAllowed() {
  const policy = global.document?.featurePolicy;
  try { return policy.features().includes('webnn') ? policy.allowsFeature('webnn') : null; } catch { return null; }
}
function describe() {
  let allow = '';
  try { allow = global.frameElement?.getAttribute('allow') ?? ''; } catch { /* the page around it has another origin */ }
  const cut = text => String(text).slice(0, 4000), origin = String(global.origin ?? location.origin);
  const kind = inWindow ? 'window' : inShared ? 'sharedworker' : 'worker';
  const ancestors = inWindow ? ancestorsOf(global) : [], allowed = isAllowed();
  return JSON.stringify({kind, url: cut(location.href), origin, ancestors, allow: cut(allow), policy: setup.policy, allowed, first: highest});
}

// Begin another session: the contexts of this one are lost.
function renew(why) {
  relay = undefined;
  begin();
  binding?.loseAll(why);
  connect();
}
function fail(message) {
  const text = `the emulator does not answer: ${message}`;
  renew(text);
  throw new DOMException(text, 'InvalidStateError');
}
// A page that a browser keeps while the user is elsewhere loses its connection.
if (inWindow) {
  global.addEventListener('pageshow', ({persisted}) => {
    if (persisted && socket?.readyState > WebSocket.OPEN) renew('the page was left, and its session of the emulator ended');
  });
}

// ---- Synchronous requests

const {open, send: sendRequest, setRequestHeader, overrideMimeType} = XMLHttpRequest.prototype;
const charCodeAt = String.prototype.charCodeAt;
// Returns the status, and the bytes of the answer.
function ask(address, body) {
  const request = new XMLHttpRequest();
  Reflect.apply(open, request, ['POST', address, false]);
  // A simple request: no preflight where the emulator has another origin than the page.
  Reflect.apply(setRequestHeader, request, ['Content-Type', 'text/plain']);
  // A window may not choose the type of a synchronous response: its bytes come as characters.
  if (inWindow) Reflect.apply(overrideMimeType, request, ['text/plain; charset=x-user-defined']); else request.responseType = 'arraybuffer';
  Reflect.apply(sendRequest, request, [body]);
  return [request.status, inWindow ? toBytes(request.responseText) : new Uint8Array(request.response)];
}
function post(address, body) {
  let status, bytes;
  try { [status, bytes] = ask(address, body); } catch (error) { return fail(error.message); }
  return status === 200 ? bytes : fail(`${status} ${decoder.decode(bytes).trim()}`);
}
function toBytes(text) {
  const bytes = new Uint8Array(text.length);
  for (let index = 0; index < bytes.length; index++) bytes[index] = Reflect.apply(charCodeAt, text, [index]);
  return bytes;
}

// ---- Shared memory: a worker of an isolated page waits for a relay, which has a connection of its own

let relay;
const WAITS = 0, SIZE = 1, TOTAL = 2, STATE = 0, CLOSED = 3, READY = 4;
function startRelay() {
  const memory = new SharedArrayBuffer(64 + (1 << 20)), control = new Int32Array(memory, 0, 16), data = new Uint8Array(memory, 64);
  const address = URL.createObjectURL(new Blob([relaySource], {type: 'text/javascript'}));
  try {
    const worker = new Worker(address);
    worker.postMessage({memory, address: addressOf('relay').replace(/^http/, 'ws'), greeting: describe()});
    relay = {worker, control, data};
  } catch { /* the page's policy does not allow it: requests do as well */ }
}
// Whether the relay can take a message of this form. It takes some time to connect after it was started.
const canRelay = body => relay !== undefined && !(body instanceof Blob) && Atomics.load(relay.control, READY) === 1;
function exchangeThroughRelay(body) {
  const {worker, control, data} = relay;
  Atomics.store(control, STATE, WAITS);
  worker.postMessage(body, [body.buffer]);
  let bytes, done = 0;
  do {
    Atomics.wait(control, STATE, WAITS);
    if (Atomics.load(control, STATE) === CLOSED) return fail('its connection has ended');
    const size = control[SIZE];
    bytes ??= new Uint8Array(control[TOTAL]);
    bytes.set(data.subarray(0, size), done);
    done += size;
    Atomics.store(control, STATE, WAITS);
    Atomics.notify(control, STATE);
  } while (done < bytes.length);
  return bytes;
}

// ---- The binding's transport

// Messages are carried out in the order of their numbers. Those without an answer wait for the next one. What starts an operation goes through
// the live connection, with all before it, while the program goes on. A page that waits sends nothing through it, so a synchronous request repeats
// what is not known to be carried out; the emulator carries it out once.
// The program's line of the calls that follow, if the emulator asks for it: the innermost place that is not in this script.
const LONGEST_PLACE = 1000, FRAMES = 100;
let lastPlace = '';
const findPlace = () => new Error().stack?.split('\n').find(line => /:\d+/.test(line) && !line.includes(endpoint));
function tellPlace() {
  if (!setup.lines) return;
  const {stackTraceLimit} = Error;
  let found;
  Reflect.set(Error, 'stackTraceLimit', FRAMES);
  try { found = findPlace(); } catch { /* the page has changed what errors are */ }
  Reflect.set(Error, 'stackTraceLimit', stackTraceLimit);
  const [, address = '', line = 0] = /([^\s(@]*?):(\d{1,9})(?::\d+)?\)?$/.exec(found ?? '') ?? [], place = `${address.slice(0, LONGEST_PLACE)}:${line}`;
  if (place !== lastPlace) enqueue('L', lastPlace = place, []);
}
// The emulator carries out the messages of a frame while the next one is on its way. Of many frames, most wait here until those before them are
// carried out: the browser would copy them, and send none meanwhile.
const ENOUGH = 1 << 20, MOST_QUEUED = 1 << 26, MOST_TEXT = 1 << 24, FRAME = 1 << 18, LARGEST_FRAME = 1 << 22, MOST_OPERATIONS = 1024;
const WINDOW = 1 << 21;
// The emulator takes a body with twice as many (messages.py).
const MOST_MESSAGES = 1 << 16;
const MOST_KEPT = 1 << 23, LONGEST_KEPT = 1 << 12, WRITES = '["MLContext","writeTensor",';
function enqueue(kind, text, buffers) {
  let parts = [encoder.encode(text), ...buffers], frame;
  if (kind === 'D' && isWrite(text, parts)) {
    parts[1] = parts[1].slice();
    kind = shorten(text, parts);
  } else if (messageSize(parts) > FRAME && fits(parts)) [frame, parts] = makeFrame(kind, parts);
  else parts = parts.map((each, index) => index === 0 ? each : each.slice());
  const size = messageSize(parts);
  queue.push([kind, parts, frame]);
  count(size, parts[0].length, fits(parts) ? 0 : 1);
  return first + queue.length - 1;
}
const fits = parts => NUMBER + messageSize(parts) <= LARGEST_FRAME;
function count(size, length, large) {
  queued += size;
  unsent += size;
  texts += length;
  tooLarge += large;
}
// The frame of one message, with room for its number: large bytes are copied once. Returns the parts of it, too.
function makeFrame(kind, parts) {
  const frame = new Uint8Array(NUMBER + messageSize(parts));
  let at = writeHead(new DataView(frame.buffer), NUMBER, kind, parts);
  return [frame, parts.map(part => { frame.set(part, at); return frame.subarray(at, at += part.length); })];
}
// Bytes that are written to a tensor again are not sent again. Both sides keep the last ones of each request by its text: the emulator follows the
// same rules (session.py), and every message that is queued here arrives there once, or the session ends.
const isWrite = (text, {1: bytes, length}) =>
  length === 2 && bytes.length >= LARGE && bytes.length <= LARGEST_FRAME && text.length <= LONGEST_KEPT && text.startsWith(WRITES);
// Keep the bytes, or remove them if they are kept already. Returns the letter of the message.
function shorten(text, parts) {
  const bytes = parts[1], known = kept.get(text);
  if (known !== undefined && isEqual(known, bytes)) {
    parts.pop();
    return 'S';
  }
  if (keptSize - (known?.length ?? 0) + bytes.length > MOST_KEPT) [kept, keptSize] = [new Map(), 0];
  keptSize += bytes.length - (kept.get(text)?.length ?? 0);
  kept.set(text, bytes);
  return 'K';
}
// Compare bytes, each from the beginning of its buffer.
function isEqual(left, right) {
  if (left.length !== right.length) return false;
  const words = left.length >> 2, [a, b] = [left, right].map(({buffer}) => new Int32Array(buffer, 0, words));
  for (let index = 0; index < words; index++) if (a[index] !== b[index]) return false;
  for (let index = words << 2; index < left.length; index++) if (left[index] !== right[index]) return false;
  return true;
}
// Everything up to a number is carried out.
function acknowledge(number) {
  const done = queue.splice(0, Math.max(0, number - first + 1));
  first += done.length;
  shipped = Math.max(0, shipped - done.length);
  for (const [, parts] of done) {
    queued -= messageSize(parts);
    texts -= parts[0].length;
  }
}
// Send the messages through the live connection, in frames: now, or when those before them are carried out. Returns false if that cannot take them.
const isFull = () => queued > MOST_QUEUED || texts > MOST_TEXT || queue.length >= MOST_MESSAGES;
const canShip = () => isReady && socket.readyState === WebSocket.OPEN && tooLarge === 0 && !isFull();
function ship() {
  if (!canShip()) return false;
  due = first + queue.length;
  shipDue();
  return true;
}
function shipDue() {
  while (first + shipped < due && queued - unsent <= WINDOW && socket.readyState === WebSocket.OPEN) {
    const messages = [], number = first + shipped;
    let size = NUMBER;
    for (let next = queue[shipped]; first + shipped < due; next = queue[++shipped]) {
      const more = messageSize(next[1]);
      if (messages.length > 0 && size + more > FRAME) break;
      size += more;
      messages.push(next);
    }
    unsent -= size - NUMBER;
    const [[, , frame]] = messages;
    if (frame !== undefined) new DataView(frame.buffer).setUint32(0, number, true);
    Reflect.apply(sendFrame, socket, [frame ?? pack(number, messages, LARGEST_FRAME)]);
  }
}
// Send a request without an answer: now, which is when the program's function is done, or with the next one. While a program goes on without a
// break, the browser sends at most 128 KiB through the live connection, and a request would repeat all of it.
// A page whose live connection has ended asks whether its session has, too.
const hasEnded = () => isReady && socket.readyState > WebSocket.OPEN;
let willShip = false;
function tell(text, buffers, now) {
  tellPlace();
  enqueue('D', text, buffers);
  if (isFull() || hasEnded()) exchange([]);
  else if ((now || unsent > ENOUGH) && !willShip) {
    willShip = true;
    queueMicrotask(shipNow);
  }
}
function shipNow() {
  willShip = false;
  if (unsent > 0) ship();
}
// Start an operation. Returns the number of its result, undefined if the program has to wait.
function start(text, buffers) {
  if (operations.size >= MOST_OPERATIONS || !canShip()) return undefined;
  tellPlace();
  const number = enqueue('P', text, buffers);
  if (ship()) return number;
  const [, parts] = queue.pop();
  count(-messageSize(parts), -parts[0].length, fits(parts) ? 0 : -1);
  return undefined;
}
// Send all messages, and wait for the answer.
let isWaiting = false;
function exchange(messages) {
  const body = pack(first, [...greeted ? [] : [['H', [encoder.encode(describe())]]], ...queue, ...messages], LARGE);
  isWaiting = true;
  let bytes;
  try {
    bytes = canRelay(body) ? exchangeThroughRelay(body) : post(addressOf('call'), sendAhead(body));
  } finally {
    isWaiting = false;
    if (late.length > 0) queueTask(catchUp);
  }
  [queue, first, shipped, queued, unsent, texts, tooLarge] = [[], first + queue.length + messages.length, 0, 0, 0, 0, 0];
  greeted = true;
  return unpack(bytes);
}
// Send all of a very large body but its end, in pieces: a debugger that is sent the bytes of each request could not hold it. Returns the end.
function sendAhead(body) {
  let rest = body;
  while (rest instanceof Blob && rest.size > setup.piece) {
    post(addressOf('piece'), rest.slice(0, setup.piece));
    rest = rest.slice(setup.piece);
  }
  return rest;
}
function send(text, buffers) {
  tellPlace();
  return answerOf(exchange([['C', [encoder.encode(text), ...buffers]]]));
}

// Operations that go on, by session and number: what takes their results.
const operations = new Map();
function wait(number, accept, failed) {
  const key = `${name} ${number}`;
  operations.set(key, {accept, failed});
  if (socket === undefined || socket.readyState > WebSocket.OPEN) take(key);
}
// Fetch a result.
async function take(key) {
  const [session, number] = key.split(' ');
  try {
    const response = await fetch(`${endpoint}/result?s=${session}&n=${number}`, {method: 'POST'});
    if (!response.ok) throw new Error(`${response.status} ${response.statusText}`);
    settle(key, unpack(new Uint8Array(await response.arrayBuffer())));
  } catch (error) {
    const operation = operations.get(key);
    operations.delete(key);
    operation?.failed(new DOMException(`the emulator does not answer: ${error.message}`, 'InvalidStateError'));
  }
}
function settle(key, body) {
  const operation = operations.get(key);
  operations.delete(key);
  operation?.accept(answerOf(body));
}

// ---- The live connection: the session lives as long as it does

const {send: sendFrame} = WebSocket.prototype;
let socket, isReady = false;
function receive(ours, data) {
  // The first message says that requests may come.
  if (data.byteLength === 0) { isReady ||= ours === name; return; }
  const body = unpack(new Uint8Array(data)), key = `${ours} ${body.number}`;
  if (ours === name && 'ARN'.includes(body.kind)) {
    acknowledge(body.number);
    shipDue();
  }
  if (body.kind === 'R') settle(key, body);
  if (body.kind === 'N') take(key);
  if (body.kind === 'L' && ours === name) binding?.tellLost(JSON.parse(decoder.decode(body.parts[0].part)), run => run());
}
// Firefox brings messages while a synchronous request waits. The program must not see that: they come in a later task.
const late = [];
function catchUp() {
  while (!isWaiting && late.length > 0) receive(...late.shift());
}
function connect() {
  const ours = name;
  isReady = false;
  try {
    socket = new WebSocket(addressOf('live').replace(/^http/, 'ws'));
  } catch (error) {
    console.warn(`webnn serve: there is no live connection (${error.message}); docs/pages.md says what a page needs`);
    return;
  }
  socket.binaryType = 'arraybuffer';
  socket.onopen = ({target}) => { if (ours === name) target.send(describe()); };
  socket.onmessage = ({data}) => {
    if (isWaiting || late.length > 0) late.push([ours, data]); else receive(ours, data);
  };
  socket.onclose = () => {
    for (const key of [...operations.keys()]) if (key.startsWith(ours)) take(key);
  };
}

// ---- Workers: the emulator hears of their scripts before they are fetched. What is in a Blob is changed here.

const prefixOf = isModule => `${isModule ? 'import' : 'importScripts('}${JSON.stringify(`${endpoint}/webnn.js`)}${isModule ? '' : ')'};`;
function changeBlob(url, isModule) {
  const request = new XMLHttpRequest();
  Reflect.apply(open, request, ['GET', url, false]);
  Reflect.apply(sendRequest, request, []);
  const strict = /^\s*(['"])use strict\1/.test(request.responseText) ? "'use strict';" : '';
  const changed = URL.createObjectURL(new Blob([strict, prefixOf(isModule), request.responseText], {type: 'text/javascript'}));
  // The worker has fetched it by then.
  setTimeout(() => URL.revokeObjectURL(changed), 60000);
  return changed;
}
for (const kind of ['Worker', 'SharedWorker']) {
  const Native = global[kind];
  if (Native === undefined) continue;
  const construct = (target, [given, options, ...rest], newTarget) => {
    let address = given;
    try {
      const url = new URL(String(given), global.document?.baseURI ?? location.href), isModule = options?.type === 'module';
      if (url.protocol === 'blob:') address = changeBlob(url.href, isModule);
      else if (url.protocol !== 'data:') ask(addressOf('worker'), JSON.stringify({url: url.href, type: isModule ? 'module' : 'classic'}));
    } catch (error) {
      console.warn(`webnn serve: the worker ${String(given).slice(0, 200)} has no emulator: ${error.message}`);
    }
    return Reflect.construct(target, options === undefined ? [address] : [address, options, ...rest], newTarget);
  };
  const wrapped = new Proxy(Native, {construct});
  Native.prototype.constructor = wrapped;
  Object.defineProperty(global, kind, {value: wrapped, writable: true, enumerable: false, configurable: true});
}

// ---- navigator.ml

// A task: a timer would wait 4 ms once it is nested, and a second in a tab in the background.
const channel = new MessageChannel(), tasks = [];
channel.port1.onmessage = () => tasks.shift()();
const queueTask = callback => { tasks.push(callback); channel.port2.postMessage(0); };

// ---- Warnings on the console, each once for each place in the program

const warned = new Set();
async function ignored(where, given, known) {
  const place = findPlace() ?? '';
  const question = JSON.stringify([where, given, known]), key = `${place} ${question}`;
  if (warned.has(key)) return;
  warned.add(key);
  try {
    const response = await fetch(addressOf('ignored'), {method: 'POST', body: question});
    if (response.ok) for (const text of await response.json()) console.warn(`WebNNWarning: ${text}\n${place}`);
  } catch { /* the emulator is gone */ }
}

if (!global.isSecureContext) return;
connect();
if (!inWindow && !inShared && global.crossOriginIsolated && SharedArrayBuffer !== undefined) startRelay();
const [conversion, makeBinding, makeForesight, navigator, makeBridge] = sources, transport = {send, tell, start, wait, makeForesight, makeBridge};
binding = navigator(global, setup.idl, makeBinding, conversion, transport, queueTask, undefined, {isProxy: () => false, ignored});
})
