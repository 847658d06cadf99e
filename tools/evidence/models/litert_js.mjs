// The page program: runs TFLite models in LiteRT.js, whose WebNN delegate builds their graphs on the emulator.
//
//     webnn run --revision 2026-06 --dialect browsers-2026 --root SITE SITE/litert-js/litert_js.mjs LIST
//
// LIST is the address of a JSON list; litert_js.py writes it, and reads what is printed: one JSON object a line for each model.
const WASM = '/node_modules/@litertjs/core/wasm/', NAME = 'litert_wasm_jspi_internal';
const ARRAYS = {float32: Float32Array, int32: Int32Array, uint8: Uint8Array, int8: Int8Array};
const get = async path => await (await fetch(path)).arrayBuffer();

let said = [], counts = {};
for (const name of ['debug', 'error', 'info', 'log', 'warn']) console[name] = (...values) => { said.push(values.join(' ')); };
for (const [member, {value}] of Object.entries(Object.getOwnPropertyDescriptors(MLGraphBuilder.prototype))) {
  if (member === 'constructor' || typeof value !== 'function') continue;
  MLGraphBuilder.prototype[member] = function (...values) {
    counts[member] = (counts[member] ?? 0) + 1;
    return Reflect.apply(value, this, values);
  };
}

// LiteRT.js adds its loader to the document, or imports it as a script. There is no document, and a module cannot import scripts.
(0, eval)(await (await fetch(`${WASM}${NAME}.js`)).text());
globalThis.importScripts = () => {};
globalThis.Module = {wasmBinary: new Uint8Array(await get(`${WASM}${NAME}.wasm`))};
const {loadLiteRt, loadAndCompile, Tensor} = await import('/litert-js/core.mjs');
await loadLiteRt(WASM, {jspi: true});

for (const {name, model: address, inputs} of await (await fetch(process.argv[2])).json()) {
  said = [];
  counts = {};
  const result = {name};
  try {
    const model = await loadAndCompile(address, {accelerator: 'webnn'});
    const given = {};
    for (const {name, dtype, shape} of model.getInputDetails()) {
      given[name] = new Tensor(new ARRAYS[dtype](await get(inputs[name] ?? Object.values(inputs)[0])), [...shape]);
    }
    const outputs = await model.run(given);
    result.outputs = {};
    for (const [name, tensor] of Object.entries(outputs)) {
      result.outputs[name] = Array.from((await tensor.moveTo('wasm')).toTypedArray());
    }
    model.delete();
  } catch (error) {
    // It has the reason in its log.
    result.error = said.filter(line => /^(WARNING|ERROR)/.test(line)).at(-1) ?? `${error}`;
  }
  process.stdout.write(`${JSON.stringify({...result, counts})}\n`);
}
