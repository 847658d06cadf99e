/// <reference path="../../types/2024-06.d.ts" />
const context = await navigator.ml.createContext(), builder = new MLGraphBuilder(context);
const x = builder.input('x', {dataType: 'float32', dimensions: [2]}), graph = await builder.build({y: builder.relu(x)});
const {outputs} = await context.compute(graph, {x: new Float32Array(2)}, {y: new Float32Array(2)});
console.log(outputs?.['y'], builder.conv2d(x, x));
// @ts-expect-error: only later drafts have it
await context.createTensor({dataType: 'float32', dimensions: [2]});
export {};
