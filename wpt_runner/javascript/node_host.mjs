// The side of the Node process that runs a program: a global object like a window's, without a document, and `navigator.ml`.
//
// Standard input and output are the channel to Python (channel.py has the form of a message): the program's output travels through it, too,
// and so do the files that the program reads. This process itself may read no file but this one.
import {Console} from 'node:console';
import {EventEmitter} from 'node:events';
import {readSync, writeSync} from 'node:fs';
import {registerHooks} from 'node:module';
import {Writable} from 'node:stream';
import {getCallSites, types} from 'node:util';
import vm from 'node:vm';

const node = process;
const {Buffer} = globalThis;

// ---- The channel

const INPUT = 0, OUTPUT = 1, CHUNK = 1 << 26;
const decoder = new TextDecoder(), encoder = new TextEncoder();
const pause = new Int32Array(new SharedArrayBuffer(4));

// Nobody is at the other end any more: there is nothing left to do, and nobody to tell.
const die = () => node.kill(node.pid, 'SIGKILL');

function transfer(operate, bytes) {
  for (let start = 0; start < bytes.length;) {
    let count;
    try {
      count = operate(bytes, start, Math.min(bytes.length - start, CHUNK));
    } catch (error) {
      if (error.code === 'EAGAIN') { Atomics.wait(pause, 0, 0, 1); continue; }
      if (error.code === 'EPIPE' || error.code === 'EOF') die();
      throw error;
    }
    if (count === 0) die();
    start += count;
  }
  return bytes;
}
const read = size => transfer((bytes, start, count) => readSync(INPUT, bytes, start, count, null), Buffer.allocUnsafeSlow(size));
const write = bytes => transfer((each, start, count) => writeSync(OUTPUT, each, start, count), bytes);

// Send a message: a text and byte arrays.
function post(kind, text, buffers = []) {
  const encoded = typeof text === 'string' ? encoder.encode(text) : text, start = 8 + 8 * (1 + buffers.length);
  const head = Buffer.allocUnsafe(start + encoded.length);
  head.write(`WN${kind}\0`, 'latin1');
  head.writeUInt32LE(1 + buffers.length, 4);
  [encoded, ...buffers].forEach(({length}, index) => head.writeBigUInt64LE(BigInt(length), 8 + 8 * index));
  head.set(encoded, start);
  write(head);
  buffers.forEach(write);
}

// Receive a message: its parts.
function receive() {
  const head = read(8), lengths = read(8 * head.readUInt32LE(4)), parts = [];
  for (let index = 0; index < lengths.length; index += 8) parts.push(read(Number(lengths.readBigUInt64LE(index))));
  return parts;
}

// The one call of the binding.
function send(text, buffers) {
  post('C', text, buffers);
  const [answer, ...parts] = receive();
  return [decoder.decode(answer), parts.map(part => ({size: part.length, copyTo: bytes => bytes.set(part)}))];
}

// The file at an address: {content, type}, {missing: true}, or {refused: why}.
function readFile(url) {
  post('F', url);
  const [text, content] = receive();
  return {...JSON.parse(decoder.decode(text)), content};
}

const [setupText, idlText, ...sources] = receive().map(part => decoder.decode(part));
const setup = JSON.parse(setupText);

// ---- The program's process and its output

function makeStream(kind) {
  const stream = new Writable({write(chunk, _, callback) { post(kind, chunk); callback(); }});
  return Object.assign(stream, {isTTY: setup.terminal, columns: setup.columns});
}
const stdout = makeStream('O'), stderr = makeStream('E');

// Node's own `process` opens every door. This one has what a program needs to be one, and libraries take it for a page's.
const program = Object.assign(new EventEmitter(), {
  title: 'browser', browser: true, platform: 'browser', arch: node.arch, version: '', versions: {}, pid: node.pid,
  argv: setup.argv, execArgv: [], env: {}, stdout, stderr,
  cwd: () => '/', exit: code => node.exit(code), nextTick: (callback, ...values) => node.nextTick(callback, ...values),
  hrtime: node.hrtime, uptime: () => node.uptime(), memoryUsage: node.memoryUsage,
  emitWarning: warning => { stderr.write(`warning: ${warning?.message ?? warning}\n`); },
});
Object.defineProperty(program, 'exitCode', {get: () => node.exitCode, set: code => { node.exitCode = code; }, enumerable: true});
// Who listens to these handles them: Node does not end the program then.
const handled = new Set(['uncaughtException', 'unhandledRejection']);
program.on('newListener', name => { if (handled.delete(name)) node.on(name, (...values) => program.emit(name, ...values)); });
node.on('exit', code => program.emit('exit', code));

const define = (name, value) => Object.defineProperty(globalThis, name, {value, writable: true, enumerable: false, configurable: true});
define('process', program);
define('console', new Console({stdout, stderr, colorMode: setup.colour}));

// ---- The window

const {href, origin, protocol, host, hostname, port, pathname, search, hash} = new URL(setup.location);
define('location', Object.freeze({href, origin, protocol, host, hostname, port, pathname, search, hash, toString: () => href}));
for (const name of ['self', 'window']) define(name, globalThis);
for (const name of ['isSecureContext', 'crossOriginIsolated']) define(name, true);
const target = new EventTarget();
for (const name of ['addEventListener', 'removeEventListener', 'dispatchEvent']) define(name, target[name].bind(target));

// There is no network. A missing name is better than one that does not work; `fetch` knows the files.
for (const name of ['WebSocket', 'EventSource', 'CloseEvent']) delete globalThis[name];
const NO_NETWORK = 'a program has no access to the network';
for (const number of [1, 2]) {
  // What Node's own fetch would reach the network with, if the program got hold of it: it takes the one that is there.
  const value = Object.freeze({dispatch() { throw new TypeError(NO_NETWORK); }});
  Object.defineProperty(globalThis, Symbol.for(`undici.globalDispatcher.${number}`), {value});
}
const {fetch: fetchLocally, Request, Response} = globalThis;
define('fetch', async function fetch(input, init) {
  const request = new Request(input instanceof Request ? input : new URL(input, href), init), {url, method, signal} = request;
  signal.throwIfAborted();
  if (/^(data|blob):/.test(url)) return fetchLocally(request);
  const {content, type, missing, refused} = readFile(url);
  if (refused) throw new TypeError(`Failed to fetch ${url}: ${refused}`);
  const allowed = ['GET', 'HEAD'].includes(method);
  const refusal = !allowed ? {status: 405, statusText: 'Method Not Allowed'} : missing ? {status: 404, statusText: 'Not Found'} : null;
  const answer = {status: 200, statusText: 'OK', headers: {'content-type': type, 'content-length': content.length}};
  const response = refusal ? new Response(null, refusal) : new Response(method === 'HEAD' ? null : content, answer);
  return Object.defineProperty(response, 'url', {value: url});
});

// ---- Modules: addresses as in a page, and nothing of Node's

const inline = new Map(setup.scripts.filter(script => script.source !== null).map(({url, source}) => [url, source]));

function textOf(url, wanted) {
  if (inline.has(url)) return inline.get(url);
  const {content, type, missing, refused} = readFile(url);
  if (missing || refused) throw new TypeError(`Failed to load ${url}: ${refused ?? 'there is no such file'}`);
  if (type !== wanted) throw new TypeError(`Failed to load ${url}: its type must be ${wanted}, not ${type}`);
  return decoder.decode(content);
}

const [JAVASCRIPT, JSON_TYPE] = ['text/javascript', 'application/json'];
registerHooks({
  resolve(specifier, {parentURL, importAttributes}, next) {
    const refuse = why => { throw new TypeError(`Failed to resolve the module '${specifier}': ${why}`); };
    const base = parentURL?.startsWith('https:') ? parentURL : href;
    const url = /^\.{0,2}\//.test(specifier) ? URL.parse(specifier, base) : URL.parse(specifier);
    if (url === null) refuse("a page's module is named by a URL, or a path that begins with /, ./ or ../");
    if (url.protocol === 'data:') return next(specifier);
    if (url.protocol === 'node:') refuse("a program has no access to the modules of Node");
    if (url.protocol !== 'https:') refuse(`a program has no access to ${url.protocol}`);
    return {url: url.href, importAttributes, shortCircuit: true};
  },
  load(url, context, next) {
    if (url.startsWith('data:')) return next(url, context);
    const json = context.importAttributes.type === 'json';
    return {format: json ? 'json' : 'module', source: textOf(url, json ? JSON_TYPE : JAVASCRIPT), shortCircuit: true};
  },
});

// ---- Warnings on the console, each once for each place in the program

const {warn} = console, warned = new Set(), FRAMES = 100;
function ignored(where, given, known) {
  const ours = ({scriptName}) => scriptName === import.meta.url || /^(webnn|node):/.test(scriptName);
  const caller = getCallSites(FRAMES).find(site => !ours(site));
  const place = caller === undefined ? '' : `\n    at ${caller.scriptName}:${caller.lineNumber}:${caller.columnNumber}`;
  const key = JSON.stringify([where, given, place]);
  if (warned.has(key)) return;
  warned.add(key);
  post('W', JSON.stringify([where, given, known]));
  const [texts] = receive();
  for (const text of JSON.parse(decoder.decode(texts))) warn(`WebNNWarning: ${text}${place}`);
}

// ---- The program

const evaluate = (name, source) => vm.runInThisContext(source, {filename: `webnn:${name}`});
const [conversion, binding, navigator] = ['conversion', 'binding', 'navigator'].map((name, index) => evaluate(`${name}.js`, sources[index]));
navigator(globalThis, JSON.parse(idlText), binding, conversion, send, callback => setImmediate(callback), {isProxy: types.isProxy, ignored});

// What V8 says of a text that only makes sense as a module. Node decides in the same way.
const MODULE_SYNTAX = new RegExp('^(Cannot use import statement outside a module|Unexpected token \'export\'' +
  '|Cannot use \'import.meta\' outside a module' +
  '|await is only valid in async functions and the top level bodies of modules)');
function makesSenseAsModuleOnly(source) {
  try { new vm.Script(source); return false; } catch (error) { return MODULE_SYNTAX.test(error.message); }
}

async function run({url, kind, source, line}) {
  if (kind === 'module') { await import(url); return; }
  const text = source ?? textOf(url, JAVASCRIPT);
  if (kind === 'unknown' && makesSenseAsModuleOnly(text)) { await import(url); return; }
  const importModuleDynamically = vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER;
  new vm.Script(text, {filename: url, lineOffset: line, importModuleDynamically}).runInThisContext();
}

let running = true;
node.on('beforeExit', code => {
  if (!running) { program.emit('beforeExit', code); return; }
  running = false;
  stderr.write('webnn: the program awaits something that will not happen\n');
  node.exitCode = 13;
});

async function runAll() {
  for (const script of setup.scripts) await run(script);
  running = false;
  const event = new Event('load');
  target.dispatchEvent(event);
  if (typeof globalThis.onload === 'function') globalThis.onload(event);
}
// An error becomes one that nobody caught: Node prints it and ends.
runAll().catch(error => { running = false; node.nextTick(() => { throw error; }); });
