// The samples of WebNN's explainer of dynamic shapes (pull request 945), in one program:
//
//     webnn run --revision 2026-06+dynamic-shapes examples/js/dynamic_shapes.mjs
//
// Changed: what the explainer leaves out is filled in; `neg` takes no uint32, so that sizes are cast to int32.
const context = await navigator.ml.createContext();

const sizes = (builder, dataType, values) =>
  builder.constant({dataType, shape: [values.length]}, new {int32: Int32Array, uint32: Uint32Array}[dataType](values));

async function run(graph, inputs) {
  const shapes = graph.computeShapes(Object.fromEntries(Object.entries(inputs).map(([name, {shape}]) => [name, shape])));
  const given = {}, wanted = {};
  for (const [name, {shape, values}] of Object.entries(inputs)) {
    given[name] = await context.createTensor({dataType: 'float32', shape, writable: true});
    context.writeTensor(given[name], new Float32Array(values));
  }
  for (const name in shapes) wanted[name] = await context.createTensor({dataType: 'float32', shape: shapes[name], readable: true});
  context.dispatch(graph, given, wanted);
  const results = {};
  for (const name in wanted) results[name] = [...new Float32Array(await context.readTensor(wanted[name]))];
  return {shapes, results};
}

// Variable sequence length.
{
  const builder = new MLGraphBuilder(context);
  const input = builder.input('attention_mask', {dataType: 'float32', shape: [1, 'sequence_length']});
  const output = builder.concat([input, builder.neg(input)], 1);
  const graph = await builder.build({output});
  console.log(input.shape, output.shape);
  for (const length of [1, 37]) {
    const {shapes, results} = await run(graph, {attention_mask: {shape: [1, length], values: Array(length).fill(1)}});
    console.log(length, shapes.output, results.output.reduce((sum, each) => sum + each, 0));
  }
  console.log(graph.computeShapes({attention_mask: [1, 37]}));
}

// Shapes computed at runtime: rows of zeros up to a multiple of a block.
{
  const builder = new MLGraphBuilder(context);
  const x = builder.input('x', {dataType: 'float32', shape: ['seq_len', 2]});
  const shape = builder.shape(x);
  const seqLen = builder.slice(shape, [0], [1]);
  const pad = builder.modulusFloor(builder.neg(builder.cast(seqLen, 'int32')), sizes(builder, 'int32', [32]));
  const zero = sizes(builder, 'int32', [0]);
  const padded = builder.padDynamic(x, sizes(builder, 'int32', [0, 0]), builder.concat([pad, zero], 0));
  const graph = await builder.build({padded});
  for (const rows of [1, 32, 33]) console.log(rows, graph.computeShapes({x: [rows, 2]}).padded);
}

// A chain: split the hidden size into heads.
{
  const builder = new MLGraphBuilder(context);
  const x = builder.input('x', {dataType: 'float32', shape: [1, 'seqlen', 512]});
  const s = builder.shape(x);
  const batchSeq = builder.slice(s, [0], [2]);
  const heads = sizes(builder, 'uint32', [8, 64]);
  const newShape = builder.concat([batchSeq, heads], 0);
  const y = builder.reshapeDynamic(x, newShape);
  const graph = await builder.build({y});
  console.log(y.shape, graph.computeShapes({x: [1, 37, 512]}).y);
}

// ONNX's -1 and 0 in a target shape, as a chain.
{
  const builder = new MLGraphBuilder(context);
  const input = builder.input('input', {dataType: 'float32', shape: ['batch', 'rows', 6]});
  const targetShape = sizes(builder, 'int32', [0, -1, 3]);
  const number = value => builder.constant('int32', value);
  const inputShape = builder.cast(builder.shape(input), 'int32');
  const shapeNoZero = builder.where(builder.equal(targetShape, number(0)), inputShape, targetShape);
  const isNeg1 = builder.equal(shapeNoZero, number(-1));
  const total = builder.reduceProduct(inputShape), known = builder.reduceProduct(builder.where(isNeg1, number(1), shapeNoZero));
  const inferred = builder.div(total, known);
  const output = builder.reshapeDynamic(input, builder.cast(builder.where(isNeg1, inferred, shapeNoZero), 'uint32'));
  const graph = await builder.build({output});
  console.log(graph.computeShapes({input: [2, 5, 6]}).output);
}

// What is not known, and what is refused.
{
  const builder = new MLGraphBuilder(context);
  const x = builder.input('x', {dataType: 'float32', shape: [1, 'n', 'm']}), squeezed = builder.squeeze(x);
  console.log(squeezed.shape, builder.squeeze(x, {axes: [0]}).shape);
  const graph = await builder.build({y: builder.reshapeDynamic(squeezed, sizes(builder, 'int32', [2, 3]), {label: 'six'})});
  for (const attempt of [
    () => new MLGraphBuilder(context).input('x', {dataType: 'float32', shape: ['']}),
    () => { const other = new MLGraphBuilder(context); other.reshape(other.input('x', {dataType: 'float32', shape: ['n', 2]}), [7]); },
    () => graph.computeShapes({x: [1, 2]}),
    () => graph.computeShapes({x: [1, 2, 2]}),
  ]) {
    try { attempt(); console.log('taken'); } catch (error) { console.log(`${error.name}: ${error.message}`); }
  }
}
