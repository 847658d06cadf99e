// Emulators: what a program can ask for and change, and how `navigator.ml` comes into a realm.
'use strict';
// Not the global function: jsdom's realm in jest has none.
const {setImmediate} = require('node:timers'), {types: {isProxy}} = require('node:util'), {markAsUncloneable} = require('node:worker_threads');
const vm = require('node:vm');
const {connect, WebNNEmulatorError} = require('./connection.js');

// Where a realm keeps its emulator: tests may have another instance of this module than their environment.
const KEY = Symbol.for('webnn-emulator');

class Emulator {
  #connection;
  about;

  constructor({python, ...options} = {}, pages = false) {
    this.#connection = connect(python);
    [this.about, ...this.scripts] = this.#connection.begin(this, options, pages);
  }

  get version() { return this.about.version; }
  get revision() { return this.about.revision; }
  get pid() { return this.#connection.pid; }
  get transport() { return this.#connection.transportFor(this); }

  ask(name, more = {}, buffers = []) { return this.#connection.ask(this, {do: name, ...more}, buffers); }
  log() { return this.ask('log')[0]; }
  counts() { return this.ask('counts')[0]; }
  warnings() { return this.ask('warnings')[0]; }
  faults() { return this.ask('faults')[0]; }
  set(options) {
    const [{error}] = this.ask('set', {options});
    if (error) throw new WebNNEmulatorError(error);
  }
  close() { this.#connection.close(); }
}

// The program's place that calls now, as a line below a warning.
const OURS = /[( ](webnn:|node:)/;
function findPlace() {
  const {stackTraceLimit} = Error;
  Error.stackTraceLimit = 50;
  const lines = `${new Error().stack}`.split('\n').slice(1);
  Error.stackTraceLimit = stackTraceLimit;
  const place = lines.find(line => !OURS.test(line) && !line.includes(__dirname));
  return place === undefined ? '' : `\n${place}`;
}

// In the realm of this module, which need not be that of Node.
const evaluateHere = (source, name) => (0, eval)(`${source}\n//# sourceURL=${name}`);

// Put `navigator.ml` and the interfaces of WebNN into a realm, with the scripts that Python sends.
exports.install = (options, {global = globalThis, evaluate = evaluateHere} = {}) => {
  const emulator = new Emulator(options), [idl, ...scripts] = emulator.scripts;
  const NAMES = ['conversion', 'binding', 'foresight', 'navigator', 'webgpu'];
  const [conversion, binding, makeForesight, navigator, makeBridge] = scripts.map((script, index) => evaluate(script, `webnn:${NAMES[index]}.js`));
  const {send, tell, makeIgnored} = emulator.transport, ignored = makeIgnored(findPlace, text => global.console.warn(text));
  navigator(
    global, JSON.parse(idl), binding, conversion, {send, tell, makeForesight, makeBridge}, callback => setImmediate(callback), markAsUncloneable, {isProxy, ignored},
  );
  Object.defineProperty(global, KEY, {value: emulator, configurable: true});
  return emulator;
};
// Put it into the realm of a context of node:vm.
exports.installInContext = (options, context) => {
  const evaluate = (source, filename) => vm.runInContext(source, context, {filename});
  return exports.install(options, {global: evaluate('globalThis', 'webnn:global.js'), evaluate});
};
// The emulator of this realm, undefined if it has none.
exports.find = () => globalThis[KEY];
exports.Emulator = Emulator;
exports.WebNNEmulatorError = WebNNEmulatorError;
