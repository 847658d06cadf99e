// Modules by their names: import maps, and packages as a bundler for pages has them, CommonJS ones too. Python resolves a package's name
// (packages.py).
//
// A program may change the methods that are called here: nothing but Python's answer, and `isData(url)`, decides what is loaded.
//
// `ask(question)` puts a question to Python, `read(url, type)` is the text of a file, `compile(text, names, url)` makes a function of a text, and
// `isModule(text)` tells whether a text makes sense as a module only. `maps` are the texts of import maps, `href` is the address of the page.
(function (global, host) {
'use strict';
const {ask, read, compile, isModule, isData, maps, href} = host;
const {Error, JSON, Map, Object, Reflect, Symbol, TypeError, URL} = global;
const {parse, stringify} = JSON, {apply} = Reflect;
const JAVASCRIPT = 'text/javascript', JSON_TYPE = 'application/json';

// ---- Import maps: https://html.spec.whatwg.org/multipage/webappapis.html#import-maps

const isPath = name => /^\.{0,2}\//.test(name);
const parseAddress = (name, base) => (isPath(name) ? URL.parse(name, base) : URL.parse(name));
const isObject = value => typeof value === 'object' && value !== null && !Array.isArray(value);
// The longest keys come first.
function sortTable(table) {
  const entries = Object.entries(isObject(table) ? table : {}).filter(([key]) => key !== '');
  const sorted = entries.map(([key, value]) => [parseAddress(key, href)?.href ?? key, typeof value === 'string' ? parseAddress(value, href)?.href ?? null : null]);
  return sorted.sort(([a], [b]) => (a < b ? 1 : a > b ? -1 : 0));
}
const imports = [], scopes = [];
for (const text of maps) {
  let map;
  try { map = parse(text); } catch ({message}) { throw new TypeError(`the import map cannot be read: ${message}`); }
  imports.push(...sortTable(map?.imports));
  for (const [prefix, table] of Object.entries(map?.scopes ?? {})) scopes.push([URL.parse(prefix, href)?.href ?? prefix, sortTable(table)]);
}
scopes.sort(([a], [b]) => (a < b ? 1 : a > b ? -1 : 0));

function lookUp(name, table) {
  for (const [key, value] of table) {
    const isPrefix = key.endsWith('/') && name.startsWith(key);
    if (name !== key && !isPrefix) continue;
    if (value === null) throw new TypeError(`Failed to resolve the module '${name}': the import map has no address for it`);
    return name === key ? value : URL.parse(name.slice(key.length), value)?.href;
  }
  return undefined;
}
function applyMaps(name, base) {
  for (const [prefix, table] of scopes) {
    const found = prefix === base || (prefix.endsWith('/') && base.startsWith(prefix)) ? lookUp(name, table) : undefined;
    if (found !== undefined) return found;
  }
  return lookUp(name, imports);
}

// ---- Names to addresses

// How a file of a package runs: "module", "commonjs", "json", "empty", or "unknown" if its text decides.
const formats = new Map();
function resolve(specifier, parent, kind) {
  const refuse = why => { throw new TypeError(`Failed to resolve the module '${specifier}': ${why}`); };
  const base = parent?.startsWith('https:') ? parent : href, isFolder = kind === 'require' && /^\.{1,2}$/.test(specifier);
  const address = parseAddress(isFolder ? `${specifier}/` : specifier, base)?.href ?? null;
  const url = (kind === 'import' ? applyMaps(address ?? specifier, base) : undefined) ?? address;
  if (isData(url)) return url;
  const answer = ask([specifier, url, base, kind]);
  if (answer.refused !== undefined) refuse(answer.refused);
  if (answer.format !== '') formats.set(answer.url, answer.format);
  return answer.url;
}

// ---- CommonJS

const modules = new Map();
function run(url) {
  if (formats.get(url) === 'empty') return {};
  const known = modules.get(url);
  if (known !== undefined) return known.exports;
  const module = {exports: {}, id: url, loaded: false}, path = new URL(url).pathname;
  if (formats.get(url) === 'json') {
    module.exports = parse(read(url, JSON_TYPE));
    modules.set(url, module);
    return module.exports;
  }
  const text = read(url, JAVASCRIPT);
  if (formats.get(url) === 'module' || isModule(text)) throw new Error(`require: ${url} is a module, which a CommonJS module can only import()`);
  const require = name => run(resolve(`${name}`, url, 'require'));
  modules.set(url, module);
  try {
    apply(compile(text, ['exports', 'require', 'module', '__filename', '__dirname'], url), module.exports,
      [module.exports, require, module, path, path.slice(0, path.lastIndexOf('/'))]);
  } catch (error) {
    modules.delete(url);
    throw error;
  }
  module.loaded = true;
  return module.exports;
}

// A module with the exports of a CommonJS one, which runs now. `exports.__esModule` says that `exports.default` is its default.
const REQUIRE = Symbol.for('webnn.require');
Object.defineProperty(global, REQUIRE, {value: url => modules.get(url)?.exports});
function wrap(url) {
  const exports = run(url), isOpen = (typeof exports === 'object' && exports !== null) || typeof exports === 'function';
  const names = isOpen ? Object.keys(exports).filter(name => name !== 'default' && name.isWellFormed()) : [];
  return [
    `const exports = globalThis[Symbol.for('webnn.require')](${stringify(url)});`,
    ...names.map((name, index) => `const e${index} = exports[${stringify(name)}]; export {e${index} as ${stringify(name)}};`),
    "export default exports?.__esModule && 'default' in exports ? exports.default : exports;",
  ].join('\n');
}

// Return the format for Node and the text of the module at an address.
function load(url, isJson) {
  if (isJson) return {format: 'json', source: read(url, JSON_TYPE)};
  const format = formats.get(url);
  if (format === 'json') return {format: 'module', source: `export default ${read(url, JSON_TYPE)}`};
  const isCommon = format === 'commonjs' || (format === 'unknown' && !isModule(read(url, JAVASCRIPT)));
  return {format: 'module', source: isCommon ? wrap(url) : read(url, JAVASCRIPT)};
}

return {resolve, load, run};
})
