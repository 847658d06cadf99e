// The page program: runs a list of ONNX models in ONNX Runtime Web, and says what became of each.
//
//     webnn run --revision 2026-06 --dialect browsers-2026 --root SITE session.mjs PROVIDER LIST PACKAGE
//
// LIST is the address of a JSON list, cases.py writes it. What is printed is JSON, one object a line, processes.py reads it: the list's own
// entries come back with `status`, which is "begun" before a model is touched, and then "ran", "error" or "hang".
const [provider, list, address] = process.argv.slice(2);
const print = value => process.stdout.write(`${JSON.stringify(value)}\n`);

// How long a promise may take before it counts as one that is never settled, and how long after an error that nobody caught.
const LIMIT = 30_000, GRACE = 500;
// How much ONNX Runtime says.
const VERBOSE = 0, QUIET = 2;

// ---- What ONNX Runtime says: which nodes it gave to WebNN, and why not the others

let said = [], told;
for (const name of ['debug', 'error', 'info', 'log', 'warn']) {
  console[name] = (...values) => { said.push(values.join(' ')); };
}
const CLAIM = /Operator type: \[(\w+)\] index: \[\d+\] name: \[(.*)\] supported: \[(\d)\]/;
const SUMMARY = /ExecutionProvider::GetCapability,.* number of partitions supported by WebNN: (\d+)/;
const REMARK = /\w*(?:op_builder|helper|utils)\.\w+:\d+ \w+\] (.*)/;
// The nodes that WebNN got become one, which is none of the model's.
const FUSED = /^WEBNN_\d/;

function claims() {
  // One entry for each time that the provider was asked about a graph: the bodies of a graph come before it. Where functions were inlined,
  // everything is asked again.
  const asked = [], remarks = new Set();
  let nodes = [];
  for (const line of said) {
    const claim = CLAIM.exec(line), summary = SUMMARY.exec(line), remark = REMARK.exec(line);
    if (summary) {
      asked.push({partitions: Number(summary[1]), nodes});
      nodes = [];
    } else if (claim) {
      const [, operator, name, supported] = claim;
      if (!FUSED.test(operator)) nodes.push([operator, name, supported === '1']);
    } else if (remark) remarks.add(remark[1].replaceAll('\x1b[m', ''));
  }
  // It was interrupted.
  if (nodes.length) asked.push({partitions: 0, nodes});
  const claimed = asked.flatMap(each => each.nodes).filter(([,, supported]) => supported).map(([operator]) => operator);
  // What is left at last counts.
  const left = (asked.at(-1)?.nodes ?? []).filter(([,, supported]) => !supported).map(([operator]) => operator);
  return {asked, claimed, left, remarks: [...remarks]};
}

// ---- What WebNN is asked for

let calls = {};
function count(name, prototype) {
  for (const [member, {value}] of Object.entries(Object.getOwnPropertyDescriptors(prototype))) {
    if (member === 'constructor' || typeof value !== 'function') continue;
    prototype[member] = function (...values) {
      const key = `${name}.${member}`;
      calls[key] = (calls[key] ?? 0) + 1;
      return Reflect.apply(value, this, values);
    };
  }
}
count('MLGraphBuilder', MLGraphBuilder.prototype);
count('MLContext', MLContext.prototype);

// ---- Tensors

const ARRAYS = {
  bool: Uint8Array, float16: Uint16Array, float32: Float32Array, float64: Float64Array, int4: Uint8Array, int8: Int8Array, int16: Int16Array,
  int32: Int32Array, int64: BigInt64Array, uint4: Uint8Array, uint8: Uint8Array, uint16: Uint16Array, uint32: Uint32Array,
  uint64: BigUint64Array,
};

function tensorOf(ort, {type, dims, offset, size}, bytes) {
  // The slice begins where an array of any type may begin.
  return new ort.Tensor(type, new ARRAYS[type](bytes.slice(offset, offset + size)), dims);
}

function base64(view) {
  const bytes = new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
  let text = '';
  for (let start = 0; start < bytes.length; start += 0x2000) text += String.fromCharCode(...bytes.subarray(start, start + 0x2000));
  return btoa(text);
}

// ---- A test

let uncaught;
process.on('unhandledRejection', error => uncaught?.(error));

class NeverSettled extends Error {}

// Wait for a promise, but not for ever. One that waits for another, which was rejected without anybody listening, is not settled either.
async function settled(promise, what) {
  let timer;
  const never = new Promise((_, reject) => {
    const give = (delay, why) => { clearTimeout(timer); timer = setTimeout(() => reject(new NeverSettled(`${what} ${why}`)), delay); };
    give(LIMIT, `was not settled within ${LIMIT / 1000} s`);
    uncaught = error => give(GRACE, `is never settled after: ${error?.message ?? error}`);
  });
  try { return await Promise.race([promise, never]); } finally { clearTimeout(timer); uncaught = undefined; }
}

async function read(address) {
  const response = await fetch(address);
  if (!response.ok) throw new Error(`${address}: ${response.status}`);
  return response.arrayBuffer();
}

async function withSession(ort, bytes, logSeverityLevel, use) {
  const options = {executionProviders: [provider], logSeverityLevel, logVerbosityLevel: 0};
  const session = await settled(ort.InferenceSession.create(bytes, options), 'create()');
  try {
    return await use(session);
  } finally {
    // A session that hangs may not be released either.
    await Promise.race([session.release(), new Promise(resolve => setTimeout(resolve, GRACE))]).catch(() => {});
  }
}

async function run(ort, session, feeds) {
  const results = await settled(session.run(feeds, {logSeverityLevel: QUIET}), 'run()');
  return session.outputNames.map(name => {
    const {type, dims, data} = results[name];
    return {name, type, dims, data: base64(data)};
  });
}

async function test(ort, {model, data, inputs, runs}) {
  const [bytes, values] = [await read(model), await read(data)];
  const feeds = Object.fromEntries(inputs.map(input => [input.name, tensorOf(ort, input, values)]));
  const outputs = await withSession(ort, bytes, VERBOSE, session => run(ort, session, feeds));
  if (runs === 1) return {outputs};
  // What is measured has a short log, which does not count.
  told = claims();
  const start = performance.now(), runMs = [];
  const createMs = await withSession(ort, bytes, QUIET, async session => {
    const created = performance.now();
    for (let index = 0; index < runs; index += 1) {
      const begin = performance.now();
      await run(ort, session, feeds);
      runMs.push(performance.now() - begin);
    }
    return created - start;
  });
  return {outputs, createMs, runMs};
}

const ort = await import(address);
// There are no workers here: with one thread, ONNX Runtime makes none.
ort.env.wasm.numThreads = 1;
ort.env.logLevel = 'verbose';

for (const each of await (await fetch(list)).json()) {
  const {name} = each;
  print({name, status: 'begun'});
  [said, calls, told] = [[], {}, undefined];
  const start = performance.now(), done = result => print({name, ms: performance.now() - start, calls, ...(told ?? claims()), ...result});
  try {
    done({status: 'ran', ...await test(ort, each)});
  } catch (error) {
    const hangs = error instanceof NeverSettled;
    done({status: hangs ? 'hang' : 'error', message: `${error?.message ?? error}`});
    if (hangs) process.exit(0);
  }
}
print({status: 'done'});
process.exit(0);
