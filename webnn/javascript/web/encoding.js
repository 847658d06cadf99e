// TextEncoder and TextDecoder, https://encoding.spec.whatwg.org, for UTF-8 and UTF-16. The other encodings, which are for old pages, are
// refused as unknown.
(function (global, interfaces) {
'use strict';
const {dictionary, finish, needs} = interfaces;
const {ArrayBuffer, Object, RangeError, Reflect, SharedArrayBuffer, String, TypeError, Uint8Array, WeakMap} = global;
const {fromCharCode} = String;

const LABELS = {
  'utf-8': ['unicode-1-1-utf-8', 'unicode11utf8', 'unicode20utf8', 'utf-8', 'utf8', 'x-unicode20utf8'],
  'utf-16be': ['unicodefffe', 'utf-16be'],
  'utf-16le': ['csunicode', 'iso-10646-ucs-2', 'ucs-2', 'unicode', 'unicodefeff', 'utf-16', 'utf-16le'],
};

// ---- Decoders take bytes, and whether these are the last ones; they return code units. Null stands for what is no text.

// https://encoding.spec.whatwg.org/#utf-8-decoder
function makeUtf8Decoder() {
  let code = 0, needed = 0, seen = 0, lower = 0x80, upper = 0xbf;
  const start = () => { code = needed = seen = 0; lower = 0x80; upper = 0xbf; };
  return (bytes, isLast, fail) => {
    const units = [];
    for (let index = 0; index < bytes.length; index++) {
      const byte = bytes[index];
      if (needed === 0) {
        if (byte < 0x80) {
          units.push(byte);
        } else if (byte < 0xc2 || byte > 0xf4) {
          units.push(fail());
        } else {
          needed = byte < 0xe0 ? 1 : byte < 0xf0 ? 2 : 3;
          code = byte & (0x3f >> needed);
          if (byte === 0xe0) lower = 0xa0; else if (byte === 0xf0) lower = 0x90;
          if (byte === 0xed) upper = 0x9f; else if (byte === 0xf4) upper = 0x8f;
        }
      } else if (byte < lower || byte > upper) {
        start();
        units.push(fail());
        index--;
      } else {
        [lower, upper] = [0x80, 0xbf];
        code = code << 6 | byte & 0x3f;
        if (++seen < needed) continue;
        if (code < 0x10000) units.push(code); else units.push(0xd7c0 + (code >> 10), 0xdc00 + (code & 0x3ff));
        start();
      }
    }
    if (isLast && needed > 0) {
      start();
      units.push(fail());
    }
    return units;
  };
}

// https://encoding.spec.whatwg.org/#shared-utf-16-decoder
function makeUtf16Decoder(isBigEndian) {
  let first = null, lead = null;
  return (bytes, isLast, fail) => {
    const units = [];
    for (const byte of bytes) {
      if (first === null) { first = byte; continue; }
      const unit = isBigEndian ? first << 8 | byte : byte << 8 | first, isTrail = unit >= 0xdc00 && unit < 0xe000, before = lead;
      first = lead = null;
      if (before !== null && isTrail) { units.push(before, unit); continue; }
      if (before !== null) units.push(fail());
      if (unit >= 0xd800 && unit < 0xdc00) lead = unit; else units.push(isTrail ? fail() : unit);
    }
    if (isLast && (first !== null || lead !== null)) {
      first = lead = null;
      units.push(fail());
    }
    return units;
  };
}
const DECODERS = {'utf-8': makeUtf8Decoder, 'utf-16be': () => makeUtf16Decoder(true), 'utf-16le': () => makeUtf16Decoder(false)};

// A call has a limited number of arguments.
const PIECE = 1 << 12;
function textOf(units) {
  let text = '';
  for (let start = 0; start < units.length; start += PIECE) text += Reflect.apply(fromCharCode, String, units.slice(start, start + PIECE));
  return text;
}
// UTF-8 whose first character may be a byte order mark, with the replacement character for what is no text.
const decodeUtf8 = bytes => textOf(makeUtf8Decoder()(bytes, true, () => 0xfffd));

const isBuffer = value => value instanceof ArrayBuffer || (SharedArrayBuffer !== undefined && value instanceof SharedArrayBuffer);
function bytesOf(name, value) {
  if (ArrayBuffer.isView(value)) return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  if (isBuffer(value)) return new Uint8Array(value);
  throw new TypeError(`${name}: the bytes must be an ArrayBuffer or a view`);
}

const states = new WeakMap();
function stateOf(self) {
  const state = states.get(self);
  if (state === undefined) throw new TypeError('Illegal invocation, this must be a TextDecoder');
  return state;
}
class TextDecoder {
  constructor(label = 'utf-8', options = undefined) {
    const name = `${label}`.replace(/^[\t\n\f\r ]+|[\t\n\f\r ]+$/g, '').toLowerCase();
    const {fatal, ignoreBOM} = dictionary(options, 'TextDecoder: options');
    const encoding = Object.keys(LABELS).find(each => LABELS[each].includes(name));
    if (encoding === undefined) throw new RangeError(`TextDecoder: the encoding ${label} is not known: only UTF-8 and UTF-16 are`);
    states.set(this, {encoding, fatal: !!fatal, ignoreBOM: !!ignoreBOM, decode: null, hasBegun: false});
  }
  get encoding() { return stateOf(this).encoding; }
  get fatal() { return stateOf(this).fatal; }
  get ignoreBOM() { return stateOf(this).ignoreBOM; }
  decode(input = undefined, options = undefined) {
    const state = stateOf(this), bytes = input === undefined ? [] : bytesOf('decode', input), {stream} = dictionary(options, 'decode: options');
    const fail = () => {
      if (!state.fatal) return 0xfffd;
      state.decode = null;
      throw new TypeError(`decode: the bytes are no ${state.encoding}`);
    };
    if (state.decode === null) Object.assign(state, {decode: DECODERS[state.encoding](), hasBegun: false});
    const units = state.decode(bytes, !stream, fail);
    const isMarked = !state.hasBegun && !state.ignoreBOM && units[0] === 0xfeff;
    if (units.length > 0) state.hasBegun = true;
    if (!stream) state.decode = null;
    return textOf(isMarked ? units.slice(1) : units);
  }
}
finish(TextDecoder);

// ---- TextEncoder

// The bytes of a text in UTF-8, as many whole characters as fit, and how many code units those were.
function encode(text, most) {
  const bytes = [];
  let read = 0;
  while (read < text.length) {
    let code = text.codePointAt(read);
    const units = code > 0xffff ? 2 : 1, size = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    if (bytes.length + size > most) break;
    if (code >= 0xd800 && code < 0xe000) code = 0xfffd;
    if (size === 1) bytes.push(code); else bytes.push((0xf0 << (4 - size) & 0xff) | code >> 6 * (size - 1));
    for (let part = size - 2; part >= 0; part--) bytes.push(0x80 | code >> 6 * part & 0x3f);
    read += units;
  }
  return {bytes, read};
}
const encoders = new global.WeakSet();
function check(self) {
  if (!encoders.has(self)) throw new TypeError('Illegal invocation, this must be a TextEncoder');
}
class TextEncoder {
  constructor() { encoders.add(this); }
  get encoding() { check(this); return 'utf-8'; }
  encode(input = '') { check(this); return Uint8Array.from(encode(`${input}`, Infinity).bytes); }
  encodeInto(source, destination) {
    check(this);
    needs('encodeInto', arguments, 2);
    const text = `${source}`;
    if (!(destination instanceof Uint8Array)) throw new TypeError('encodeInto: the destination must be a Uint8Array');
    const {bytes, read} = encode(text, destination.length);
    destination.set(bytes);
    return {read, written: bytes.length};
  }
}
finish(TextEncoder);

return {decodeUtf8, names: {TextDecoder, TextEncoder}};
})
