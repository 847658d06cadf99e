// Starts the emulator, prints the number of its process, and ends in one of several ways.
const {writeSync} = require('node:fs');
const {install} = require('../../index.js');

writeSync(1, `${install().pid}`);
const WAYS = {
  end() {},
  exit: () => process.exit(7),
  crash() { throw new Error('as meant'); },
  kill: () => process.kill(process.pid, 'SIGKILL'),
  abort: () => process.abort(),
  interrupt: () => process.kill(process.pid, 'SIGINT'),
};
WAYS[process.env.WAY]();
