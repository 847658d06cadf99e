// Devices of WebGPU that the program has: Dawn's in Node (npm's webgpu), the browser's own in a page. A tensor is exported to a real buffer.
//
// A buffer that is mapped at its creation can be filled at once. To read one takes a turn of the event loop. So `destroy()` of a tensor's buffer
// copies its bytes on the device, and Python is told that they are to come: what the program queues until then waits there.
//
// `host` is binding.js's: `request(interface, member, slot, values, views)` returns Python's answer; `adopt(object, name, handle)` returns the slot of
// an object of the program's; `slotOf(object)`; `objectOf(handle)`; `forget(handle)`; `settle()` settles the promises that waited for bytes.
(function (global, host) {
'use strict';
const {DOMException, Map, Object, Promise, Reflect, Uint8Array} = global;
const {request, adopt, slotOf, objectOf, forget, settle} = host;
// The numbers of WebGPU's flags: a program's globals need not have their names.
const MAP_READ = 0x1, COPY_SRC = 0x4, COPY_DST = 0x8, STORAGE = 0x80, READ = 0x1;

// The buffers that are lent, by their handles; and copies of those that were destroyed and whose bytes are to come.
const lent = new Map(), copies = new Map();

// Whether a value is a device of WebGPU.
function isDevice(value) {
  if (typeof value !== 'object' || value === null) return false;
  const {GPUDevice} = global;
  if (typeof GPUDevice === 'function' && value instanceof GPUDevice) return true;
  const prototype = Reflect.getPrototypeOf(value);
  return prototype?.constructor?.name === 'GPUDevice' && typeof prototype.createBuffer === 'function';
}

// Ask Python. What has ended answers nothing.
function tell(slot, member, views = []) {
  try { request(slot.name, member, slot, views.map((_, $v) => ({$v})), views); } catch { /* the emulator is gone, or the session has ended */ }
}

// Return the slot of a device, undefined if the value is something else.
function findDevice(value) {
  if (slotOf(value) !== undefined || !isDevice(value)) return undefined;
  const slot = adopt(value, 'GPUBridge', request('GPUBridge', 'constructor', undefined, [], []).value.$h);
  Promise.resolve(value.lost).then(info => {
    try { request('GPUBridge', 'lose', slot, [`${info?.message || info?.reason || ''}`], []); } catch { /* as above */ }
  }, () => {});
  return slot;
}

function copy(device, pairs, size) {
  const encoder = device.createCommandEncoder();
  for (const [from, to] of pairs) encoder.copyBufferToBuffer(from, 0, to, 0, size);
  device.queue.submit([encoder.finish()]);
}

// Return the buffer of a tensor, of what Python says of it. `context` is the slot of its context.
function makeBuffer({$h: handle}, context) {
  if (lent.has(handle)) return lent.get(handle);
  const slot = {name: 'GPUBridgeBuffer', handle, owner: context};
  const ask = member => request(slot.name, member, slot, [], []);
  const device = objectOf(ask('device').value.$h), size = ask('size').value, last = ask('last').value;
  let bytes, buffer;
  try {
    const descriptor = {label: 'tensor', size, usage: STORAGE | COPY_SRC | COPY_DST};
    if (last === null) {
      bytes = new Uint8Array(ask('take').buffers[0].take());
      buffer = device.createBuffer({...descriptor, mappedAtCreation: true});
      new Uint8Array(buffer.getMappedRange()).set(bytes);
      buffer.unmap();
    } else {
      buffer = device.createBuffer(descriptor);
      copy(device, [[copies.get(last.$h), buffer]], size);
    }
  } catch (error) {
    // The tensor gets its bytes again.
    tell(slot, 'destroy');
    if (bytes === undefined) tell(slot, 'lose'); else tell(slot, 'give', [bytes]);
    forget(handle);
    throw new DOMException(`exportToGPU: the GPUDevice must make a buffer of ${size} bytes: ${error.message}`, 'UnknownError');
  }
  const {destroy} = buffer;
  const value = {destroy() {
    if (lent.delete(handle)) takeBack(device, buffer, slot, size, context);
    Reflect.apply(destroy, buffer, []);
  }}.destroy;
  Object.defineProperty(buffer, 'destroy', {value, writable: true, enumerable: false, configurable: true});
  lent.set(handle, buffer);
  return buffer;
}

// Begin to read a buffer, and tell Python that its bytes are to come.
function takeBack(device, buffer, slot, size, context) {
  let kept, read, mapped;
  try {
    [kept, read] = [COPY_SRC, MAP_READ].map(usage => device.createBuffer({size, usage: usage | COPY_DST}));
    copy(device, [[buffer, kept], [buffer, read]], size);
    mapped = Promise.resolve(read.mapAsync(READ));
  } catch (error) {
    mapped = Promise.reject(error);
  }
  copies.set(slot.handle, kept);
  context.awaits = (context.awaits ?? 0) + 1;
  tell(slot, 'destroy');
  const end = views => {
    tell(slot, views === undefined ? 'lose' : 'give', views);
    context.awaits--;
    copies.delete(slot.handle);
    forget(slot.handle);
    for (const each of [kept, read]) try { each?.destroy(); } catch { /* the device is lost */ }
    settle();
  };
  mapped.then(() => new Uint8Array(read.getMappedRange()).slice()).then(bytes => end([bytes]), () => end());
}

return {findDevice, makeBuffer};
})
