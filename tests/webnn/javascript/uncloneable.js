// Every way in which a program may send or copy an object of WebNN must fail. Returns the cases, and what else than a DataCloneError became of
// them. `ways` are the host's own ones beside structuredClone(), by their names: functions of the value.
async ways => {
  const context = await navigator.ml.createContext(), builder = new MLGraphBuilder(context), type = {dataType: 'float32', shape: [1]};
  const operand = builder.input('x', type), output = builder.relu(operand);
  const graph = await builder.build({output}), tensor = await context.createTensor({...type, readable: true, writable: true});
  const values = {ml: navigator.ml, context, builder, operand, output, graph, tensor};
  const places = {alone: value => value, 'in an array': value => [1, value], deep: value => ({a: new Map([[1, {value}]])})};
  const all = {
    'structuredClone()': value => structuredClone(value), 'its transfer': value => structuredClone(1, {transfer: [value]}), ...ways,
  };
  const cases = [], wrong = [];
  for (const [name, value] of Object.entries(values)) {
    for (const [way, send] of Object.entries(all)) {
      for (const [place, put] of Object.entries(places)) {
        // Only the object itself can be in a list of what is transferred.
        if (way.includes('transfer') && place !== 'alone') continue;
        let outcome = 'nothing';
        try { send(put(value)); } catch (error) { outcome = error.name; }
        // A list of objects that are not transferable is a TypeError of the conversion in some engines.
        const isRight = outcome === 'DataCloneError' || (way.includes('transfer') && outcome === 'TypeError');
        cases.push(`${name} ${way} ${place}`);
        if (!isRight) wrong.push(`${name} ${way} ${place}: ${outcome}`);
      }
    }
  }
  // The objects work as before.
  context.writeTensor(tensor, new Float32Array([-1]));
  const result = await context.createTensor({...type, readable: true});
  context.dispatch(graph, {x: tensor}, {output: result});
  if (new Float32Array(await context.readTensor(result))[0] !== 0) wrong.push('relu(-1)');
  if (`${Object.prototype.toString.call(context)} ${context instanceof MLContext}` !== '[object MLContext] true') wrong.push(`${context}`);
  return {count: cases.length, wrong};
}
