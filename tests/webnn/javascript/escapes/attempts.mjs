// Attempts to get hold of Node from a program: each is a way to some object. `judge` says what an object is good for. The test runs this file
// twice: as a program, where nothing must be reached, and in Node itself, where the way to `process` is open: there every prize is reached.
//
// Prints a JSON object: the prizes that each attempt has won.
const SECRET = '@SECRET@', FILE = '@FILE@', PORT = Number('@PORT@'), DATABASE = '@DATABASE@';

const listed = value => (typeof value === 'object' && value !== null) || typeof value === 'function' ? [value] : [];
const attemptTo = async act => { try { return await act(); } catch { return undefined; } };
const later = milliseconds => new Promise(resolve => setTimeout(resolve, milliseconds));

// ---- Prizes: what somebody with Node's `process`, or one of its modules, can do

async function judge(candidate) {
  const won = [], {process: inner} = candidate;
  for (const node of [candidate, ...listed(inner)]) {
    const load = node.getBuiltinModule ?? node.createRequire?.('file:///x.js') ?? node.mainModule?.require ?? node.require;
    const module = async name => {
      try { return load.call(node, name) ?? node; } catch { return node; }
    };
    const prizes = {
      environment: () => Object.values(node.env).includes(SECRET),
      parent: () => node.kill(node.ppid, 0) === true,
      file: async () => (await module('fs')).readFileSync(FILE, 'utf8').includes(SECRET),
      process: async () => (await module('child_process')).spawnSync('true').pid > 0,
      network: async () => {
        const {connect} = await module('net');
        return await new Promise((resolve, reject) => connect(PORT, '127.0.0.1', () => resolve(true)).on('error', reject));
      },
      database: async () => { new (await module('node:sqlite')).DatabaseSync(DATABASE).exec('create table if not exists t(x)'); return true; },
      binding: () => typeof (node.binding ?? node._linkedBinding)('fs') === 'object',
      exit: () => typeof node.reallyExit === 'function' && typeof node.env === 'object' && node !== globalThis.process,
    };
    for (const [name, act] of Object.entries(prizes)) if (await attemptTo(act) === true && !won.includes(name)) won.push(name);
  }
  return won;
}

// ---- Attempts

// Collect what a function is called with while something happens.
async function listen(owner, name, act) {
  const original = Object.getOwnPropertyDescriptor(owner, name), seen = new Set();
  const {value} = original;
  let inside = false;
  const spy = function (...values) {
    if (!inside) {
      inside = true;
      try { for (const each of [this, ...values]) for (const object of listed(each)) seen.add(object); } finally { inside = false; }
    }
    return new.target ? Reflect.construct(value, values, new.target) : Reflect.apply(value, this, values);
  };
  try { Object.defineProperty(owner, name, {...original, value: spy}); } catch { return []; }
  try { await act(); } finally { Object.defineProperty(owner, name, original); }
  return [...seen];
}
// Collect the objects that lack a property, or that are given one, while something happens.
async function lurk(owner, names, act) {
  const seen = new Set();
  for (const name of names) {
    Object.defineProperty(owner, name, {
      configurable: true,
      get() { seen.add(this); return undefined; },
      set(value) {
        seen.add(this);
        for (const each of listed(value)) seen.add(each);
        Object.defineProperty(this, name, {value, writable: true, enumerable: true, configurable: true});
      },
    });
  }
  try { await act(); } finally { for (const name of names) delete owner[name]; }
  return [...seen];
}
const chain = value => { const all = []; for (let each = value; each; each = Object.getPrototypeOf(each)) all.push(each); return all; };
const emitters = () => [process, process.stdout, process.stderr, console._stdout].flatMap(each => chain(each)).filter(
  each => each !== Object.prototype && Object.hasOwn(each, 'emit'));
const events = async () => {
  process.on('exit', () => {}); process.once('uncaughtException', () => {}); process.on('unhandledRejection', () => {});
  process.on('beforeExit', () => {}); process.emitWarning('attempt');
  Promise.reject(new Error('attempt')); setTimeout(() => { throw new Error('attempt'); });
  await later(20);
};
const everything = async () => {
  await events();
  await attemptTo(() => import('data:text/javascript,export default 1'));
  await attemptTo(() => import('./none.mjs'));
  await attemptTo(() => fetch('data:,x').then(response => response.text()));
  await attemptTo(() => fetch(URL.createObjectURL(new Blob(['x']))).then(response => response.text()));
  await attemptTo(async () => {
    const {readable, writable} = new CompressionStream('gzip'), writer = writable.getWriter();
    writer.write(new Uint8Array(4)); writer.close();
    await new Response(readable).arrayBuffer();
  });
  await attemptTo(() => import('own'));
  await attemptTo(() => {
    const script = document.createElement('script'), request = new XMLHttpRequest();
    script.text = '1';
    document.body.append(script, Object.assign(document.createElement('script'), {src: 'none.js'}));
    request.open('GET', 'none.txt');
    request.send();
  });
  const {port1, port2} = new MessageChannel();
  port2.onmessage = () => port2.close();
  port1.postMessage({});
  await later(20);
};
const sites = async act => {
  const {prepareStackTrace} = Error, seen = [];
  Error.prepareStackTrace = (_, all) => {
    for (const site of all) for (const name of ['getThis', 'getFunction']) { try { seen.push(...listed(site[name]())); } catch {} }
    return '';
  };
  try { await act(); } finally { Error.prepareStackTrace = prepareStackTrace; }
  return seen;
};
const NAMES = [
  'noDeprecation', 'throwDeprecation', 'traceDeprecation', 'domain', 'exitCode', 'env', 'binding', 'loadCache', 'handle', 'then', 'parent', 'loader',
  'format', 'importAttributes', 'signal', 'dispatcher', 'highWaterMark', 'listener', 'wrapped', '_events', '_destroyed', 'errored', 'promise',
];
const wasm = (module, name) => {
  const text = each => [each.length, ...new TextEncoder().encode(each)];
  const imports = [1, ...text(module), ...text(name), 0, 0];
  const bytes = Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0, 1, 4, 1, 96, 0, 0, 2, imports.length, ...imports);
  return `data:application/wasm;base64,${btoa(String.fromCharCode(...bytes))}`;
};
const ATTEMPTS = {
  'process': () => [process],
  'process, by a function of its realm': () => [new Function('return process')(), (0, eval)('process'), process.nextTick.constructor('return this')()],
  'methods of emitters': async () => {
    const all = [];
    for (const owner of emitters()) for (const name of ['on', 'addListener', 'once', 'emit']) if (Object.hasOwn(owner, name)) all.push(...await listen(owner, name, events));
    return all;
  },
  'methods of functions': async () => {
    const all = [];
    for (const name of ['apply', 'bind', 'call', Symbol.hasInstance]) all.push(...await listen(Function.prototype, name, everything));
    return all;
  },
  'methods of collections': async () => {
    const all = [];
    for (const [{prototype}, names] of [[Map, ['get', 'set', 'has']], [WeakMap, ['get', 'set']], [Set, ['add', 'has']], [Array, ['push', 'forEach', 'map']], [Promise, ['then']]]) {
      for (const name of names) all.push(...await listen(prototype, name, everything));
    }
    return all;
  },
  'functions of objects': async () => {
    const all = [];
    for (const [owner, names] of [[Reflect, ['apply', 'get', 'ownKeys']], [Object, ['assign', 'keys', 'create', 'defineProperty', 'freeze']], [globalThis, ['setTimeout', 'queueMicrotask']]]) {
      for (const name of names) all.push(...await listen(owner, name, everything));
    }
    return all;
  },
  'what objects lack': () => lurk(Object.prototype, NAMES.filter(name => name !== 'listener'), everything),
  'what arrays lack': () => lurk(Array.prototype, [0, 1, 2, 3, 4, 5, 6, 7], everything),
  'stacks': () => sites(async () => {
    new Error('a').stack;
    await attemptTo(everything);
    for (const act of [() => null.x, () => structuredClone(() => {}), () => new URL('x'), () => process.exit(Symbol('x')), () => fetch(Symbol('x'))]) {
      try { await act(); } catch (error) { error.stack; }
    }
  }),
  'modules': async () => {
    const all = [];
    for (const name of ['process', 'fs', 'net', 'module', 'child_process', 'worker_threads', 'inspector', 'wasi', 'vm', 'sqlite', 'ffi', 'test', 'sea', 'undici']) {
      for (const address of [`node:${name}`, name, `data:text/javascript,export * from "node:${name}"`, `NODE:${name}`, `node:${name}?x`]) {
        all.push(...listed(await attemptTo(() => import(address))));
      }
    }
    return all.flatMap(module => [module, ...listed(module.default)]);
  },
  'modules, with other methods': async () => {
    const all = [], {startsWith} = String.prototype, {includes} = Array.prototype, {parse} = URL;
    const changed = ['protocol', 'href'].map(name => [name, Object.getOwnPropertyDescriptor(URL.prototype, name)]);
    String.prototype.startsWith = Array.prototype.includes = () => true;
    for (const [name, value] of [['protocol', 'https:'], ['protocol', 'data:'], ['href', 'node:fs']]) {
      Object.defineProperty(URL.prototype, name, {get: () => value, configurable: true});
      URL.parse = address => ({href: `${address}`});
      all.push(...listed(await attemptTo(() => import('node:fs'))));
      for (const [other, descriptor] of changed) Object.defineProperty(URL.prototype, other, descriptor);
    }
    Object.assign(String.prototype, {startsWith});
    Object.assign(Array.prototype, {includes});
    URL.parse = parse;
    return all;
  },
  'a CommonJS module': async () => Object.values(await import('own')).flatMap(listed).flatMap(each => [each, ...chain(each)]),
  'a module of WebAssembly': async () => {
    const seen = [];
    for (const name of ['kill', 'reallyExit', 'abort']) seen.push(...listed(await attemptTo(() => import(wasm('node:process', name)))));
    return seen.length > 0 ? [{reallyExit() {}, env: {}}] : [];
  },
  'import.meta': () => [import.meta, ...listed(import.meta.dirname && {env: {a: SECRET}})],
  'the console': () => [console, console.constructor, console.Console, console._stdout, console._stderr,
    ...Object.getOwnPropertySymbols(console).map(name => console[name])].flatMap(listed).flatMap(each => [each, ...chain(each)]),
  'what the console shows with': async () => {
    const seen = [];
    const show = (...values) => { seen.push(...values.flatMap(listed)); return ''; };
    console.debug({[Symbol.for('nodejs.util.inspect.custom')]: show}, new Proxy({}, {get: show}), '%o', {toJSON: show});
    return seen.flatMap(each => [each, each.constructor, ...Object.values(each).flatMap(listed)]).flatMap(listed);
  },
  'names': () => ['require', 'module', 'WebSocket', 'EventSource', 'localStorage', 'WASI', 'primordials', 'internalBinding', 'CloseEvent'].flatMap(
    name => { try { return listed(globalThis[name]).length ? [{env: {a: SECRET}}] : []; } catch { return []; } }),
  'timers': () => [setTimeout(() => {}), setImmediate(() => {}), setTimeout[Symbol.for('nodejs.util.promisify.custom')]].flatMap(listed).flatMap(
    each => [each, each.constructor, each._idleNext, each._idlePrev, ...Object.getOwnPropertySymbols(each).map(name => each[name])]).flatMap(listed),
  'workers': async () => {
    const worker = new Worker('data:text/javascript,onmessage = () => { throw new Error(); }');
    const all = await listen(WeakMap.prototype, 'get', async () => { worker.postMessage(1); worker.onerror = () => {}; await everything(); });
    return [...all, worker, ...chain(worker), Worker, ...chain(Worker)];
  },
  'ports': async () => {
    const {port1} = new MessageChannel();
    return [...await listen(Object.getPrototypeOf(MessagePort.prototype), 'addEventListener', everything).catch(() => []), port1, ...chain(port1)];
  },
  'signals': () => chain(AbortSignal.timeout(1)).concat(chain(new EventTarget()), chain(performance)),
};
const judged = {};
for (const [name, attempt] of Object.entries(ATTEMPTS)) {
  const candidates = await attemptTo(attempt) ?? [], won = new Set();
  for (const candidate of new Set(candidates)) for (const prize of await attemptTo(() => judge(candidate)) ?? []) won.add(prize);
  judged[name] = [...won].sort();
}
// The network without Node's modules.
const ADDRESS = `http://127.0.0.1:${PORT}/`;
const REQUESTS = {
  'fetch': () => fetch(ADDRESS),
  'fetch of a request that lies': () => {
    class Lie extends Request { get url() { return 'data:,x'; } }
    return fetch(new Lie(ADDRESS));
  },
  'fetch of a request of another prototype': async () => {
    const {get} = Object.getOwnPropertyDescriptor(Request.prototype, 'url');
    Object.defineProperty(Request.prototype, 'url', {get: () => 'data:,x', configurable: true});
    try { return await fetch(ADDRESS); } finally { Object.defineProperty(Request.prototype, 'url', {get, configurable: true}); }
  },
  'fetch with another test': async () => {
    const {test} = RegExp.prototype, {startsWith} = String.prototype;
    RegExp.prototype.test = () => true;
    String.prototype.startsWith = () => true;
    try { return await fetch(ADDRESS); } finally { RegExp.prototype.test = test; String.prototype.startsWith = startsWith; }
  },
  'a redirect': () => fetch(`data:text/html,<meta http-equiv=refresh content="0;url=${ADDRESS}">`, {redirect: 'follow'}).then(() => { throw 0; }),
  'a module': () => import(ADDRESS),
  'a request that waits': () => {
    const request = new XMLHttpRequest();
    request.open('GET', ADDRESS, false);
    request.send();
    return {text: () => request.responseText};
  },
  'a request': () => new Promise((resolve, reject) => {
    const request = Object.assign(new XMLHttpRequest(), {onload: () => resolve({text: () => request.responseText}), onerror: reject});
    request.open('GET', ADDRESS);
    request.send();
  }),
  'a picture': () => createImageBitmap(ADDRESS),
  'WebAssembly': () => WebAssembly.compileStreaming(fetch(ADDRESS)),
};
const won = [];
for (const [name, request] of Object.entries(REQUESTS)) {
  const answer = await attemptTo(request);
  if (answer !== undefined && await attemptTo(() => answer.text()) === SECRET) won.push(name);
}
judged['requests'] = won;
console.log(JSON.stringify(judged));
process.exit(0);
