// What the IDL alone does not say: `navigator.ml`, the transfer of the views of `compute()`, what becomes of a tensor's reads and of a lost
// context, and the stand-in for WebGPU. `idl` is null in a context that is not secure: it has `navigator`, and nothing of all that.
(function (global, idl, makeBinding, makeConversion, transport, queueTask, markAsUncloneable, warnings, evaluate) {
'use strict';
const {ArrayBuffer, DOMException, Map, Object, Promise, Reflect, Set, Symbol, TypeError, Uint8Array, WeakMap} = global;
const {defineProperty} = Object;
const define = (name, value) => defineProperty(global, name, {value, writable: true, enumerable: false, configurable: true});

const isSecure = idl !== null;
if (!isSecure) for (const name of ['isSecureContext', 'crossOriginIsolated']) define(name, false);

// The stand-in for WebGPU is part of the IDL, or it is this class: a page that wants a context of type "webgpu" makes an object of it by itself.
const hasGPU = isSecure && Object.hasOwn(idl.interfaces, 'GPUDevice');
// A program that has WebGPU keeps it.
const hasWebGPU = hasGPU && (global.GPUDevice !== undefined || global.navigator?.gpu !== undefined);
if (isSecure && global.GPUDevice === undefined) define('GPUDevice', class GPUDevice {});
const {GPUDevice} = global;
const externals = hasGPU ? {} : {GPUDevice: value => value instanceof GPUDevice};

const invalidState = message => new DOMException(message, 'InvalidStateError');

// ---- Hooks of members. `operations` have, each where it is needed:
// - `constant`: its answer for an object never changes, so Python is asked once;
// - `written(values)`: the numbers of the views that are only written to;
// - `begin(values, call)`: what to do once it is certain that Python begins the operation; what it returns is given to `finish`;
// - `finish(answer, values, call, slot, begun)`: what to do with the answer at once; returns the function that returns the operation's result,
//   undefined for the usual one;
// - `wait(values, context, reject, isBegun)`: told of a promise, and whether Python has begun the operation; returns the function that is called
//   when it is to be settled. That returns undefined if it is settled already, or else {error}: what it is rejected with unless Python refuses
//   the operation, or undefined.
// `attributes` make the value of an attribute without asking Python. `lose(context, message)` is called when a context is lost, and
// `checkNotLost(context, name)` before a promise of one is fulfilled.
function makeSpecial(inspect, findBridge) {
  const operations = {};

  operations['MLContext.opSupportLimits'] = {constant: true};

  // ---- compute()

  // Transfer a view: https://www.w3.org/TR/webnn/#mlnamedarraybufferviews-transfer. Throws a TypeError if its buffer cannot be transferred.
  const {structuredClone} = global;
  // Node 20 has no such method.
  const transferBuffer = ArrayBuffer.prototype.transfer ?? function () { return structuredClone(this, {transfer: [this]}); };
  // The constructors as they are now: the program may replace the global ones.
  const names = Object.getOwnPropertyNames(global).filter(name => name.endsWith('Array'));
  const TYPED_ARRAYS = Object.fromEntries(names.map(name => [name, global[name]]));
  function transfer(view) {
    const {kind, buffer, offset, length} = inspect(view);
    const moved = Reflect.apply(transferBuffer, buffer, []);
    const View = TYPED_ARRAYS[kind];
    return new View(moved, offset, length / View.BYTES_PER_ELEMENT);
  }

  // A record of the IDL becomes an object with own properties, whatever their names.
  function toObject(entries) {
    const result = {};
    for (const [name, value] of entries) defineProperty(result, name, {value, writable: true, enumerable: true, configurable: true});
    return result;
  }

  const viewsOf = ({$r: entries}) => entries.map(([name, {$v: index}]) => [name, index]);
  operations['MLContext.compute'] = {
    written: ([, , outputs]) => viewsOf(outputs).map(([, index]) => index),
    // Python has checked the call. The views lose their memory now, and their successors, which nobody has yet, get the results.
    begin([, inputs, outputs], {views}) {
      const transferAll = record => viewsOf(record).map(([name, index]) => [name, transfer(views[index])]);
      return [transferAll(inputs), transferAll(outputs)];
    },
    finish({value, buffers}, values, call, slot, [newInputs, newOutputs]) {
      const computed = new Map(value);
      for (const [name, view] of newOutputs) {
        const {buffer, offset, length} = inspect(view);
        buffers[computed.get(name)].copyTo(new Uint8Array(buffer, offset, length));
      }
      return () => ({inputs: toObject(newInputs), outputs: toObject(newOutputs)});
    },
  };

  // ---- readTensor(): the promises that wait: https://www.w3.org/TR/webnn/#dom-mltensor-pendingpromises-slot

  const waiting = new Set();
  function rejectWaiting(member, value, message) {
    for (const each of waiting) {
      if (each[member] !== value) continue;
      const error = invalidState(`readTensor: ${message}`);
      if (each.isBegun) { waiting.delete(each); each.reject(error); } else each.error ??= error;
    }
  }

  operations['MLContext.readTensor'] = {
    written: values => values.length > 1 ? [values[1].$v] : [],
    // The bytes are those of now: what is done to the tensor from here on comes after the read.
    finish({buffers: [content]}, values, {views}) {
      const buffer = content.take();
      return values.length > 1 ? () => fill(views[0], new Uint8Array(buffer)) : () => buffer;
    },
    wait([{$h: tensor}], context, reject, isBegun) {
      const entry = {tensor, context, reject, isBegun, error: undefined};
      waiting.add(entry);
      return () => waiting.delete(entry) ? entry : undefined;
    },
  };
  function fill(output, bytes) {
    const {buffer, offset, length, detached} = inspect(output);
    if (detached) throw new TypeError('readTensor: outputData must not be detached before it is written to');
    if (length < bytes.length) throw new TypeError(`readTensor: outputData must have ${bytes.length} bytes, got ${length}`);
    new Uint8Array(buffer, offset, bytes.length).set(bytes);
  }

  operations['MLTensor.destroy'] = {
    finish(answer, values, call, {handle}) {
      rejectWaiting('tensor', handle, 'the tensor was destroyed before it was read');
    },
  };

  // ---- A lost context: https://www.w3.org/TR/webnn/#mlcontext-lose

  const lost = new WeakMap(), promises = new WeakMap();
  function lose(context, message) {
    if (context === undefined || lost.has(context)) return;
    const info = {message};
    lost.set(context, info);
    promises.get(context)?.(info);
    rejectWaiting('context', context, `the context is lost: ${message}`);
  }
  const attributes = {
    'MLContext.lost': context => new Promise(resolve => {
      if (lost.has(context)) resolve(lost.get(context)); else promises.set(context, resolve);
    }),
  };

  // ---- WebGPU

  // A mapped range is a buffer of the program's own until it is unmapped.
  const ranges = new WeakMap(), devices = new WeakMap();
  operations['GPUBuffer.getMappedRange'] = {
    finish({buffers: [content]}, values, call, slot) {
      const buffer = content.take();
      if (!ranges.has(slot)) ranges.set(slot, []);
      ranges.get(slot).push(buffer);
      return () => buffer;
    },
  };
  const unmap = {finish(answer, values, call, slot) {
    for (const buffer of ranges.get(slot) ?? []) if (!buffer.detached) Reflect.apply(transferBuffer, buffer, []);
    ranges.delete(slot);
  }};
  operations['GPUBuffer.unmap'] = operations['GPUBuffer.destroy'] = unmap;
  const lossOf = device => {
    if (!devices.has(device)) devices.set(device, Promise.withResolvers());
    return devices.get(device);
  };
  attributes['GPUDevice.lost'] = device => lossOf(device).promise;
  operations['GPUDevice.destroy'] = {
    finish(answer, values, call, slot) { lossOf(slot).resolve({reason: 'destroyed', message: 'destroy() was called'}); },
  };

  // A buffer of the program's own device.
  operations['MLContext.exportToGPU'] = {
    finish({value}, values, call, slot) {
      return value.$i === 'GPUBridgeBuffer' ? () => findBridge().makeBuffer(value, slot) : undefined;
    },
  };

  function checkNotLost(context, name) {
    if (lost.has(context)) throw invalidState(`${name}: the context is lost: ${lost.get(context).message}`);
  }
  return {operations, attributes, lose, checkNotLost};
}

const binding = isSecure ?
  makeBinding(global, idl, makeConversion, transport, queueTask, externals, makeSpecial, markAsUncloneable, warnings, evaluate, hasWebGPU) : undefined;

// Navigator is another specification's. What is there already (Node has one) keeps its other members.
const ml = binding?.wrap('ML', 0);
// Workers have another interface for it.
const NAVIGATOR = global.WorkerGlobalScope === undefined ? 'Navigator' : 'WorkerNavigator';
const Navigator = global[NAVIGATOR] ?? {[NAVIGATOR]: class {
  constructor() { throw new TypeError(`${NAVIGATOR}: Illegal constructor`); }
}}[NAVIGATOR];
if (global[NAVIGATOR] === undefined) {
  defineProperty(Navigator.prototype, Symbol.toStringTag, {value: NAVIGATOR, configurable: true});
  define(NAVIGATOR, Navigator);
  define('navigator', Object.create(Navigator.prototype));
}
if (!isSecure) return undefined;
const {navigator} = global;
const {get} = Reflect.getOwnPropertyDescriptor({get ml() {
  if (this !== navigator) throw new TypeError(`ml: Illegal invocation, this must be the ${NAVIGATOR}`);
  return ml;
}}, 'ml');
defineProperty(Navigator.prototype, 'ml', {get, set: undefined, enumerable: true, configurable: true});
if (hasGPU && !hasWebGPU) {
  // A page may replace the global class.
  const Device = global.GPUDevice;
  class GPUAdapter { async requestDevice() { return new Device(); } }
  class GPU { async requestAdapter() { return new GPUAdapter(); } }
  for (const [name, value] of Object.entries({GPU, GPUAdapter})) define(name, value);
  const gpu = new GPU();
  const {get: getGPU} = Reflect.getOwnPropertyDescriptor({get gpu() { return gpu; }}, 'gpu');
  defineProperty(Navigator.prototype, 'gpu', {get: getGPU, set: undefined, enumerable: true, configurable: true});
}
return binding;
})
