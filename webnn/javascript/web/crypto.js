// The random numbers of https://w3c.github.io/webcrypto; there is no `crypto.subtle`. `random(size)` returns bytes of the host.
(function (global, random, interfaces) {
'use strict';
const {finish, needs} = interfaces;
const {ArrayBuffer, DOMException, Object, Reflect, Symbol, TypeError, Uint8Array} = global;

const MOST = 65536;
const KINDS = ['Int8', 'Uint8', 'Uint8Clamped', 'Int16', 'Uint16', 'Int32', 'Uint32', 'BigInt64', 'BigUint64'].map(each => `${each}Array`);
const {get: kindOf} = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(Uint8Array.prototype), Symbol.toStringTag);

let crypto = null;
const check = self => { if (self !== crypto) throw new TypeError('Illegal invocation, this must be the Crypto'); };
class Crypto {
  constructor() { if (crypto !== null) throw new TypeError('Crypto: Illegal constructor'); }
  getRandomValues(array) {
    check(this);
    needs('getRandomValues', arguments, 1);
    if (!ArrayBuffer.isView(array)) throw new TypeError('getRandomValues: the argument must be a view');
    const kind = Reflect.apply(kindOf, array, []), {byteLength} = array;
    const refuse = (demand, given, name) => { throw new DOMException(`getRandomValues: the array must ${demand}, got ${given}`, name); };
    if (!KINDS.includes(kind)) refuse('hold integers', kind ?? 'a DataView', 'TypeMismatchError');
    if (byteLength > MOST) refuse(`have at most ${MOST} bytes`, byteLength, 'QuotaExceededError');
    new Uint8Array(array.buffer, array.byteOffset, byteLength).set(random(byteLength));
    return array;
  }
  randomUUID() {
    check(this);
    const bytes = random(16);
    // A UUID of version 4: https://www.rfc-editor.org/rfc/rfc9562#name-uuid-version-4
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    return bytes.toHex().replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
  }
}
finish(Crypto);
crypto = new Crypto();
return {Crypto, crypto};
})
