// Plain Node: the interfaces, the options, what a program can ask for, and how the Python process ends.
import assert from 'node:assert/strict';
import {spawn, spawnSync} from 'node:child_process';
import {once} from 'node:events';
import fs from 'node:fs';
import {createRequire} from 'node:module';
import os from 'node:os';
import path from 'node:path';
import {test} from 'node:test';
import {fileURLToPath} from 'node:url';
import {Worker} from 'node:worker_threads';
import {emulator, install, WebNNEmulatorError} from 'webnn-emulator';
import 'webnn-emulator/register';
import {double} from './double.mjs';

const FOLDER = path.dirname(fileURLToPath(import.meta.url));
const child = (name, env = {}) => spawn(process.execPath, [path.join(FOLDER, 'programs', name)], {env: {...process.env, ...env}});
async function outcomeOf(process) {
  const texts = {stdout: '', stderr: ''};
  for (const name of ['stdout', 'stderr']) process[name].on('data', data => { texts[name] += data; });
  const [code, signal] = await once(process, 'close');
  return {...texts, code, signal};
}
// Not that of a worker thread that has ended: nobody waits for it, so the system keeps its number.
function isAlive(pid) {
  const {stdout} = spawnSync('ps', ['-o', 'stat=', '-p', `${pid}`], {encoding: 'utf8'});
  return stdout !== '' && !stdout.startsWith('Z');
}
async function assertEnds(pid) {
  while (isAlive(pid)) await new Promise(resolve => setTimeout(resolve, 20));
}

test('a graph computes', async () => {
  assert.deepEqual([...await double([1, 2.5])], [2, 5]);
  assert.equal(emulator().revision, '2026-06');
});

test('the first test is that of the README', () => {
  const read = name => fs.readFileSync(path.join(FOLDER, name), 'utf8');
  const [, ...lines] = read('first.test.mjs').split('\n');
  assert(read('../README.md').includes(lines.join('\n')));
});

test('require gives the same emulator', () => {
  const require = createRequire(import.meta.url);
  require('webnn-emulator/register');
  assert.equal(require('webnn-emulator').emulator(), emulator());
});

test('interfaces, brands and errors are those of the draft', async () => {
  for (const name of ['ML', 'MLContext', 'MLGraph', 'MLGraphBuilder', 'MLOperand', 'MLTensor']) assert.equal(globalThis[name].name, name);
  assert(navigator.ml instanceof ML);
  assert.throws(() => new ML(), TypeError);
  const builder = new MLGraphBuilder(await navigator.ml.createContext());
  assert.throws(() => builder.input('a', {dataType: 'float31', shape: [1]}), TypeError);
  assert.throws(() => builder.input('a', {dataType: 'float32', shape: [0]}), TypeError);
  await assert.rejects(builder.build({}), TypeError);
});

test('the log, the counts, and faults', async () => {
  const own = install({faults: {failBuild: 2}});
  await double([1]);
  await assert.rejects(double([1]), {name: 'OperationError'});
  own.set({faults: {}});
  await double([1]);
  const {calls, contexts, builds, computes, refused} = own.counts();
  assert.deepEqual({contexts, builds, computes, refused}, {contexts: 3, builds: 2, computes: 2, refused: 1});
  assert.equal(calls['MLGraphBuilder.add'], 3);
  assert.match(own.log().find(each => each.refused).result, /OperationError/);
  own.set({faults: {loseAfter: 1}});
  const context = await navigator.ml.createContext();
  await double([1], context).catch(() => {});
  assert.match((await context.lost).message, /injected/);
});

test('a profile refuses what the device lacks, and can be changed', async () => {
  const own = install({profile: 'coreml'});
  const limits = async () => (await navigator.ml.createContext()).opSupportLimits().input.dataTypes;
  const ofProfile = await limits();
  own.set({profile: null});
  assert.notDeepEqual(await limits(), ofProfile);
});

test('a dialect and an earlier draft', async () => {
  install({revision: '2024-06'});
  const context = await navigator.ml.createContext(), builder = new MLGraphBuilder(context), x = builder.input('x', {dataType: 'float32', dimensions: [2]});
  const graph = await builder.build({y: builder.add(x, x)}), input = new Float32Array([1, 2]);
  const {outputs} = await context.compute(graph, {x: input}, {y: new Float32Array(2)});
  assert.deepEqual([...outputs.y], [2, 4]);
  assert.equal(input.length, 0);
  install({dialect: 'browsers-2026'});
  await navigator.ml.createContext({deviceType: 'gpu'});
});

for (const [options, message] of [
  [{profile: 'nokia'}, /nokia/], [{fallback: 'maybe'}, /fallback/], [{faults: {failBild: 1}}, /failBild/], [{faults: 3}, /object/],
  [{profil: 'coreml'}, /profil/], [{revision: 3}, /revision must be a string/],
]) {
  test(`refuses ${JSON.stringify(options)}`, () => assert.throws(() => install(options), error => error instanceof WebNNEmulatorError && message.test(error.message)));
}

test('an emulator ends when another one begins', async () => {
  const first = install(), context = await navigator.ml.createContext();
  install();
  assert.throws(() => first.log(), /has ended/);
  assert.throws(() => new MLGraphBuilder(context), {name: 'TypeError'});
});

test('a misspelt member is a warning, once for each place', async t => {
  install();
  const warn = t.mock.method(console, 'warn', () => {}), builder = new MLGraphBuilder(await navigator.ml.createContext());
  const x = builder.input('x', {dataType: 'float32', shape: [2]});
  for (let count = 0; count < 2; count++) builder.reduceSum(x, {keepdims: true});
  assert.equal(warn.mock.callCount(), 1);
  assert.match(warn.mock.calls[0].arguments[0], /keepDimensions.*\n.*node\.test\.mjs:\d+/);
});

test('large views travel', async () => {
  install();
  const context = await navigator.ml.createContext(), shape = [3_000_000];
  const tensor = await context.createTensor({dataType: 'float32', shape, readable: true, writable: true}), values = new Float32Array(shape[0]).map((_, index) => index);
  context.writeTensor(tensor, values);
  assert.deepEqual(new Float32Array(await context.readTensor(tensor)), values);
});

test('one line says what is missing', async () => {
  const empty = fs.mkdtempSync(path.join(os.tmpdir(), 'webnn-test-'));
  for (const [env, text] of [
    [{WEBNN_PYTHON: '/nowhere/python3'}, /not found/],
    [{WEBNN_PYTHON: process.execPath}, /node: /],
    [{WEBNN_PYTHON: '', PATH: ['/usr/bin', '/bin'].join(path.delimiter), VIRTUAL_ENV: ''}, /No module named webnn/],
  ]) {
    const program = spawn(process.execPath, [path.join(FOLDER, 'programs', 'start.cjs')], {cwd: empty, env: {...process.env, ...env}});
    const {code, stderr} = await outcomeOf(program);
    assert.equal(code, 1);
    const [line] = stderr.split('\n').filter(each => each.startsWith('WebNNEmulatorError: '));
    assert.match(line, /pip install webnn/);
    assert.match(line, text);
  }
  fs.rmSync(empty, {recursive: true});
});

for (const [way, code, signal] of [
  ['end', 0, null], ['exit', 7, null], ['crash', 1, null], ['kill', null, 'SIGKILL'], ['abort', null, 'SIGABRT'], ['interrupt', null, 'SIGINT'],
]) {
  test(`Python ends with Node: ${way}`, async () => {
    const outcome = await outcomeOf(child('endings.cjs', {WAY: way}));
    assert.deepEqual([outcome.code, outcome.signal], [code, signal], outcome.stderr);
    await assertEnds(Number(outcome.stdout));
  });
}

test('Python ends with Node while it is busy', async () => {
  const program = child('endings.cjs', {WAY: 'busy'}), outcome = outcomeOf(program);
  await once(program.stdout, 'data');
  // Whether the call has begun by then does not matter.
  setTimeout(() => program.kill('SIGKILL'), 200);
  await assertEnds(Number((await outcome).stdout));
});

test('each worker thread has a process, which ends with it', async () => {
  install();
  const workers = [1, 2].map(() => new Worker(path.join(FOLDER, 'programs', 'worker.cjs')));
  const answers = await Promise.all(workers.map(async worker => (await once(worker, 'message'))[0]));
  assert.deepEqual(answers.map(({values}) => values), [[2], [2]]);
  const pids = [emulator().pid, ...answers.map(({pid}) => pid)];
  assert.equal(new Set(pids).size, 3);
  await Promise.all(workers.map(worker => worker.terminate()));
  await Promise.all(pids.slice(1).map(assertEnds));
  assert(isAlive(pids[0]));
});

test('a Python that ends is an error of the call, and the next install() starts another', async () => {
  const own = install(), {pid} = own;
  process.kill(pid, 'SIGKILL');
  await assert.rejects(navigator.ml.createContext(), /the Python process of the emulator has ended/);
  await assert.rejects(navigator.ml.createContext(), /the emulator is closed/);
  assert.notEqual(install().pid, pid);
  assert.deepEqual([...await double([4])], [8]);
});

test('close() ends Python', async () => {
  const own = install(), {pid} = own;
  own.close();
  own.close();
  await assertEnds(pid);
  assert.throws(() => own.log(), /the emulator is closed/);
});
