// Web IDL conversion of JavaScript values, made from the IDL as data: https://webidl.spec.whatwg.org/#js-type-mapping.
//
// A converter turns a value into what goes over the border to Python (dispatch.py has the forms). It is made once for each type.
// `call` collects what belongs to one call: `call.views` holds the buffers and views, which travel beside the text. A lifter turns what comes
// back into a JavaScript value.
//
// `idl.conversions` says what a browser converts otherwise: `float: "unrounded"`, a double beyond the largest float is refused even if it would
// be rounded to that; `bigint: "primitive"`, an object does not become a BigInt; `chosenBy`, for an operation the position of the argument that
// chooses the overload.
//
// `warnings` is undefined, or what a host has that shows warnings: `isProxy(value)`, and `ignored(where, given, known)`, which is told of a
// dictionary with members that it ignores: the names that were given, and those that it has.
(function (global, idl, objects, externals, warnings) {
'use strict';
const {Array, ArrayBuffer, BigInt, Map, Math, Number, Object, Reflect, Symbol, TypeError} = global;

// The getters of the intrinsic prototypes read the real state: a subclass or a property of the same name cannot deceive them.
const getter = (prototype, name) => Reflect.getOwnPropertyDescriptor(prototype, name)?.get;
const TypedArray = Reflect.getPrototypeOf(global.Uint8Array);
const sharedLength = global.SharedArrayBuffer && getter(global.SharedArrayBuffer.prototype, 'byteLength');
const bufferLength = getter(ArrayBuffer.prototype, 'byteLength');
const bufferResizable = getter(ArrayBuffer.prototype, 'resizable');
// Node 20 has no such getter; a view of a detached buffer cannot be made.
const bufferDetached = getter(ArrayBuffer.prototype, 'detached') ??
  function () { try { new global.Uint8Array(this); return false; } catch { return true; } };
const sharedGrowable = global.SharedArrayBuffer && getter(global.SharedArrayBuffer.prototype, 'growable');
const typedArrayKind = getter(TypedArray.prototype, Symbol.toStringTag);
const members = prototype => Object.fromEntries(['buffer', 'byteOffset', 'byteLength'].map(name => [name, getter(prototype, name)]));
const ofTypedArray = members(TypedArray.prototype), ofDataView = members(global.DataView.prototype);
const isView = ArrayBuffer.isView;
const bigintText = BigInt.prototype.toString;
const {apply} = Reflect;

const isObject = value => (typeof value === 'object' && value !== null) || typeof value === 'function';
const succeeds = (getter, value) => { try { apply(getter, value, []); return true; } catch { return false; } };
// Of a buffer of either kind. To ask for what a value is not costs an error, a hundred times as much as an answer: most are ordinary ones.
const isShared = buffer => !succeeds(bufferLength, buffer);
const isBuffer = value => isObject(value) && (succeeds(bufferLength, value) || (sharedLength !== undefined && succeeds(sharedLength, value)));

// The state of a buffer or a view: its kind ("Float32Array", ..., "DataView", "ArrayBuffer", "SharedArrayBuffer"), its buffer, and the
// bytes it shows; none if its buffer is detached.
function inspect(source) {
  const view = isView(source), kind = view ? apply(typedArrayKind, source, []) ?? 'DataView' : undefined;
  const read = kind === 'DataView' ? ofDataView : ofTypedArray;
  const buffer = view ? apply(read.buffer, source, []) : source, shared = isShared(buffer);
  const detached = !shared && apply(bufferDetached, buffer, []);
  const size = () => view ? apply(read.byteLength, source, []) : apply(shared ? sharedLength : bufferLength, buffer, []);
  return {
    kind: kind ?? (shared ? 'SharedArrayBuffer' : 'ArrayBuffer'), buffer, detached,
    offset: detached || !view ? 0 : apply(read.byteOffset, source, []),
    length: detached ? 0 : size(),
  };
}

// ---- Types

const LONGEST_SHOWN = 80;
const cut = text => text.length <= LONGEST_SHOWN ? text : `${text.slice(0, LONGEST_SHOWN - 3)}...`;
// The digits of a BigInt of many digits take long to make, and nobody reads them.
const MOST_BITS = 1024;

const describe = value => {
  if (typeof value === 'string') return cut(`'${value}'`);
  if (typeof value === 'bigint') return BigInt.asIntN(MOST_BITS, value) === value ? cut(`${value}n`) : 'a BigInt of many digits';
  if (typeof value === 'symbol') return 'a Symbol';
  if (typeof value === 'function') return 'a function';
  if (isObject(value)) return `an object (${objects.interfaceOf(value) ?? 'of another type'})`;
  return `${value}`;
};
const refuse = (where, what, value) => new TypeError(`${where} ${what}, got ${describe(value)}`);

// Numbers that JSON does not know are written as text; so are integers whose digits are not all there: Python reads integers exactly.
const exact = value => Number.isInteger(value) ? Number.isSafeInteger(value) && !Object.is(value, -0) : Number.isFinite(value);
const number = value => exact(value) ? value : {$n: Object.is(value, -0) ? '-0' : `${value}`};

// How many bits an integer has, and whether it has a sign.
const INTEGERS = {
  'byte': [8, true], 'octet': [8, false], 'short': [16, true], 'unsigned short': [16, false],
  'long': [32, true], 'unsigned long': [32, false], 'long long': [64, true], 'unsigned long long': [64, false],
};

function integer(name, attributes) {
  const [bits, signed] = INTEGERS[name], modulus = 2 ** bits;
  const highest = bits === 64 ? Number.MAX_SAFE_INTEGER : 2 ** (signed ? bits - 1 : bits) - 1;
  const lowest = !signed ? 0 : bits === 64 ? Number.MIN_SAFE_INTEGER : -(2 ** (bits - 1));
  return {category: 'numeric', convert(value, where) {
    // The unary plus is ToNumber: it refuses BigInt and Symbol by itself.
    let result = +value;
    if (attributes.EnforceRange) {
      if (!Number.isFinite(result)) throw refuse(where, `must be a finite number`, value);
      result = Math.trunc(result);
      if (result < lowest || result > highest) throw refuse(where, `must be from ${lowest} to ${highest}`, value);
      return result + 0;
    }
    if (attributes.Clamp) {
      if (Number.isNaN(result)) return 0;
      result = Math.min(Math.max(result, lowest), highest);
      const floor = Math.floor(result), rest = result - floor;
      return (rest < 0.5 || (rest === 0.5 && floor % 2 === 0) ? floor : floor + 1) + 0;
    }
    if (!Number.isFinite(result)) return 0;
    result = ((Math.trunc(result) % modulus) + modulus) % modulus;
    return number((signed && result >= modulus / 2 ? result - modulus : result) + 0);
  }};
}

const LARGEST_FLOAT = (2 - 2 ** -23) * 2 ** 127;

function real(name) {
  const single = name.endsWith('float'), unrestricted = name.startsWith('unrestricted');
  return {category: 'numeric', convert(value, where) {
    const given = +value, result = single ? Math.fround(given) : given;
    const isBeyond = single && idl.conversions.float === 'unrounded' && Math.abs(given) > LARGEST_FLOAT;
    if (!unrestricted && (isBeyond || !Number.isFinite(result))) throw refuse(where, `must be a finite ${name}`, value);
    return number(result);
  }};
}

const string = name => ({category: 'string', convert: name === 'USVString' ? value => `${value}`.toWellFormed() : value => `${value}`});

// ToNumeric: what the postfix operator returns. It converts once, and knows both kinds of numbers.
const toNumeric = value => { let numeric = value; return numeric++; };

const bigint = () => ({category: 'bigint', convert: value => {
  // This is ToBigInt, which refuses a Number, and nothing else: no BigInt has so many bits.
  const integer = BigInt.asIntN(Number.MAX_SAFE_INTEGER, value);
  return {$b: apply(bigintText, integer, [16])};
}});

// A type of buffers: `takes` says which values are of it, `demand` what they must be.
function bufferSource(takes, demand) {
  return attributes => ({category: 'buffer', takes, convert(value, where, call) {
    if (!takes(value)) throw refuse(where, `must be ${demand}`, value);
    const {buffer, detached} = inspect(value), shared = isShared(buffer), what = isView(value) ? 'a view of a' : 'a';
    if (shared && !attributes.AllowShared) throw new TypeError(`${where} must not be ${what} SharedArrayBuffer`);
    const resizable = shared ? sharedGrowable : bufferResizable;
    if (!attributes.AllowResizable && !detached && resizable && apply(resizable, buffer, [])) {
      throw new TypeError(`${where} must not be ${what} resizable buffer`);
    }
    call.views.push(value);
    return {$v: call.views.length - 1};
  }});
}
const anyBuffer = bufferSource(value => isView(value) || isBuffer(value), 'a buffer or a view of one');

const PRIMITIVES = {
  'any': () => ({category: 'any', convert: () => null}),
  'boolean': () => ({category: 'boolean', convert: value => !!value}),
  'undefined': () => ({category: 'undefined', convert: () => null}),
  'object': () => ({category: 'object', convert(value, where) {
    if (!isObject(value)) throw refuse(where, 'must be an object', value);
    return null;
  }}),
  ...Object.fromEntries(['DOMString', 'USVString'].map(name => [name, () => string(name)])),
  ...Object.fromEntries(['float', 'double', 'unrestricted float', 'unrestricted double'].map(name => [name, () => real(name)])),
  ...Object.fromEntries(Object.keys(INTEGERS).map(name => [name, attributes => integer(name, attributes)])),
  'bigint': bigint,
  'ArrayBufferView': bufferSource(isView, 'an ArrayBufferView'),
  'BufferSource': anyBuffer,
  'AllowSharedBufferSource': attributes => anyBuffer({...attributes, AllowShared: true}),
};

function enumeration(name) {
  const values = idl.enumerations[name], list = values.map(each => `'${each}'`).join(', ');
  return {category: 'string', convert(value, where) {
    const text = `${value}`;
    if (!values.includes(text)) throw new TypeError(`${where} must be one of ${list} (${name}), got ${describe(text)}`);
    return text;
  }};
}

const platformObject = name => ({category: 'interface', name, convert(value, where) {
  const handle = objects.handleOf(value, name);
  if (handle === undefined) throw refuse(where, `must be an ${name}`, value);
  return {$h: handle};
}});

// An object of an interface that another specification defines: Python has a stand-in for it.
const externalObject = name => ({category: 'interface', name, convert(value, where) {
  if (!externals[name](value)) throw refuse(where, `must be a ${name}`, value);
  return {$x: name};
}});

// The members of a dictionary in their order: those of the dictionary it inherits from come first, those of one dictionary in the order
// of their names.
function membersOf(name) {
  const levels = [];
  for (let each = name; each !== undefined; each = idl.dictionaries[each].inherits) levels.unshift(idl.dictionaries[each]);
  return levels.flatMap(({members}) => [...members].sort((a, b) => (a.name < b.name ? -1 : 1)));
}

// A profile may have a second name of a member, or bits that stand for several. The member of the draft comes first.
function setMember(result, {name, as, flags}, value) {
  if (flags !== undefined) for (const [each, bit] of Object.entries(flags)) result[each] ??= (value & bit) !== 0;
  else if (as !== undefined) result[as] ??= value;
  else result[name] = value;
}

// The names of an object's own enumerable properties that are not undefined, as far as nobody can observe that they are read: no getter is
// called, and a Proxy has none here. Nor have arrays, which are no dictionaries that a person writes.
function namesOf(value) {
  if (warnings.isProxy(value) || Array.isArray(value) || isView(value)) return [];
  const isGiven = name => { const {value: given, get} = Reflect.getOwnPropertyDescriptor(value, name); return given !== undefined || get; };
  // What a module exports may not have a value yet.
  try { return Object.keys(value).filter(isGiven); } catch { return []; }
}

function dictionary(name) {
  const sorted = membersOf(name), known = sorted.map(member => member.name);
  let converters;
  return {category: 'dictionary', convert(value, where, call) {
    if (value !== undefined && value !== null && !isObject(value)) throw refuse(where, `must be an object (${name})`, value);
    if (warnings !== undefined && isObject(value)) {
      const given = namesOf(value);
      if (!given.every(each => known.includes(each))) warnings.ignored(where, given, known);
    }
    converters ??= sorted.map(member => converter(member.type));
    const result = Object.create(null);
    for (let index = 0; index < sorted.length; index++) {
      const member = sorted[index];
      const given = value === undefined || value === null ? undefined : value[member.name];
      // Defaults are the Python side's: it has them from the same IDL.
      if (given !== undefined) setMember(result, member, converters[index].convert(given, `${where}.${member.name}`, call));
      else if (member.required) throw new TypeError(`${where} must have the member ${member.name} (${name})`);
    }
    return result;
  }};
}

// The method that makes an object's iterator, undefined if it has none.
function iteratorMethod(value, where) {
  const method = value[Symbol.iterator] ?? undefined;
  if (method !== undefined && typeof method !== 'function') throw refuse(`${where}: its Symbol.iterator`, 'must be a function', method);
  return method;
}

function sequence(type) {
  const element = converter(type);
  // If the choice of this type has read the iterator's method already, it is `found`.
  return {category: 'sequence', convert(value, where, call, found) {
    const method = found ?? (isObject(value) ? iteratorMethod(value, where) : undefined);
    if (method === undefined) throw refuse(where, 'must be a sequence', value);
    return fromIterator(element, value, method, where, call);
  }};
}

// No operation needs as many elements, and some iterators never end.
const LONGEST_SEQUENCE = 2 ** 16;

function fromIterator(element, value, method, where, call) {
  const iterator = apply(method, value, []);
  if (!isObject(iterator)) throw refuse(`${where}: its iterator`, 'must be an object', iterator);
  const {next} = iterator, result = [];
  for (;;) {
    const step = apply(next, iterator, []);
    if (!isObject(step)) throw refuse(`${where}: its iterator's result`, 'must be an object', step);
    if (step.done) return result;
    if (result.length === LONGEST_SEQUENCE) throw new TypeError(`${where} must have at most ${LONGEST_SEQUENCE} elements`);
    result.push(element.convert(step.value, `${where}[${result.length}]`, call));
  }
}

function record(keyType, valueType) {
  const key = converter(keyType), element = converter(valueType);
  return {category: 'record', convert(value, where, call) {
    if (!isObject(value)) throw refuse(where, 'must be an object', value);
    const result = new Map();
    for (const name of Reflect.ownKeys(value)) {
      const property = Reflect.getOwnPropertyDescriptor(value, name);
      if (property === undefined || !property.enumerable) continue;
      const text = key.convert(name, `${where}: a name`, call);
      result.set(text, element.convert(value[name], `${where}[${describe(text)}]`, call));
    }
    return {$r: [...result]};
  }};
}

function nullable(type) {
  const inner = converter(type);
  return {...inner, nullable: true, convert: (value, ...rest) => value === undefined || value === null ? null : inner.convert(value, ...rest)};
}

function union(types) {
  const members = types.map(type => converter(type));
  const integers = members.find(({category}) => category === 'bigint');
  return {category: 'union', members, convert(value, where, call) {
    const {chosen, found} = choose(members, value, where);
    if (chosen === undefined) throw refuse(where, `must be ${members.map(each => each.category).join(' or ')}`, value);
    // What is no number becomes one, of either kind, before it is known which type it is for.
    const isNumeric = integers !== undefined && chosen.category === 'numeric';
    const given = isNumeric && idl.conversions.bigint !== 'primitive' ? toNumeric(value) : value;
    return (typeof given === 'bigint' && integers !== undefined ? integers : chosen).convert(given, where, call, found);
  }};
}

const GENERIC = {
  sequence, nullable, union, record: ([key, value]) => record(key, value),
  // What a method returns is made by Python, and checked there.
  promise: () => ({category: 'promise'}), FrozenArray: () => ({category: 'FrozenArray'}),
};

const byName = new Map();

// Return the converter of a type: `{category, convert(value, where, call)}`. Throws an Error for a type that no code here knows.
function converter(type, attributes = {}) {
  if (typeof type === 'string') {
    if (Object.hasOwn(PRIMITIVES, type)) return PRIMITIVES[type](attributes);
    if (Object.hasOwn(idl.typedefs, type)) return converter(idl.typedefs[type], attributes);
    const known = byName.get(type);
    if (known) return known;
    const made = named(type);
    byName.set(type, made);
    return made;
  }
  if (Object.hasOwn(type, 'extendedAttributes')) return converter(type.type, {...attributes, ...type.extendedAttributes});
  const [[kind, argument]] = Object.entries(type);
  if (!Object.hasOwn(GENERIC, kind)) throw new global.Error(`the IDL has a type that the binding does not know: ${kind}`);
  return GENERIC[kind](argument);
}

function named(name) {
  if (Object.hasOwn(idl.enumerations, name)) return enumeration(name);
  if (Object.hasOwn(idl.dictionaries, name)) return dictionary(name);
  if (Object.hasOwn(idl.interfaces, name)) return platformObject(name);
  if (Object.hasOwn(externals, name)) return externalObject(name);
  throw new global.Error(`the IDL has a type that the binding does not know: ${name}`);
}

// ---- Choosing among types: https://webidl.spec.whatwg.org/#js-union, https://webidl.spec.whatwg.org/#js-overloads

const accepts = ({category, name}, value) =>
  category === 'interface' && (Object.hasOwn(externals, name) ? externals[name](value) : objects.handleOf(value, name) !== undefined);
const ofCategory = (...categories) => ({category}) => categories.includes(category);

// Which values a rule is for, and which types it chooses, in the order of the rules: the first rule that fits both decides. A value is looked
// into only if there is a type for the rule.
const RULES = [
  [value => value === undefined || value === null, ({nullable, category}) => nullable || category === 'dictionary'],
  [isObject, accepts],
  [value => isView(value) || isBuffer(value), ({category, takes}, value) => category === 'buffer' && takes(value)],
  [(value, where) => isObject(value) && iteratorMethod(value, where), ofCategory('sequence')],
  [isObject, ofCategory('dictionary', 'record', 'object')],
  [value => typeof value === 'boolean', ofCategory('boolean')],
  [value => typeof value === 'number', ofCategory('numeric')],
  [value => typeof value === 'bigint', ofCategory('bigint')],
  [() => true, ofCategory('string')],
  [() => true, ofCategory('numeric')],
  [() => true, ofCategory('boolean')],
  [() => true, ofCategory('bigint')],
  [() => true, ofCategory('any')],
];

// Find the one of several converters that a value is for, `chosen`; and what its rule found in the value, `found`.
function choose(converters, value, where) {
  for (const [applies, fits] of RULES) {
    const chosen = converters.find(each => (each.members ?? [each]).some(member => fits(member, value)));
    const found = chosen && applies(value, where);
    if (found) return {chosen, found};
  }
  return {};
}

// Prepare the arguments of an operation: `overloads` are lists of arguments as the IDL has them. The result converts the arguments of a
// call; what the caller left out at the end is left out.
function argumentsOf(overloads, name) {
  const lists = overloads.map(list => list.map(argument => ({...argument, converter: converter(argument.type)})));
  const required = list => list.filter(argument => !argument.optional).length;
  const shortest = Math.min(...lists.map(required)), longest = Math.max(...lists.map(list => list.length));

  // The list of arguments for a call, `list`; if it was chosen by what an argument is, its `position` and what was `found` in it.
  function select(values) {
    const count = Math.min(values.length, longest);
    const candidates = lists.filter(list => required(list) <= count && count <= list.length);
    if (candidates.length <= 1) return {list: candidates[0]};
    const categories = index => new global.Set(candidates.map(list => list[index].converter.category));
    let position = idl.conversions.chosenBy?.[name] ?? 0;
    while (categories(position).size === 1) position++;
    const value = values[position];
    const optional = value === undefined ? candidates.find(list => list[position].optional) : undefined;
    if (optional !== undefined) return {list: optional};
    const where = `${name}: argument ${position + 1}`;
    const {chosen, found} = choose(candidates.map(list => list[position].converter), value, where);
    if (chosen === undefined) throw refuse(where, `must fit ${candidates.map(list => list[position].name).join(' or ')}`, value);
    return {list: candidates.find(list => list[position].converter === chosen), position, found};
  }

  function convert(values, call) {
    if (values.length < shortest) throw new TypeError(`${name} needs ${shortest} argument${shortest === 1 ? '' : 's'}, got ${values.length}`);
    const {list, position, found} = lists.length === 1 ? {list: lists[0]} : select(values);
    if (list === undefined) throw new TypeError(`${name} has no form with ${values.length} arguments`);
    const result = [];
    for (let index = 0; index < list.length && index < values.length; index++) {
      const {name: argument, optional, converter} = list[index], value = values[index], where = `${name}: ${argument}`;
      // A missing argument is null on the other side; Python has the defaults.
      if (value === undefined && optional) result.push(null);
      else result.push(converter.convert(value, where, call, index === position ? found : undefined));
    }
    while (result.length && result.at(-1) === null) result.pop();
    return result;
  }

  return {length: shortest, convert};
}

// ---- What comes back: https://webidl.spec.whatwg.org/#js-type-mapping, the other direction

function liftDictionary(name) {
  const members = membersOf(name);
  let lifters;
  return value => {
    lifters ??= members.map(member => lifter(member.type));
    // What has no prototype has no setters; and this is faster than to define properties.
    const result = {__proto__: null};
    for (let index = 0; index < members.length; index++) {
      const {name} = members[index];
      if (Object.hasOwn(value, name)) result[name] = lifters[index](value[name]);
    }
    return Object.setPrototypeOf(result, Object.prototype);
  };
}

const same = value => value;
const liftEntries = lift => ({$r}) => Object.fromEntries($r.map(([name, value]) => [name, lift(value)]));
const liftNumber = value => isObject(value) ? +value.$n : value;
const LIFTERS = {
  record: ([, type]) => liftEntries(lifter(type)),
  sequence: type => { const lift = lifter(type); return lift === same ? same : value => value.map(each => lift(each)); },
  nullable: type => { const lift = lifter(type); return value => value === null ? null : lift(value); },
  // Of values that need no lifting.
  union: () => same,
  FrozenArray: type => { const lift = lifter(type); return value => Object.freeze(value.map(each => lift(each))); },
  // What fulfils the promise.
  promise: type => lifter(type),
};

// Return the function that makes a JavaScript value of a type of what Python answers.
function lifter(type) {
  if (typeof type !== 'string') {
    if (Object.hasOwn(type, 'extendedAttributes')) return lifter(type.type);
    const [[kind, argument]] = Object.entries(type);
    if (!Object.hasOwn(LIFTERS, kind)) throw new global.Error(`the IDL has a result that the binding does not know: ${kind}`);
    return LIFTERS[kind](argument);
  }
  if (Object.hasOwn(idl.typedefs, type)) return lifter(idl.typedefs[type]);
  if (Object.hasOwn(idl.dictionaries, type)) return liftDictionary(type);
  if (Object.hasOwn(idl.interfaces, type)) return value => objects.make(value);
  // An object without an interface holds plain values.
  if (type === 'object') { const lift = liftEntries(liftNumber); return value => Object.freeze(lift(value)); }
  return type === 'undefined' ? () => undefined : same;
}

return {argumentsOf, converter, inspect, isObject, lifter};
})
