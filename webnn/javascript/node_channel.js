// The end of a process of Node of the channel to Python: channel.py has the form of a message. Python sends this text before the first message,
// so that both ends fit together.
//
// `readSync` and `writeSync` are node:fs's, `input` and `output` the files. `die()` is called when nobody is at the other end any more: it throws
// or ends the process. `beforeCall()` is called before each call of the binding.
(function (global, host) {
'use strict';
const {readSync, writeSync, input, output, die, beforeCall} = host;
const {Buffer, RangeError, TypeError} = global, {parse, stringify} = JSON;
const CHUNK = 1 << 26;
// The longest text of a call and the longest view, and how much of an output goes into one message (node.py has the same limits).
const LONGEST_TEXT = 2 ** 26, LONGEST_BUFFER = 2 ** 31, LONGEST_OUTPUT = 2 ** 20;
const HEADER = 8, LENGTH = 8;
// What is written together, and read together. A part that does not fit is written from its own memory, and read to it.
const outgoing = new Uint8Array(1 << 16), incoming = new Uint8Array(1 << 16);
// The ends of what is to be written, and of what was read; and the beginning of what was not used yet.
let unsent = 0, end = 0, begin = 0;
const decoder = new TextDecoder(), encoder = new TextEncoder();
const {apply} = Reflect, {latin1Slice} = Buffer.prototype;
const pause = new Int32Array(new SharedArrayBuffer(4));

// Write or read bytes, as many as the system takes or gives at once.
function attempt(operate, file, bytes, start, stop) {
  for (;;) {
    try {
      const count = operate(file, bytes, start, Math.min(stop - start, CHUNK), null);
      if (count === 0) die();
      return count;
    } catch (error) {
      if (error.code === 'EPIPE' || error.code === 'EOF') die();
      if (error.code !== 'EAGAIN') throw error;
      Atomics.wait(pause, 0, 0, 1);
    }
  }
}
function write(bytes, stop) {
  for (let start = 0; start < stop;) start += attempt(writeSync, output, bytes, start, stop);
}
function flush() {
  const stop = unsent;
  unsent = 0;
  write(outgoing, stop);
}
// Write so many bytes with what is still to be written, or before it becomes too much.
function reserve(size) {
  if (unsent + size > outgoing.length) flush();
}
function append(bytes) {
  if (bytes.length > outgoing.length) { flush(); write(bytes, bytes.length); return; }
  reserve(bytes.length);
  outgoing.set(bytes, unsent);
  unsent += bytes.length;
}
const TWO_32 = 2 ** 32;
function append32(number) {
  for (let shift = 0; shift < 32; shift += 8) outgoing[unsent++] = number >>> shift;
}
function appendLength(length) {
  reserve(LENGTH);
  append32(length % TWO_32);
  append32(Math.floor(length / TWO_32));
}

// Begin a message: a text and byte arrays. It is not sent before `flush`.
function put(kind, text, buffers) {
  for (const {length} of buffers) {
    if (length > LONGEST_BUFFER) throw new TypeError(`a view must have at most ${LONGEST_BUFFER} bytes, got ${length}`);
  }
  const start = HEADER + LENGTH * (1 + buffers.length), isShort = typeof text === 'string' && start + 3 * text.length <= outgoing.length;
  const encoded = isShort || typeof text !== 'string' ? text : encoder.encode(text);
  if (encoded.length > LONGEST_TEXT) throw new RangeError(`a call must have at most ${LONGEST_TEXT} bytes of text, got ${encoded.length}`);
  reserve(isShort ? start + 3 * text.length : HEADER);
  const head = unsent;
  for (let index = 0; index < 3; index++) outgoing[unsent++] = `WN${kind}`.charCodeAt(index);
  outgoing[unsent++] = 0;
  append32(1 + buffers.length);
  if (isShort) {
    const {written} = encoder.encodeInto(text, outgoing.subarray(head + start));
    appendLength(written);
    for (const {length} of buffers) appendLength(length);
    unsent = head + start + written;
  } else {
    appendLength(encoded.length);
    for (const {length} of buffers) appendLength(length);
    append(encoded);
  }
  for (const bytes of buffers) append(bytes);
}

// Send a message, and those that wait to be sent.
function post(kind, text, buffers = []) {
  put(kind, text, buffers);
  flush();
}

// Have at least so many bytes in `incoming`, which must be able to hold them.
function fill(size) {
  if (end - begin >= size) return;
  incoming.copyWithin(0, begin, end);
  [begin, end] = [0, end - begin];
  while (end < size) end += attempt(readSync, input, incoming, end, incoming.length);
}
function take32() {
  begin += 4;
  return (incoming[begin - 4] | incoming[begin - 3] << 8 | incoming[begin - 2] << 16 | incoming[begin - 1] << 24) >>> 0;
}
function takeLength() {
  fill(LENGTH);
  return take32() + take32() * TWO_32;
}
// Take so many bytes to memory of their own.
function take(size) {
  const bytes = new Uint8Array(size);
  let done = Math.min(size, end - begin);
  bytes.set(incoming.subarray(begin, begin + done));
  begin += done;
  while (done < size) done += attempt(readSync, input, bytes, done, size);
  return bytes;
}

// Receive a message: its parts. The first one is a text, if that is wanted.
function receive(isText = true) {
  fill(HEADER);
  begin += 4;
  const sizes = [], parts = [];
  for (let count = take32(); count > 0; count--) sizes.push(takeLength());
  for (const size of sizes) {
    if (parts.length === 0 && isText) parts.push(takeText(size)); else parts.push(take(size));
  }
  return parts;
}
// Python writes ASCII.
function takeText(size) {
  if (size > incoming.length) return decoder.decode(take(size));
  fill(size);
  begin += size;
  return apply(latin1Slice, incoming, [begin - size, begin]);
}

// The one call of the binding.
function send(text, buffers) {
  beforeCall();
  post('C', text, buffers);
  const [answer, ...parts] = receive();
  return [answer, parts.map(part => ({size: part.length, copyTo: bytes => bytes.set(part), take: () => part.buffer}))];
}

// A request without an answer. It is sent with the next message, or before that, so that Python has something to do.
const ENOUGH = 1 << 12;
function tell(text, buffers, now) {
  beforeCall();
  put('D', text, buffers);
  if (now || unsent >= ENOUGH) flush();
}

// Warnings on the console, each once for each place in the program: Python explains members that a dictionary does not have. `findPlace` returns
// the place as a text.
function makeIgnored(findPlace, warn) {
  const warned = new Set(), LONGEST_QUESTION = LONGEST_OUTPUT / 4;
  return (where, given, known) => {
    const place = findPlace(), key = stringify([where, given, place]), question = stringify([where, given, known]);
    // So many names are no mistake that somebody made by hand, and do not fit into one message.
    if (warned.has(key) || question.length > LONGEST_QUESTION) return;
    warned.add(key);
    post('I', question);
    const [texts] = receive();
    for (const text of parse(texts)) warn(`WebNNWarning: ${text}${place}`);
  };
}

return {LONGEST_OUTPUT, put, post, receive, send, tell, makeIgnored};
})
