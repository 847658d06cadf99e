// Attention with one head, as in a transformer: softmax(q k^T / sqrt(d)) v.
//
//     webnn run examples/js/attention.mjs

const [TOKENS, WIDTH] = [4, 8];
const descriptor = {dataType: 'float32', shape: [TOKENS, WIDTH]};
const square = {dataType: 'float32', shape: [WIDTH, WIDTH]};
// Small numbers that are the same each time.
const numbers = (count, seed) => Float32Array.from({length: count}, (_, place) => Math.sin(seed + 0.7 * place) / 2);

const context = await navigator.ml.createContext();
const builder = new MLGraphBuilder(context);
const x = builder.input('x', descriptor);
const [q, k, v] = ['query', 'key', 'value'].map((label, index) => {
  return builder.matmul(x, builder.constant(square, numbers(WIDTH * WIDTH, index)), {label});
});
const scale = builder.constant({dataType: 'float32', shape: []}, new Float32Array([1 / Math.sqrt(WIDTH)]));
const scores = builder.mul(builder.matmul(q, builder.transpose(k)), scale, {label: 'scores'});
const weights = builder.softmax(scores, 1, {label: 'weights'});
const graph = await builder.build({attended: builder.matmul(weights, v), weights});

const given = await context.createTensor({...descriptor, writable: true});
const attended = await context.createTensor({...descriptor, readable: true});
const shares = await context.createTensor({dataType: 'float32', shape: [TOKENS, TOKENS], readable: true});
context.writeTensor(given, numbers(TOKENS * WIDTH, 9));
context.dispatch(graph, {x: given}, {attended, weights: shares});
const found = new Float32Array(await context.readTensor(shares));
for (let token = 0; token < TOKENS; ++token) {
  const row = [...found.subarray(token * TOKENS, (token + 1) * TOKENS)];
  console.log(`token ${token} looks at: ${row.map((share) => `${Math.round(share * 100)} %`).join(', ')}`);
}
await context.readTensor(attended);
