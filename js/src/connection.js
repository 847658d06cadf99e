// The connection to the Python side: one process for each process or worker thread of Node. It ends when Node's end of its pipes is closed,
// which the system does whatever ends Node.
'use strict';
const fs = require('node:fs'), os = require('node:os'), path = require('node:path'), vm = require('node:vm');
const {execFileSync, spawn} = require('node:child_process');
const {findCommands} = require('./python.js');

// webnn.serve.attach has the same number.
const PROTOCOL = 1;
const STDERR = 3, LONGEST_REPORT = 1 << 16;

class WebNNEmulatorError extends Error {
  name = 'WebNNEmulatorError';
}

// Node has pipes that can be read without waiting for an event only by their names: [to read, to write]. To open one for both does not wait.
function openPipe(file) {
  const both = fs.openSync(file, 'r+'), ends = ['r', 'w'].map(mode => fs.openSync(file, mode));
  fs.closeSync(both);
  return ends;
}

// Start a command: {input, output, report}; `report()` is what it has written to its standard error so far.
function start([program, ...values]) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'webnn-')), names = ['to', 'from', 'errors'].map(name => path.join(folder, name));
  let child, input, output, errors;
  try {
    execFileSync('mkfifo', ['-m', '600', names[0], names[1]]);
    const [itsInput, ourOutput] = openPipe(names[0]), [ourInput, itsOutput] = openPipe(names[1]);
    [input, output, errors] = [ourInput, ourOutput, fs.openSync(names[2], 'w+')];
    child = spawn(program, values, {stdio: [itsInput, itsOutput, errors, 2]});
    for (const file of [itsInput, itsOutput]) fs.closeSync(file);
  } finally {
    fs.rmSync(folder, {recursive: true, force: true});
  }
  child.on('error', () => {}).unref();
  const report = () => {
    if (child.pid === undefined) return 'not found';
    const {size} = fs.fstatSync(errors), bytes = Buffer.alloc(Math.min(size, LONGEST_REPORT));
    fs.readSync(errors, bytes, 0, bytes.length, size - bytes.length);
    return bytes.toString().replaceAll(/[│╭╮╰╯─]/g, ' ').trim().split('\n').at(-1).trim().replace(/^\S+: /, '') || 'it ended';
  };
  return {input, output, errors, pid: child.pid, report};
}

// Read the script of the channel, which comes first with its length in front; undefined if the process ends without it.
function readScript(input) {
  const read = size => {
    const bytes = new Uint8Array(size);
    for (let done = 0, count; done < size; done += count) if ((count = fs.readSync(input, bytes, done, size - done, null)) === 0) return undefined;
    return bytes;
  };
  const length = read(4);
  return length && Buffer.from(read(new DataView(length.buffer).getUint32(0, true)) ?? []).toString();
}

class Connection {
  #process;
  #channel;
  // The emulator that it is for now.
  #owner;

  constructor(given) {
    if (process.platform === 'win32') throw new WebNNEmulatorError('webnn-emulator needs the pipes of Linux or macOS: on Windows, run it in WSL');
    const failed = [];
    for (const command of findCommands(given)) {
      const started = start(command), script = readScript(started.input);
      if (script) {
        this.#process = started;
        const {input, output} = started, die = () => this.#die();
        const make = vm.runInThisContext(script, {filename: 'webnn:node_channel.js'});
        this.#channel = make(globalThis, {readSync: fs.readSync, writeSync: fs.writeSync, input, output, die, beforeCall() {}});
        return;
      }
      failed.push(`${command[0]}: ${started.report()}`);
      for (const file of [started.input, started.output, started.errors]) fs.closeSync(file);
    }
    throw new WebNNEmulatorError(
      `there is no Python with the package webnn: install it with python3 -m pip install webnn, or let WEBNN_PYTHON name one (${failed.join('; ')})`,
    );
  }

  get pid() { return this.#process.pid; }
  get isOpen() { return this.#process !== undefined; }

  #die() {
    const report = this.#process.report();
    this.close();
    throw new WebNNEmulatorError(`the Python process of the emulator has ended: ${report}`);
  }

  #check(owner) {
    if (!this.isOpen) throw new WebNNEmulatorError('the emulator is closed');
    if (owner !== this.#owner) throw new WebNNEmulatorError('this emulator has ended, because another one has begun');
  }

  // Begin anew, for an owner: returns what describes the emulator, and the scripts.
  begin(owner, options, pages = false) {
    this.#owner = owner;
    this.#channel.post('H', JSON.stringify({protocol: PROTOCOL, options, pages, stderr: STDERR}));
    const [text, ...parts] = this.#channel.receive(), about = JSON.parse(text);
    if (about.error) throw new WebNNEmulatorError(about.error);
    return [about, ...parts.map(part => Buffer.from(part).toString())];
  }

  // The transport of the binding: `send` and `tell`, and `makeIgnored`.
  transportFor(owner) {
    const {send, tell, makeIgnored} = this.#channel;
    return {
      send: (...values) => { this.#check(owner); return send(...values); },
      tell: (...values) => { this.#check(owner); tell(...values); },
      makeIgnored,
    };
  }

  // Ask Python something: returns its answer, and bytes.
  ask(owner, question, buffers = []) {
    this.#check(owner);
    this.#channel.post('Q', JSON.stringify(question), buffers);
    const [text, ...parts] = this.#channel.receive();
    return [JSON.parse(text), ...parts];
  }

  close() {
    if (!this.isOpen) return;
    for (const file of [this.#process.input, this.#process.output, this.#process.errors]) fs.closeSync(file);
    this.#process = undefined;
  }
}

// The connection of this process or thread; it is made when it is needed first. Test runners evaluate this module again for each file of tests,
// but share Node's own modules: it is kept at one of them.
const KEY = Symbol.for('webnn-emulator.connection');
exports.connect = given => vm[KEY] = vm[KEY]?.isOpen ? vm[KEY] : new Connection(given);
exports.WebNNEmulatorError = WebNNEmulatorError;
