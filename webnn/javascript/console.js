// The console of a window without a document: https://console.spec.whatwg.org. What it prints goes to `log(level, text)`, the lines of a group
// indented. Returns `text(value)`, which shows any value and never throws.
(function (global, log) {
'use strict';
const {Array, ArrayBuffer, Error, JSON, Map, Math, Number, Object, Set, String, performance} = global;

// ---- Values

function text(value) {
  try { return show(value); } catch { return 'something that cannot be shown'; }
}
const isError = value => value instanceof Error || (global.DOMException && value instanceof global.DOMException);
function show(value) {
  if (typeof value === 'string') return value;
  if (isError(value)) return `${value.name}: ${value.message}`;
  if (typeof value !== 'object' || value === null) return String(value);
  if (value instanceof Map) return `Map(${value.size}) ${show([...value])}`;
  if (value instanceof Set) return `Set(${value.size}) ${show([...value])}`;
  try {
    const plain = (_, each) => typeof each === 'bigint' ? `${each}n` : ArrayBuffer.isView(each) ? Array.from(each) : each;
    const content = JSON.stringify(value, plain) ?? String(value);
    // An object of an interface has no members of its own.
    return content === '{}' ? Object.prototype.toString.call(value).replace('[object Object]', '{}') : content;
  } catch {
    return Object.prototype.toString.call(value);
  }
}
// An error on the console says where it was made.
function withStack(value) {
  const shown = text(value);
  try { return isError(value) && value.stack ? `${shown}\n${value.stack.trimEnd()}` : shown; } catch { return shown; }
}

// ---- Format strings: "%s took %d ms"

const CONVERSIONS = {
  s: text, o: text, O: text, c: () => '',
  d: value => typeof value === 'symbol' ? 'NaN' : text(Math.trunc(Number(value))), f: value => typeof value === 'symbol' ? 'NaN' : text(Number(value)),
};
CONVERSIONS.i = CONVERSIONS.d;
function format(values) {
  const [first, ...rest] = values;
  if (typeof first !== 'string' || rest.length === 0) return values.map(withStack).join(' ');
  const head = first.replace(/%([sdifoOc%])/g, (whole, kind) => {
    if (kind === '%') return '%';
    if (rest.length === 0) return whole;
    try { return CONVERSIONS[kind](rest.shift()); } catch { return 'NaN'; }
  });
  return [head, ...rest.map(withStack)].join(' ');
}

// ---- Tables: a row for each element, a column for each of the elements' members

const isObject = value => typeof value === 'object' && value !== null;
const entriesOf = value => value instanceof Map ? [...value] : value instanceof Set ? [...value].entries().toArray() : Object.entries(value);
function tabulate(data, columns) {
  const rows = entriesOf(data).map(([index, row]) => [index, isObject(row) ? new Map(entriesOf(row).map(([name, value]) => [`${name}`, value])) : row]);
  const members = columns === undefined ? [...new Set(rows.flatMap(([, row]) => row instanceof Map ? [...row.keys()] : []))] : Array.from(columns, String);
  const hasValues = rows.some(([, row]) => !(row instanceof Map));
  const cells = [['(index)', ...members, ...hasValues ? ['value'] : []]];
  for (const [index, row] of rows) {
    const found = members.map(name => row instanceof Map && row.has(name) ? text(row.get(name)) : '');
    cells.push([text(index), ...found, ...hasValues ? [row instanceof Map ? '' : text(row)] : []]);
  }
  const widths = cells[0].map((_, column) => Math.max(...cells.map(row => row[column].length)));
  return cells.map(row => row.map((cell, column) => cell.padEnd(widths[column])).join('  ').trimEnd()).join('\n');
}

// ---- The console

const counts = new Map(), timers = new Map(), LEVELS = ['log', 'info', 'debug', 'warn', 'error'];
let indent = '';
const print = (level, message) => log(level, indent + message.replaceAll('\n', `\n${indent}`));
const nameOf = label => label === undefined ? 'default' : text(label);
function since(label, values, end) {
  const name = nameOf(label), began = timers.get(name);
  if (began === undefined) return print('warn', `Timer '${name}' does not exist`);
  if (end) timers.delete(name);
  print('log', [`${name}: ${(performance.now() - began).toFixed(3)} ms`, ...values.map(withStack)].join(' '));
}
function group(...values) {
  if (values.length) print('log', format(values));
  indent += '  ';
}

const methods = {
  ...Object.fromEntries(LEVELS.map(level => [level, (...values) => print(level, format(values))])),
  assert(holds, ...values) {
    if (holds) return;
    print('error', ['Assertion failed', ...values.length ? [format(values)] : []].join(': '));
  },
  clear() { indent = ''; },
  count(label) {
    const name = nameOf(label), number = (counts.get(name) ?? 0) + 1;
    counts.set(name, number);
    print('log', `${name}: ${number}`);
  },
  countReset(label) {
    if (!counts.delete(nameOf(label))) print('warn', `Count for '${nameOf(label)}' does not exist`);
  },
  dir: value => print('log', text(value)),
  dirxml: (...values) => print('log', values.map(text).join(' ')),
  group,
  groupCollapsed: group,
  groupEnd() { indent = indent.slice(2); },
  table(data, columns) {
    if (!isObject(data)) return print('log', text(data));
    let drawn;
    try { drawn = tabulate(data, columns); } catch { drawn = text(data); }
    print('log', drawn);
  },
  time(label) {
    const name = nameOf(label);
    if (timers.has(name)) print('warn', `Timer '${name}' already exists`); else timers.set(name, performance.now());
  },
  timeEnd: label => since(label, [], true),
  timeLog: (label, ...values) => since(label, values, false),
  trace(...values) {
    const stack = new Error().stack.split('\n').slice(1).join('\n').trimEnd();
    print('log', `${['Trace', ...values.length ? [format(values)] : []].join(': ')}\n${stack}`);
  },
};
Object.defineProperty(global, 'console', {value: Object.assign(Object.create({}), methods), writable: true, enumerable: false, configurable: true});
return text;
})
