// What a program could do if it had all of Node: the walls of the system alone stand around it. The test runs this file in the place of the
// host, without Node's permission model, and once more without the walls.
//
// Prints a JSON object: what each attempt ended with, "reached" or an error's code.
import child from 'node:child_process';
import dgram from 'node:dgram';
import fs from 'node:fs';
import inspector from 'node:inspector';
import net from 'node:net';
import os from 'node:os';
import {DatabaseSync} from 'node:sqlite';
import {Worker} from 'node:worker_threads';

const [SECRET, FOLDER, PORT, SOCKET] = ['@SECRET@', '@FOLDER@', Number('@PORT@'), '@SOCKET@'];
const {pid, ppid} = process;
const demand = (condition, code) => { if (!condition) throw Object.assign(new Error(code), {code}); };
const settled = emitter => new Promise((resolve, reject) => { for (const name of ['connect', 'message', 'exit']) emitter.on(name, resolve); emitter.on('error', reject); });

const ATTEMPTS = {
  'environment': () => demand(Object.values(process.env).includes(SECRET), 'EMPTY'),
  'file': () => fs.readFileSync(`${FOLDER}/secret.txt`),
  'file by /proc/self/root': () => fs.readFileSync(`/proc/self/root${FOLDER}/secret.txt`),
  'folder': () => fs.readdirSync(FOLDER),
  'new file': () => fs.writeFileSync(`${FOLDER}/new-@RUN@.txt`, ''),
  'link': () => fs.linkSync(`${FOLDER}/secret.txt`, `${FOLDER}/link-@RUN@.txt`),
  'removal': () => fs.unlinkSync(`${FOLDER}/removed.txt`),
  'mode': () => fs.chmodSync(`${FOLDER}/secret.txt`, 0o600),
  'owner': () => fs.chownSync(`${FOLDER}/secret.txt`, process.getuid(), process.getgid()),
  'times': () => fs.utimesSync(`${FOLDER}/secret.txt`, 1, 1),
  'length': () => fs.truncateSync(`${FOLDER}/secret.txt`, 10),
  'metadata': () => fs.statSync(`${FOLDER}/secret.txt`),
  'metadata of the folder': () => fs.lstatSync(FOLDER),
  'metadata by /proc/self/root': () => fs.statSync(`/proc/self/root${FOLDER}/secret.txt`),
  'size of the disk': () => fs.statfsSync(FOLDER),
  'existence': () => fs.accessSync(`${FOLDER}/secret.txt`, fs.constants.F_OK),
  'changes': () => fs.watch(FOLDER).close(),
  'a process in procfs': () => fs.statSync('/proc/@PID@'),
  'names of processes': () => demand(fs.readdirSync('/proc').filter(name => /^[0-9]+$/.test(name)).length > 1, 'ALONE'),
  'priority of a process': () => os.setPriority(Number('@PID@'), 5),
  'priority': () => os.setPriority(ppid, os.getPriority(ppid)),
  'database': () => new DatabaseSync(`${FOLDER}/new-@RUN@.db`).exec('create table t(x)'),
  "the parent's environment": () => fs.readFileSync(`/proc/${ppid}/environ`),
  "the parent's memory": () => fs.openSync(`/proc/${ppid}/mem`),
  'process': () => { const {error} = child.spawnSync('/bin/true'); if (error) throw error; },
  'signal to the parent': () => process.kill(ppid, 0),
  'signal to the group': () => process.kill(0, 0),
  'signal to a process': () => process.kill(Number('@PID@'), 0),
  'connection': () => settled(net.connect(PORT, '127.0.0.1')),
  'connection to a path': () => settled(net.connect(SOCKET)),
  'server': () => new Promise((resolve, reject) => net.createServer().listen(0, '127.0.0.1', resolve).on('error', reject)),
  'fetch': () => fetch(`http://127.0.0.1:${PORT}/`).catch(error => { throw error.cause ?? error; }),
  'datagram': () => new Promise((resolve, reject) => {
    const socket = dgram.createSocket('udp4');
    socket.on('error', reject);
    socket.send('x', PORT, '127.0.0.1', error => error ? reject(error) : resolve());
  }),
  'inspector': () => { inspector.open(0, '127.0.0.1'); demand(inspector.url(), 'CLOSED'); inspector.close(); },
  'the file in another thread': () => settled(new Worker(`require('fs').readFileSync(${JSON.stringify(`${FOLDER}/secret.txt`)})`, {eval: true})),
  'memory': () => { const all = []; for (let size = 0; size < 2 ** 31; size += 2 ** 26) all.push(new ArrayBuffer(2 ** 26)); },
};
const result = {};
for (const [name, attempt] of Object.entries(ATTEMPTS)) {
  try {
    await attempt();
    result[name] = 'reached';
  } catch (error) {
    result[name] = error.code ?? error.name;
  }
}
fs.writeSync(2, `${JSON.stringify(result)}\n`);
process.exit(0);
