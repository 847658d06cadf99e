// What the programs have in common: inputs that are the same everywhere, the calls of WebNN that are counted, and times.

// Numbers in [-1, 1), the same on every host.
export function noise(size) {
  let state = 1;
  return Float32Array.from({length: size}, () => {
    state = state * 48271 % 2147483647;
    return state / 1073741824 - 1;
  });
}

const calls = {};
// Count the calls of the API. This does not change what they do.
export function count() {
  for (const owner of [globalThis.MLContext, globalThis.MLGraphBuilder]) {
    if (owner === undefined) continue;
    for (const [name, {value}] of Object.entries(Object.getOwnPropertyDescriptors(owner.prototype))) {
      if (name === 'constructor' || typeof value !== 'function') continue;
      Object.defineProperty(owner.prototype, name, {value(...values) {
        calls[name] = (calls[name] ?? 0) + 1;
        return Reflect.apply(value, this, values);
      }, writable: true, enumerable: true, configurable: true});
    }
  }
}

// Run a client: make a session, compute once, and then as often as `runs` says. Calls are those of the session and of the first computation.
export async function measure({runs}, create, compute) {
  const started = performance.now(), session = await create(), created = performance.now();
  const outputs = await compute(session), counted = {...calls}, times = [];
  for (let index = 0; index < runs; index++) {
    const start = performance.now();
    await compute(session);
    times.push(performance.now() - start);
  }
  const found = Object.fromEntries(Object.entries(outputs).map(([name, values]) => [name, Array.from(values, Number)]));
  return {outputs: found, calls: counted, create: created - started, times};
}
