// Probes what a page's WebNN accepts: it carries out calls, and notes which members of dictionaries are read. profile_calls.py has the form
// of a call, profile_probe.py calls these functions.
(function () {
'use strict';
const ELEMENTS = {
  float32: Float32Array, float16: Uint16Array, int32: Int32Array, uint32: Uint32Array, int64: BigInt64Array, uint64: BigUint64Array,
  int8: Int8Array, uint8: Uint8Array, int4: Uint8Array, uint4: Uint8Array,
};
// Floating-point constants are 1, because 0 is no valid scale. Integers are 0, a valid index.
const ONE = {float32: 1, float16: 0x3C00};

let shared;
const share = async () => shared ??= await navigator.ml.createContext();

// Return a function that makes what the arguments of a call stand for.
function maker(builder) {
  let count = 0;
  return function make(value) {
    if (Array.isArray(value)) return value.map(make);
    if (typeof value !== 'object' || value === null) return value;
    if (!('$' in value)) return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, make(each)]));
    const [dataType, shape, constant] = value.$, size = shape.reduce((product, each) => product * each, 1);
    if (!constant) return builder.input(`input${count++}`, {dataType, shape});
    const elements = new ELEMENTS[dataType](dataType.endsWith('nt4') ? Math.ceil(size / 2) : size);
    return builder.constant({dataType, shape}, dataType in ONE ? elements.fill(ONE[dataType]).buffer : elements.buffer);
  };
}

// Carry out a call, and build its graph. `at` says what failed: "call", "build", or nothing.
async function tryCall({operation, arguments: given}) {
  const context = await share();
  let at = 'call';
  try {
    const builder = new MLGraphBuilder(context), make = maker(builder), result = builder[operation](...make(given));
    at = 'build';
    const outputs = Array.isArray(result) ? result : [result];
    const graph = await builder.build(Object.fromEntries(outputs.map((each, index) => [`output${index}`, each])));
    graph.destroy();
    return {at: '', error: '', message: ''};
  } catch (error) {
    return {at, error: String(error?.name), message: String(error?.message)};
  }
}

async function tryCalls(calls) {
  const found = [];
  for (const call of calls) {
    let outcome = await tryCall(call);
    if (/context (is|was) lost/i.test(outcome.message)) {
      shared = undefined;
      outcome = await tryCall(call);
    }
    found.push(outcome);
  }
  return found;
}

// Return the names of the members that a call reads of an object.
async function observe(members, call) {
  const seen = new Set();
  const get = (target, name) => {
    if (typeof name === 'string') seen.add(name);
    return target[name];
  };
  try { await call(new Proxy(members, {get})); } catch { /* What it has read so far counts. */ }
  return [...seen].sort();
}

// Return the members of the interfaces, and those that are read of a context's options. That needs no backend.
async function findInterfaces(names) {
  const interfaces = {};
  for (const name of names) {
    if (typeof globalThis[name] !== 'function') continue;
    const members = Object.getOwnPropertyNames(globalThis[name].prototype);
    interfaces[name] = members.filter(each => each !== 'constructor').sort();
  }
  const MLContextOptions = await observe({}, options => navigator.ml.createContext(options));
  return {interfaces, dictionaries: {MLContextOptions}};
}

// Return the same with the members that are read of the other dictionaries: `calls` has for each one a call with one.
async function findMembers({interfaces: names, calls}) {
  const {interfaces, dictionaries} = await findInterfaces(names), context = await share();
  const descriptor = {dataType: 'float32', shape: [1]};
  dictionaries.MLOperandDescriptor = await observe(descriptor, given => new MLGraphBuilder(context).input('x', given));
  dictionaries.MLTensorDescriptor = await observe(descriptor, given => context.createTensor(given));
  for (const [name, {operation, arguments: given}] of Object.entries(calls)) {
    const builder = new MLGraphBuilder(context), made = maker(builder)(given);
    dictionaries[name] = await observe(made.pop(), options => builder[operation](...made, options));
  }
  return {interfaces, dictionaries};
}

// Return the first device that a graph runs on, for each that a context can be asked for; nothing where graphs do not say it.
async function findDevices({operation, arguments: given}) {
  const devices = {};
  for (const deviceType of ['cpu', 'gpu', 'npu']) {
    const builder = new MLGraphBuilder(await navigator.ml.createContext({deviceType}));
    const graph = await builder.build({y: builder[operation](...maker(builder)(given))});
    if (graph.devices?.length) devices[deviceType] = graph.devices[0];
    graph.destroy();
  }
  return devices;
}

return {findDevices, findInterfaces, findMembers, limits: async () => (await share()).opSupportLimits(), tryCalls};
})()
