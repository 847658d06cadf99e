// A module of page.html.

/** Return the softmax of a list of numbers. */
export async function softmax(numbers) {
  const context = await navigator.ml.createContext();
  const builder = new MLGraphBuilder(context);
  const input = builder.input('input', {dataType: 'float32', dimensions: [1, numbers.length]});
  const graph = await builder.build({output: builder.softmax(input, 1)});
  const inputs = {input: new Float32Array(numbers)};
  const {outputs} = await context.compute(graph, inputs, {output: new Float32Array(numbers.length)});
  return [...outputs.output];
}
