// The side of the Node process that runs a program: a global object like a window's, without a document, and `navigator.ml`.
//
// Standard input and output are the channel to Python (channel.py has the form of a message): the program's output travels through it, too,
// and so do the files that the program reads. This process itself may read no file but this one.
const node = process;
// Not imported: what is imported stands in the records of the module loader.
const [{Console}, {EventEmitter}, {readSync, writeSync}, {registerHooks}, {getCallSites, types: {isProxy}}, v8, vm, {markAsUncloneable}] =
  ['console', 'events', 'fs', 'module', 'util', 'v8', 'vm', 'worker_threads'].map(name => node.getBuiltinModule(`node:${name}`));
const {Buffer, Function, Object, Reflect, Request, Response, Set, Symbol, TypeError, URL} = globalThis;
const {fetch: fetchLocally, setImmediate, setInterval} = globalThis;
// What this file does later, when the program may have changed what everybody shares, it does with what was there at first.
const {hrtime, memoryUsage, pid} = node, [exit, kill, nextTick, on, uptime] =
  ['exit', 'kill', 'nextTick', 'on', 'uptime'].map(name => node[name].bind(node));

// ---- The channel

const INPUT = 0, OUTPUT = 1;
const decoder = new TextDecoder(), {parse, stringify} = JSON;
const evaluate = (name, source) => vm.runInThisContext(source, {filename: `webnn:${name}`});

// Nobody is at the other end any more: there is nothing left to do, and nobody to tell.
const die = () => kill(pid, 'SIGKILL');

// Python sends the text of node_channel.js first, with its length in front.
function readFirst(size) {
  const bytes = new Uint8Array(size);
  for (let done = 0, count; done < size; done += count) if ((count = readSync(INPUT, bytes, done, size - done, null)) === 0) die();
  return bytes;
}
const [length] = new Uint32Array(readFirst(4).buffer);
const {LONGEST_OUTPUT, put, post, receive, send, tell, makeIgnored} = evaluate('node_channel.js', decoder.decode(readFirst(length)))(
  globalThis, {readSync, writeSync, input: INPUT, output: OUTPUT, die, beforeCall: () => tellPlace()},
);

// The program's line of the calls that follow, where somebody records it. It is told when it changes.
const FRAMES = 100, LONGEST_PLACE = 1000;
let lastPlace = '';
const isOurs = ({scriptName}) => scriptName === import.meta.url || /^(webnn|node):/.test(scriptName);
const findCaller = (fits = () => true) => getCallSites(FRAMES).find(site => !isOurs(site) && fits(site));
function tellPlace() {
  if (!setup.lines) return;
  // The text of `eval` has no name.
  const caller = findCaller(({scriptName}) => scriptName !== ''), place = caller === undefined ? ':0' : `${caller.scriptName.slice(0, LONGEST_PLACE)}:${caller.lineNumber}`;
  if (place !== lastPlace) put('P', lastPlace = place, []);
}

// The file at an address: {content, type}, {missing: true}, or {refused: why}. If it is asked for as a request, the user is told that it is missing.
function readFile(url, kind = 'F') {
  post(kind, url);
  const [text, content] = receive();
  return {...JSON.parse(text), content};
}

// The scripts of the package that Python sends, in this order. What follows them are the bytes of values for the program.
const SOURCES = ['node_packages', 'elements', 'node_document', 'node_pictures', 'node_workers', 'conversion', 'binding', 'foresight', 'navigator', 'values'];
const beginning = receive(false), givenBuffers = beginning.splice(2 + SOURCES.length).map(({buffer}) => buffer);
const [setupText, idlText, ...sources] = beginning.map(part => decoder.decode(part));
const setup = JSON.parse(setupText);

// Who has nothing to say does not notice that the other end is gone.
const {ppid} = node, WATCH = 1000;
const isOrphan = () => {
  if (node.platform !== 'win32') return node.ppid !== ppid;
  try { kill(ppid, 0); return false; } catch (error) { return error.code === 'ESRCH'; }
};
setInterval(() => { if (isOrphan()) die(); }, WATCH).unref();

// ---- The program's process and its output

// The program's emitters have nothing in common with Node's: whoever changes what all of Node's share is handed Node's own process.
class Emitter {
  #listeners = new Map();
  #add(name, listener, entry, first) {
    if (typeof listener !== 'function') throw new TypeError('the listener must be a function');
    this.emit('newListener', name, listener);
    const all = this.#listeners.get(name) ?? [];
    this.#listeners.set(name, first ? [entry, ...all] : [...all, entry]);
    return this;
  }
  on(name, listener) { return this.#add(name, listener, {listener}, false); }
  once(name, listener) { return this.#add(name, listener, {listener, once: true}, false); }
  prependListener(name, listener) { return this.#add(name, listener, {listener}, true); }
  prependOnceListener(name, listener) { return this.#add(name, listener, {listener, once: true}, true); }
  off(name, listener) {
    const all = this.#listeners.get(name) ?? [], index = all.findLastIndex(entry => entry.listener === listener);
    if (index >= 0) this.#listeners.set(name, all.toSpliced(index, 1));
    return this;
  }
  removeAllListeners(name) {
    if (name === undefined) this.#listeners.clear(); else this.#listeners.delete(name);
    return this;
  }
  emit(name, ...values) {
    const all = this.#listeners.get(name) ?? [];
    if (name === 'error' && all.length === 0) throw values[0];
    for (const entry of all) {
      if (entry.once) this.#listeners.set(name, this.#listeners.get(name).filter(each => each !== entry));
      Reflect.apply(entry.listener, this, values);
    }
    return all.length > 0;
  }
  listeners(name) { return (this.#listeners.get(name) ?? []).map(({listener}) => listener); }
  listenerCount(name) { return this.listeners(name).length; }
  eventNames() { return [...this.#listeners].filter(([, all]) => all.length > 0).map(([name]) => name); }
  setMaxListeners() { return this; }
  getMaxListeners() { return Infinity; }
}
Object.assign(Emitter.prototype, {addListener: Emitter.prototype.on, removeListener: Emitter.prototype.off});

class Output extends Emitter {
  #kind;
  writable = true;
  constructor(kind) {
    super();
    this.#kind = kind;
    Object.assign(this, {isTTY: setup.terminal, columns: setup.columns});
  }
  write(chunk, encoding, callback = encoding) {
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk, typeof encoding === 'string' ? encoding : 'utf8') : chunk;
    if (!(bytes instanceof Uint8Array)) throw new TypeError('write: the chunk must be a string or a Uint8Array');
    for (let start = 0; start < bytes.length; start += LONGEST_OUTPUT) post(this.#kind, bytes.subarray(start, start + LONGEST_OUTPUT));
    if (typeof callback === 'function') nextTick(callback);
    return true;
  }
  end(chunk, encoding, callback = encoding) {
    if (typeof chunk === 'string' || chunk instanceof Uint8Array) this.write(chunk, encoding);
    const done = [chunk, callback].find(each => typeof each === 'function');
    if (done) nextTick(done);
    return this;
  }
  cork() {}
  uncork() {}
}
const stdout = new Output('O'), stderr = new Output('E');

// Node's own `process` opens every door. This one has what a program needs to be one, and libraries take it for a page's.
const program = Object.assign(new Emitter(), {
  title: 'browser', browser: true, platform: 'browser', arch: node.arch, version: '', versions: {}, pid,
  argv: setup.argv, execArgv: [], env: {}, stdout, stderr,
  cwd: () => '/', exit: code => exit(code), nextTick: (callback, ...values) => nextTick(callback, ...values),
  hrtime, uptime: () => uptime(), memoryUsage,
  emitWarning: warning => { stderr.write(`warning: ${warning?.message ?? warning}\n`); },
});
Object.defineProperty(program, 'exitCode', {get: () => node.exitCode, set: code => { node.exitCode = code; }, enumerable: true});
// Who listens to these handles them: Node does not end the program then.
const handled = new Set(['uncaughtException', 'unhandledRejection']);
program.on('newListener', name => { if (handled.delete(name)) on(name, (...values) => program.emit(name, ...values)); });
on('exit', code => program.emit('exit', code));
const define = (name, value) => Object.defineProperty(globalThis, name, {value, writable: true, enumerable: false, configurable: true});
define('process', program);
define('console', new Console({stdout, stderr, ignoreErrors: false, colorMode: setup.colour}));

// ---- What is left of Node's process, should the program get hold of it in spite of everything

const NEEDED = new Set([
  'version', 'versions', 'arch', 'platform', 'release', 'features', 'config', 'pid', 'ppid', 'argv', 'execArgv', 'title',
  '_events', '_eventsCount', '_maxListeners', 'domain', '_exiting', 'exitCode', 'exit', 'reallyExit', '_fatalException', '_tickCallback', 'nextTick',
  'emitWarning', '_rawDebug', 'noDeprecation', 'throwDeprecation', 'traceDeprecation', 'setUncaughtExceptionCaptureCallback',
  'hasUncaughtExceptionCaptureCallback', 'sourceMapsEnabled', 'hrtime', 'uptime', 'memoryUsage', 'permission', 'finalization',
]);
for (const name of Object.getOwnPropertyNames(node)) if (!NEEDED.has(name)) Reflect.deleteProperty(node, name);
// It inherits nothing: who changes the methods of all emitters, or adds a getter to all objects, is not called with it.
const events = Object.getOwnPropertyDescriptors(EventEmitter.prototype);
for (const name of ['constructor', ...Object.getOwnPropertyNames(node)]) delete events[name];
Object.defineProperties(node, events);
Object.defineProperty(node, 'env', {value: Object.create(null)});
Object.setPrototypeOf(node, null);
Object.setPrototypeOf(EventEmitter.prototype, null);
// Node itself calls these methods of functions, with its process, its module loader and its streams among the values: they stay what they
// are. A function may have one of its own in their place.
for (const name of ['apply', 'bind', 'call']) {
  const {[name]: value} = Function.prototype;
  const set = function (own) {
    if (this !== Function.prototype) Object.defineProperty(this, name, {value: own, writable: true, enumerable: true, configurable: true});
  };
  Object.defineProperty(Function.prototype, name, {get: () => value, set, configurable: false});
}

// ---- The window

const {href, origin, protocol, host, hostname, port, pathname, search, hash} = new URL(setup.location);
define('location', Object.freeze({href, origin, protocol, host, hostname, port, pathname, search, hash, toString: () => href}));
for (const name of setup.worker === null ? ['self', 'window'] : ['self']) define(name, globalThis);
for (const name of ['isSecureContext', 'crossOriginIsolated']) define(name, true);
// Workers share no memory with a program: a library that asks how many threads it can have gets one.
Object.defineProperty(Navigator.prototype, 'hardwareConcurrency', {get: () => 1, enumerable: true, configurable: true});
const target = new EventTarget();
for (const name of ['addEventListener', 'removeEventListener', 'dispatchEvent']) define(name, target[name].bind(target));

// Of what Node adds to the language a program sees what pages have, too, and what libraries take as a matter of course. A missing name is
// better than one that does not work, or works too well.
const SHARED = new Set([
  'AbortController', 'AbortSignal', 'Blob', 'BroadcastChannel', 'Buffer', 'ByteLengthQueuingStrategy', 'CompressionStream',
  'CountQueuingStrategy', 'Crypto', 'CryptoKey', 'CustomEvent', 'DOMException', 'DecompressionStream', 'ErrorEvent', 'Event', 'EventTarget', 'File',
  'FormData', 'Headers', 'MessageChannel', 'MessageEvent', 'MessagePort', 'Navigator', 'Performance', 'PerformanceEntry', 'PerformanceMark',
  'PerformanceMeasure', 'PerformanceObserver', 'PerformanceObserverEntryList', 'PerformanceResourceTiming', 'QuotaExceededError',
  'ReadableByteStreamController', 'ReadableStream', 'ReadableStreamBYOBReader', 'ReadableStreamBYOBRequest', 'ReadableStreamDefaultController',
  'ReadableStreamDefaultReader', 'Request', 'Response', 'SubtleCrypto', 'TextDecoder', 'TextDecoderStream', 'TextEncoder', 'TextEncoderStream',
  'TransformStream', 'TransformStreamDefaultController', 'URL', 'URLPattern', 'URLSearchParams', 'WebAssembly', 'WritableStream',
  'WritableStreamDefaultController', 'WritableStreamDefaultWriter', 'addEventListener', 'atob', 'btoa', 'clearImmediate', 'clearInterval',
  'clearTimeout', 'console', 'crossOriginIsolated', 'crypto', 'dispatchEvent', 'fetch', 'global', 'isSecureContext', 'location', 'navigator',
  'performance', 'process', 'queueMicrotask', 'removeEventListener', 'self', 'setImmediate', 'setInterval', 'setTimeout', 'structuredClone',
  'window',
]);
const LANGUAGE = new Set(vm.runInNewContext('Object.getOwnPropertyNames(globalThis)'));
for (const name of Object.getOwnPropertyNames(globalThis)) if (!SHARED.has(name) && !LANGUAGE.has(name)) Reflect.deleteProperty(globalThis, name);

// There is no network; `fetch` knows the files.
const NO_NETWORK = 'a program has no access to the network';
for (const number of [1, 2, 3]) {
  // What Node's own fetch would reach the network with, if the program got hold of it: it takes the one that is there.
  const value = Object.freeze({dispatch() { throw new TypeError(NO_NETWORK); }});
  Object.defineProperty(globalThis, Symbol.for(`undici.globalDispatcher.${number}`), {value});
}
define('fetch', async function fetch(input, init) {
  const request = new Request(input instanceof Request ? input : new URL(input, href), init), {url, method, signal} = request;
  signal.throwIfAborted();
  // The address as a text: of the request the program may have changed every member, and it could bring its own way to the network.
  if (isLocal(url)) return fetchLocally(`${url}`, Object.assign(Object.create(null), {method, signal}));
  const {content, type, missing, refused} = readFile(url, 'G');
  if (refused) throw new TypeError(`Failed to fetch ${url}: ${refused}`);
  const allowed = method === 'GET' || method === 'HEAD';
  const refusal = !allowed ? {status: 405, statusText: 'Method Not Allowed'} : missing ? {status: 404, statusText: 'Not Found'} : null;
  const answer = {status: 200, statusText: 'OK', headers: {'content-type': type, 'content-length': content.length}};
  const response = refusal ? new Response(null, refusal) : new Response(method === 'HEAD' ? null : content, answer);
  return Object.defineProperty(response, 'url', {value: url});
});
const {startsWith} = String.prototype, {apply} = Reflect;
const isData = url => typeof url === 'string' && apply(startsWith, url, ['data:']);
const isLocal = url => isData(url) || (typeof url === 'string' && apply(startsWith, url, ['blob:']));

// ---- Modules: addresses as in a page, and nothing of Node's

const inline = new Map(setup.scripts.filter(script => script.source !== null).map(({url, source}) => [url, source]));

function textOf(url, wanted) {
  if (inline.has(url)) return inline.get(url);
  const {content, type, missing, refused} = readFile(url);
  if (missing || refused) throw new TypeError(`Failed to load ${url}: ${refused ?? 'there is no such file'}`);
  if (type !== wanted) throw new TypeError(`Failed to load ${url}: its type must be ${wanted}, not ${type}`);
  return decoder.decode(content);
}

const JAVASCRIPT = 'text/javascript';
const evaluated = SOURCES.map((name, index) => evaluate(`${name}.js`, sources[index]));
const [makePackages, makeElements, makeDocument, makePictures, makeWorkers, conversion, binding, makeForesight, navigator, makeValues] = evaluated;

// What V8 says of a text that only makes sense as a module. Node decides in the same way.
const MODULE_SYNTAX = new RegExp('^(Cannot use import statement outside a module|Unexpected token \'export\'' +
  '|Cannot use \'import.meta\' outside a module' +
  '|await is only valid in async functions and the top level bodies of modules)');
function makesSenseAsModuleOnly(source) {
  try { new vm.Script(source); return false; } catch (error) { return MODULE_SYNTAX.test(error.message); }
}
const {compileFunction} = vm, importModuleDynamically = vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER;
const packages = makePackages(globalThis, {
  ask(question) {
    post('R', stringify(question));
    return parse(receive()[0]);
  },
  read: textOf,
  compile: (text, names, filename) => compileFunction(text, names, {filename, importModuleDynamically}),
  isModule: makesSenseAsModuleOnly,
  maps: setup.maps, href, isData,
});
registerHooks({
  resolve(specifier, {parentURL, importAttributes}, next) {
    const url = packages.resolve(specifier, parentURL, 'import');
    return isData(url) ? next(url) : {url, importAttributes, shortCircuit: true};
  },
  load(url, context, next) {
    if (isData(url)) return next(url, context);
    return {...packages.load(url, context.importAttributes.type === 'json'), shortCircuit: true};
  },
});

// ---- Warnings on the console

function findPlace() {
  const caller = findCaller();
  return caller === undefined ? '' : `\n    at ${caller.scriptName}:${caller.lineNumber}:${caller.columnNumber}`;
}
const ignored = makeIgnored(findPlace, console.warn);

// ---- The program

const runScript = (filename, text, lineOffset = 0) => new vm.Script(text, {filename, lineOffset, importModuleDynamically}).runInThisContext();
const isPage = setup.worker === null, fail = error => nextTick(() => { throw error; });
const page = makeDocument(globalThis, {
  read: readFile, request: url => readFile(url, 'G'), fetch: globalThis.fetch, isLocal, setTask: callback => setImmediate(callback), runScript, importModule: url => import(url), fail,
}, isPage && setup.elements, makeElements);
const workers = makeWorkers(globalThis, {
  ask(question, parts) {
    post('K', stringify(question), parts);
    const [answer, ...buffers] = receive();
    return [parse(answer), ...buffers];
  },
  resolve: url => URL.parse(url, href)?.href ?? null,
  fetchText: async url => (await fetchLocally(url)).text(),
  setTask: callback => setImmediate(callback),
  setTick: callback => nextTick(callback),
  setPoll: (callback, milliseconds) => setInterval(callback, milliseconds).unref(),
  fail,
  readScript: url => textOf(url, JAVASCRIPT),
  runScript,
  v8,
}, isPage ? 'window' : 'dedicatedworker', target, setup.worker);
if (!isPage) {
  for (const name of ['Navigator', 'navigator']) Reflect.deleteProperty(globalThis, name);
  workers.makeScope(() => exit(0));
  on('uncaughtException', workers.reportError);
  on('unhandledRejection', (reason, promise) => {
    if (program.listenerCount('unhandledRejection') === 0) workers.reportRejection(reason, promise);
  });
}
navigator(
  globalThis, JSON.parse(idlText), binding, conversion, {send, tell, makeForesight}, callback => setImmediate(callback), markAsUncloneable, {isProxy, ignored},
);

const values = setup.inputs === null ? null : makeValues(globalThis);

async function run({url, kind, source, line}) {
  if (kind === 'module') { await import(url); return; }
  const text = source ?? textOf(url, JAVASCRIPT);
  if (kind === 'unknown' && makesSenseAsModuleOnly(text)) { await import(url); return; }
  const start = () => runScript(url, text, line);
  if (page === null) start(); else page.runAsElement(url, start);
}

let running = true;
on('beforeExit', code => {
  if (workers.wait()) return;
  if (!running) { program.emit('beforeExit', code); return; }
  running = false;
  stderr.write('webnn: the program awaits something that will not happen\n');
  node.exitCode = 13;
});

async function runAll() {
  if (setup.pictures !== null) {
    const [library, wasm] = setup.pictures;
    makePictures(globalThis, await packages.run(library)({wasmBinary: readFile(wasm).content}), globalThis.fetch, page);
  }
  values?.install(setup.inputs, givenBuffers);
  if (setup.together) await Promise.all(setup.scripts.map(run)); else for (const script of setup.scripts) await run(script);
  if (setup.outputs.length > 0) {
    const {webnn$outputs: getters} = await import(setup.scripts.at(-1).url);
    post('V', ...values.read(getters));
  }
  running = false;
  page?.finish();
  const event = new Event('load');
  target.dispatchEvent(event);
  if (typeof globalThis.onload === 'function') globalThis.onload(event);
}
// An error becomes one that nobody caught: Node prints it and ends.
runAll().catch(error => { running = false; nextTick(() => { throw error; }); });
