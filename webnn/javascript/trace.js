// Every call of the interfaces of WebNN, with its arguments and its result or error, as one line for `tell(line)`: the calls as the program
// makes them, so those that the binding refuses before Python sees them are among them.
(function (global, tell) {
'use strict';
const {Array, ArrayBuffer, DataView, JSON, Object, Promise, Proxy, Reflect, String, WeakMap} = global;
const MOST = 8, LONGEST_TEXT = 80, DEEPEST = 3;

// ---- Values, in short. An object of an interface has a number, and is described where it first appears as a result.

const names = new WeakMap(), counts = {};
function nameOf(object, kind) {
  if (!names.has(object)) {
    const short = kind === 'MLGraphBuilder' ? 'builder' : kind === 'ML' ? 'ml' : kind.slice(2).toLowerCase();
    counts[short] = (counts[short] ?? 0) + 1;
    names.set(object, kind === 'ML' ? short : `${short}${counts[short]}`);
  }
  return names.get(object);
}
const kindOf = value => {
  for (let each = Object.getPrototypeOf(value); each !== null; each = Object.getPrototypeOf(each)) if (kinds.has(each)) return kinds.get(each);
  return undefined;
};
function describe(value, kind) {
  const read = member => typeof value[member] === 'function' ? value[member]() : value[member];
  const name = nameOf(value, kind);
  return kind === 'MLOperand' || kind === 'MLTensor' ? `${name}: ${read('dataType')} [${read('shape')?.join(', ') ?? '?'}]` : name;
}
function list(open, values, close, length = values.length) {
  const rest = length > MOST ? [`... ${length - MOST} more`] : [];
  return open + [...values.slice(0, MOST), ...rest].join(', ') + close;
}
function show(value, depth = 0, isResult = false) {
  if (typeof value === 'string') return JSON.stringify(value.length > LONGEST_TEXT ? `${value.slice(0, LONGEST_TEXT)}...` : value);
  if (typeof value === 'bigint') return `${value}n`;
  if (typeof value === 'function') return `function ${value.name}`;
  if (typeof value !== 'object' || value === null) return Object.is(value, -0) ? '-0' : String(value);
  const kind = kindOf(value);
  if (kind !== undefined) return isResult ? describe(value, kind) : nameOf(value, kind);
  if (depth >= DEEPEST) return '...';
  const inner = each => show(each, depth + 1, isResult);
  if (ArrayBuffer.isView(value) && !(value instanceof DataView)) {
    return list(`${value.constructor.name}(${value.length}) [`, Array.from(value.slice(0, MOST), inner), ']', value.length);
  }
  if (value instanceof ArrayBuffer || value instanceof DataView) return `${value.constructor.name}(${value.byteLength})`;
  if (Array.isArray(value)) return list('[', value.slice(0, MOST).map(inner), ']', value.length);
  const keys = Object.keys(value);
  return list('{', keys.slice(0, MOST).map(key => `${/^\w+$/.test(key) ? key : JSON.stringify(key)}: ${inner(value[key])}`), '}', keys.length);
}
const attempt = (value, isResult) => { try { return show(value, 0, isResult); } catch { return 'something that cannot be shown'; } };

// ---- Calls

function follow(call, act) {
  let result;
  try {
    result = act();
  } catch (error) {
    tell(`${call} throws ${attemptError(error)}`);
    throw error;
  }
  if (result instanceof Promise) {
    Reflect.apply(then, result, [value => tell(`${call} -> ${attempt(value, true)}`), error => tell(`${call} rejects with ${attemptError(error)}`)]);
  } else {
    tell(`${call} -> ${attempt(result, true)}`);
  }
  return result;
}
function attemptError(error) {
  try { return `${error.name}: ${error.message}`; } catch { return 'something that cannot be shown'; }
}
const {then} = Promise.prototype;
const kinds = new WeakMap();

for (const kind of Object.getOwnPropertyNames(global)) {
  const Interface = global[kind];
  if (!/^ML([A-Z]|$)/.test(kind) || typeof Interface !== 'function') continue;
  const {prototype} = Interface;
  kinds.set(prototype, kind);
  // Operands have attributes; until 2024-06 they are methods.
  if (kind === 'MLOperand') continue;
  for (const [name, descriptor] of Object.entries(Object.getOwnPropertyDescriptors(prototype))) {
    const {value: method} = descriptor;
    if (name === 'constructor' || typeof method !== 'function') continue;
    const value = {[name](...values) {
      const call = `${attempt(this)}.${name}${list('(', values.map(each => attempt(each)), ')')}`;
      return follow(call, () => Reflect.apply(method, this, values));
    }}[name];
    Object.defineProperty(value, 'length', {value: method.length, configurable: true});
    Object.defineProperty(prototype, name, {...descriptor, value});
  }
  const Traced = new Proxy(Interface, {construct(target, values, newTarget) {
    return follow(`new ${kind}${list('(', values.map(each => attempt(each)), ')')}`, () => Reflect.construct(target, values, newTarget));
  }});
  Object.defineProperty(global, kind, {...Object.getOwnPropertyDescriptor(global, kind), value: Traced});
  Object.defineProperty(prototype, 'constructor', {...Object.getOwnPropertyDescriptor(prototype, 'constructor'), value: Traced});
}
})
