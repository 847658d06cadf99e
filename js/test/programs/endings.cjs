// Starts the emulator, prints the number of its process, and ends in one of several ways.
const {writeSync} = require('node:fs');
const {install} = require('../../index.js');

const emulator = install();
writeSync(1, `${emulator.pid}`);
const WAYS = {
  end() {},
  exit: () => process.exit(7),
  crash() { throw new Error('as meant'); },
  kill: () => process.kill(process.pid, 'SIGKILL'),
  abort: () => process.abort(),
  busy() { emulator.set({faults: {delay: 3600}}); navigator.ml.createContext(); },
  interrupt: () => process.kill(process.pid, 'SIGINT'),
};
WAYS[process.env.WAY]();
