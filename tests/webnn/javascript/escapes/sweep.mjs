// Lies in wait for Node: whatever property its own code may look up gets a getter and a setter on the prototypes that everybody shares, and
// every method that it may call a spy. What they see, and everything that can be reached from there, is searched for the way out.
//
// `names.json` holds the names in Node's own source. Prints a JSON object: how many objects were seen, and the ways out.
const {apply, construct, getPrototypeOf, ownKeys} = Reflect, {defineProperty, getOwnPropertyDescriptor, hasOwn} = Object, {setTimeout} = globalThis;
// A member of each object that opens a door: of Node's process, its modules, and its loader of modules.
const DOORS = [
  'binding', 'dlopen', 'getBuiltinModule', 'reallyExit', 'moduleLoadList', 'readFileSync', 'openSync', 'createServer', 'spawnSync', 'loadCache',
  'createRequire', 'registerHooks', 'DatabaseSync', 'internalBinding', 'compileFunction',
];
const isObject = value => (typeof value === 'object' && value !== null) || typeof value === 'function';

// ---- What was seen: kept in a list that needs nothing of what is spied on

const known = new WeakSet(), {has, add} = WeakSet.prototype;
let last = null, seen = 0, asleep = false;
function note(value, how) {
  if (asleep || !isObject(value) || apply(has, known, [value])) return;
  asleep = true;
  apply(add, known, [value]);
  last = {__proto__: null, value, how, before: last};
  seen++;
  asleep = false;
}

// ---- Spies

const traps = [];
function trap(owner, name) {
  traps[traps.length] = () => { delete owner[name]; };
  defineProperty(owner, name, {
    __proto__: null, configurable: true,
    get() { note(this, `get ${String(name)}`); return undefined; },
    set(value) {
      note(this, `set ${String(name)}`);
      note(value, `the value of ${String(name)}`);
      defineProperty(this, name, {__proto__: null, value, writable: true, enumerable: true, configurable: true});
    },
  });
}
function spy(owner, name, label) {
  const descriptor = getOwnPropertyDescriptor(owner, name);
  if (typeof descriptor?.value !== 'function') return;
  const {value: original} = descriptor;
  const value = function (...values) {
    note(this, label);
    for (let index = 0; index < values.length; index++) note(values[index], label);
    return new.target ? construct(original, values, new.target) : apply(original, this, values);
  };
  try { defineProperty(owner, name, {__proto__: null, ...descriptor, value}); } catch { return; }
}

const names = await (await fetch('names.json')).json();
const CLASSES = [
  Map, Set, WeakMap, WeakSet, Promise, RegExp, String, Number, Function, Array, Symbol, Date, Error, ArrayBuffer, DataView, URL, Request, Response,
  Headers, EventTarget, Event, AbortSignal, AbortController, Blob, TextDecoder, TextEncoder, WeakRef, FinalizationRegistry, ReadableStream,
  MessagePort, BigInt, Boolean, Buffer, getPrototypeOf(Uint8Array),
];
const NAMESPACES = [Object, Reflect, JSON, Array, Promise, Symbol, Math, Atomics, Buffer, ArrayBuffer, Error];
const FUNCTIONS = ['setTimeout', 'queueMicrotask', 'setImmediate', 'fetch', 'structuredClone', 'parseInt'];
const DESCRIPTOR = ['value', 'get', 'set', 'writable', 'enumerable', 'configurable'];
for (const name of names) if (!(name in Object.prototype) && !DESCRIPTOR.includes(name)) trap(Object.prototype, name);
for (let index = 0; index < 40; index++) trap(Array.prototype, index);
for (const {name, prototype} of CLASSES) for (const each of ownKeys(prototype)) if (each !== 'constructor') spy(prototype, each, `${name}.prototype.${String(each)}`);
for (const namespace of NAMESPACES) for (const each of ownKeys(namespace)) spy(namespace, each, `the function ${String(each)}`);
for (const each of ['toString', 'valueOf', 'hasOwnProperty', 'isPrototypeOf', 'propertyIsEnumerable', 'toLocaleString']) spy(Object.prototype, each, each);
for (const each of FUNCTIONS) spy(globalThis, each, each);
Error.prepareStackTrace = (_, sites) => {
  for (let index = 0; index < sites.length; index++) { note(sites[index].getThis(), 'getThis'); note(sites[index].getFunction(), 'getFunction'); }
  return '';
};

// ---- Work: as much as possible of what Node's own code does for a program

const attempt = async act => {
  try { await Promise.race([act(), new Promise(resolve => { setTimeout(() => resolve(), 300); })]); } catch { /* most of it fails under these circumstances */ }
};
const work = [
  () => import('./other.mjs'), () => import('node:fs'), () => import('./none.mjs'), () => import('data:text/javascript,export default 1'),
  () => import('data:application/json,{}', {with: {type: 'json'}}), () => import('data:application/wasm;base64,AGFzbQEAAAA='), () => import.meta.resolve('./x.mjs'),
  () => fetch('names.json').then(response => response.text()), () => fetch('data:,abc').then(response => response.text()), () => fetch('https://x.test/'),
  () => fetch(URL.createObjectURL(new Blob(['x']))).then(response => response.text()),
  async () => {
    const {readable, writable} = new CompressionStream('gzip'), writer = writable.getWriter();
    writer.write(new Uint8Array(5)); writer.close();
    await new Response(readable).arrayBuffer();
  },
  async () => {
    const {port1, port2} = new MessageChannel();
    port2.onmessage = () => port2.close();
    port1.postMessage({a: 1});
    await new Promise(resolve => { setTimeout(resolve, 20); });
  },
  () => structuredClone({a: [1]}), () => { const channel = new BroadcastChannel('a'); channel.postMessage(1); channel.close(); },
  () => crypto.subtle.digest('SHA-256', new Uint8Array(3)), () => crypto.subtle.generateKey({name: 'AES-GCM', length: 128}, true, ['encrypt']),
  () => WebAssembly.compileStreaming(fetch('names.json')), () => new Blob(['a']).text(), () => new Response(new FormData()).text(),
  () => console.debug({a: 1, m: new Map([[1, 2]]), p: Promise.resolve(1), e: new Error('x'), x: new Proxy({}, {})}),
  () => { console.table([{a: 1}]); console.trace('x'); console.time('a'); console.timeEnd('a'); console.assert(false); console.dir({}); console.count(); },
  () => { process.on('exit', () => {}); process.emitWarning('x'); process.nextTick(() => {}); },
  () => { process.on('unhandledRejection', function () { note(this, 'listener'); }); Promise.reject(new Error('x')); },
  () => { process.on('uncaughtException', function () { note(this, 'listener'); }); setTimeout(() => { throw 1; }); },
  async () => {
    const context = await navigator.ml.createContext(), builder = new MLGraphBuilder(context);
    const graph = await builder.build({y: builder.relu(builder.input('x', {dataType: 'float32', dimensions: [2]}))});
    await context.compute(graph, {x: new Float32Array(2)}, {y: new Float32Array(2)});
  },
  () => new Promise(resolve => { setTimeout(resolve, 10); }), () => new Promise(resolve => { setImmediate(resolve); }),
  async () => { const {readable, writable} = new TransformStream(); writable.getWriter().write(1); await readable.getReader().read(); },
  () => { performance.mark('a'); performance.measure('a'); new PerformanceObserver(() => {}).observe({entryTypes: ['mark', 'gc', 'function']}); },
  () => { new AbortController().abort(); for (let count = 0; count < 12; count++) AbortSignal.timeout(5).addEventListener('abort', () => {}); },
  () => { Buffer(5); new Buffer(4); }, () => { new URL('x'); }, () => null.x,
];
for (const act of work) await attempt(act);

// ---- The search

asleep = true;
for (let index = 0; index < traps.length; index++) traps[index]();
const ways = [], queue = [], searched = new Set();
const search = (value, path) => { if (isObject(value) && !searched.has(value)) { searched.add(value); queue.push([value, path]); } };
for (let each = last; each !== null; each = each.before) search(each.value, each.how);
search(globalThis, 'globalThis');
while (queue.length > 0) {
  const [object, path] = queue.pop();
  for (const door of DOORS) { try { if (hasOwn(object, door)) ways.push(`${path}: ${door}`); } catch { /* a proxy */ } }
  try { search(getPrototypeOf(object), `${path}.__proto__`); } catch { continue; }
  for (const name of ownKeys(object)) {
    const descriptor = getOwnPropertyDescriptor(object, name), place = path.length < 100 ? `${path}.${String(name)}` : path;
    if (descriptor === undefined) continue;
    for (const part of ['value', 'get', 'set']) search(descriptor[part], place);
    if (descriptor.get) { try { search(apply(descriptor.get, object, []), place); } catch { /* of another class */ } }
  }
  if (object instanceof Map) for (const entry of object) for (const each of entry) search(each, `${path}[]`);
  if (object instanceof Set) for (const each of object) search(each, `${path}[]`);
}
console.log(JSON.stringify({seen, ways}));
process.exit(0);
