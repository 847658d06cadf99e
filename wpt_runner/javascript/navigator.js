// What the IDL alone does not say: `navigator.ml`, the transfer of the views of `compute()`, and the stand-in for WebGPU's device.
(function (global, idl, makeBinding, makeConversion, send, queueTask) {
'use strict';
const {ArrayBuffer, Object, Reflect, Symbol, TypeError, Uint8Array} = global;
const {defineProperty} = Object;
const define = (name, value) => defineProperty(global, name, {value, writable: true, enumerable: false, configurable: true});

// WebGPU is not here: a page that wants a context of type "webgpu" makes this stand-in by itself.
if (global.GPUDevice === undefined) define('GPUDevice', class GPUDevice {});
const {GPUDevice} = global;
const externals = {GPUDevice: value => value instanceof GPUDevice};

// Transfer a view: https://www.w3.org/TR/webnn/#mlnamedarraybufferviews-transfer. Throws a TypeError if its buffer cannot be transferred.
const transferBuffer = ArrayBuffer.prototype.transfer;
// The constructors as they are now: the program may replace the global ones.
const TYPED_ARRAYS = Object.fromEntries(Object.getOwnPropertyNames(global).filter(name => name.endsWith('Array')).map(name => [name, global[name]]));
function transfer(view) {
  const {kind, buffer, offset, length} = binding.inspect(view);
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
const special = {
  'MLContext.compute': {
    written: ([, , outputs]) => viewsOf(outputs).map(([, index]) => index),
    // Python has checked and computed. The views lose their memory now, and their successors, which nobody has yet, get the results.
    finish({value, buffers}, [, inputs, outputs], {views}) {
      const transferAll = record => viewsOf(record).map(([name, index]) => [name, transfer(views[index])]);
      const newInputs = transferAll(inputs), newOutputs = transferAll(outputs), computed = new global.Map(value);
      for (const [name, view] of newOutputs) {
        const {buffer, offset, length} = binding.inspect(view);
        buffers[computed.get(name)].copyTo(new Uint8Array(buffer, offset, length));
      }
      return () => ({inputs: toObject(newInputs), outputs: toObject(newOutputs)});
    },
  },
};

const binding = makeBinding(global, idl, makeConversion, send, queueTask, externals, special);

// Navigator is another specification's. What is there already (Node has one) keeps its other members.
const ml = binding.wrap('ML', 0);
const Navigator = global.Navigator ?? {Navigator: class { constructor() { throw new TypeError('Navigator: Illegal constructor'); } }}.Navigator;
if (global.Navigator === undefined) {
  defineProperty(Navigator, 'name', {value: 'Navigator', configurable: true});
  defineProperty(Navigator.prototype, Symbol.toStringTag, {value: 'Navigator', configurable: true});
  define('Navigator', Navigator);
  define('navigator', Object.create(Navigator.prototype));
}
const {navigator} = global;
const {get} = Reflect.getOwnPropertyDescriptor({get ml() {
  if (this !== navigator) throw new TypeError('ml: Illegal invocation, this must be the Navigator');
  return ml;
}}, 'ml');
defineProperty(Navigator.prototype, 'ml', {get, set: undefined, enumerable: true, configurable: true});
return binding;
})
