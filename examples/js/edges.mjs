// Find the edges of a small picture: a convolution, an absolute value, and a pooling.
//
//     webnn run examples/js/edges.mjs

const SIZE = 12;
// A bright square on a dark ground.
const pixels = Float32Array.from({length: SIZE * SIZE}, (_, place) => {
  const [row, column] = [Math.floor(place / SIZE), place % SIZE];
  return Number(row > 2 && row < 9 && column > 2 && column < 9);
});
// Two filters of 3x3: one for changes from left to right, one for those from top to bottom.
const filters = new Float32Array([-1, 0, 1, -2, 0, 2, -1, 0, 1, -1, -2, -1, 0, 0, 0, 1, 2, 1]);

const context = await navigator.ml.createContext();
const builder = new MLGraphBuilder(context);
const picture = {dataType: 'float32', shape: [1, 1, SIZE, SIZE]};
const input = builder.input('picture', picture);
const weights = builder.constant({dataType: 'float32', shape: [2, 1, 3, 3]}, filters);
const changes = builder.abs(builder.conv2d(input, weights, {padding: [1, 1, 1, 1], label: 'sobel'}));
const sums = builder.reduceSum(changes, {axes: [1], keepDimensions: true, label: 'both directions'});
const edges = builder.maxPool2d(sums, {windowDimensions: [2, 2], strides: [2, 2], label: 'half the size'});
const graph = await builder.build({edges});

const given = await context.createTensor({...picture, writable: true});
const found = await context.createTensor({dataType: 'float32', shape: edges.shape, readable: true});
context.writeTensor(given, pixels);
context.dispatch(graph, {picture: given}, {edges: found});
const values = new Float32Array(await context.readTensor(found));
for (let row = 0; row < SIZE / 2; ++row) {
  console.log([...values.subarray(row * SIZE / 2, (row + 1) * SIZE / 2)].map((value) => ' .:-=+*#%@'[Math.min(9, Math.round(value))]).join(' '));
}
