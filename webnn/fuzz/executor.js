async (programs, state, begin) => {
  // Runs programs (programs.py says what they are), and returns what became of the steps of each.
  const arrays = {
    float32: globalThis.Float32Array, float16: globalThis.Float16Array, int32: Int32Array, uint32: Uint32Array, int64: BigInt64Array,
    uint64: BigUint64Array, int8: Int8Array, uint8: Uint8Array, uint16: Uint16Array, float64: Float64Array,
  };
  const isBig = kind => kind === 'int64' || kind === 'uint64';
  class Skipped extends Error {}

  const share = async () => {
    try {
      // The constructor refuses a context that is lost.
      new MLGraphBuilder(state.context);
    } catch {
      state.context = await navigator.ml.createContext();
    }
    return state.context;
  };

  const run = async program => {
    const values = [], results = [];
    let shared;
    const find = number => {
      if (!results[number] || !('ok' in results[number])) throw new Skipped();
      return values[number];
    };
    const decode = async value => {
      if (Array.isArray(value)) {
        const items = [];
        for (const each of value) items.push(await decode(each));
        return items;
      }
      if (value === null || typeof value !== 'object') return value;
      if ('$step' in value) {
        const found = find(value.$step);
        if (!('item' in value)) return found;
        if (!Array.isArray(found) || value.item >= found.length) throw new Skipped();
        return found[value.item];
      }
      if ('$context' in value) return shared ??= await share();
      if ('$number' in value) return Number(value.$number);
      if ('$bigint' in value) return BigInt(value.$bigint);
      if ('$undefined' in value) return undefined;
      if ('$boxed' in value) return Object(await decode(value.$boxed));
      if ('$symbol' in value) return Symbol(value.$symbol);
      if ('$valueOf' in value) {
        const primitive = await decode(value.$valueOf);
        return {valueOf: () => primitive, toString: () => `${primitive}`};
      }
      if ('$throws' in value) {
        const fail = () => { throw new globalThis[value.$throws]('thrown by the program'); };
        return {valueOf: fail, toString: fail, get [Symbol.iterator]() { return fail(); }};
      }
      if ('$iterable' in value) return new Set(await decode(value.$iterable)).values();
      if ('$view' in value) return arrays[value.$view].from(value.values, isBig(value.$view) ? BigInt : Number);
      const entries = [];
      for (const [name, each] of Object.entries(value)) if (name !== '$like') entries.push([name, await decode(each)]);
      const members = Object.fromEntries(entries);
      if (!('$like' in value)) return members;
      const operand = await decode(value.$like);
      return {dataType: operand.dataType, shape: [...operand.shape], ...members};
    };
    const describe = value => {
      if (value === undefined) return {type: 'undefined'};
      if (Array.isArray(value)) return {type: 'list', items: value.map(describe)};
      const type = value?.constructor?.name ?? typeof value;
      if (type === 'MLOperand') return {type, dataType: value.dataType, shape: [...value.shape]};
      if (type === 'MLTensor') {
        const {dataType, readable, writable, constant} = value;
        return {type, dataType, shape: [...value.shape], readable, writable, constant};
      }
      if (type !== 'ArrayBuffer') return {type};
      // A long text would take longer than the program.
      if (value.byteLength > 2 ** 20) return {type, length: value.byteLength};
      return {type, bytes: Array.from(new Uint8Array(value), byte => byte.toString(16).padStart(2, '0')).join('')};
    };
    for (const step of program) {
      let value, how = 'rejects';
      try {
        const target = 'on' in step ? await decode(step.on) : undefined, given = await decode(step.args);
        how = 'throws';
        if (step.call === 'MLGraphBuilder') value = new MLGraphBuilder(...given);
        else if (step.call === 'view') [value] = given;
        else if (step.call === 'transfer') given[0].buffer.transfer();
        else value = (target ?? navigator.ml)[step.call](...given);
        how = 'rejects';
        if (value instanceof Promise) value = await value;
        results.push({ok: describe(value)});
      } catch (error) {
        results.push(error instanceof Skipped ? {skipped: true} : {error: error?.name ?? typeof error, message: `${error?.message}`, how});
      }
      values.push(value);
    }
    for (const value of values.flat()) {
      if (value && /^ML(Graph|Tensor)$/.test(value.constructor?.name)) value.destroy();
      else if (value && value.constructor?.name === 'MLContext') value.destroy();
    }
    return results;
  };

  const answers = [];
  for (const [index, program] of programs.entries()) {
    begin?.(index);
    answers.push(await run(program));
  }
  return answers;
}
