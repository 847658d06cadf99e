// The two sample programs of https://github.com/webmachinelearning/webnn/issues/907, which proposes subgraphs:
//
//   webnn run --revision 2026-06+subgraphs examples/js/subgraphs.mjs
//
// The first one is that of the description, of 2025-11-27. Its changes: `buildSubgraph` takes the outputs by name, and the inputs as an option;
// there is one formal input, not two of one name.
// The second one follows Yuhengwe1's sample of 2026-09-16. The call sites are the same. Its changes: the helpers that it only describes are
// written out, and a check in plain JavaScript is added.

const context = await navigator.ml.createContext();

// ---- tanh(x) = (exp(2 x) - 1) / (exp(2 x) + 1)

function buildTanh(builder, descriptor) {
  const input = builder.input('input', descriptor);
  const [one, two] = [1, 2].map(number => builder.constant(descriptor.dataType, number));
  const power = builder.exp(builder.mul(two, input));
  const output = builder.div(builder.sub(power, one), builder.add(power, one));
  return builder.buildSubgraph({output}, {name: 'tanh', inputs: {input}});
}

async function tanhOfTanh(numbers) {
  const builder = new MLGraphBuilder(context), descriptor = {dataType: 'float32', shape: [numbers.length]};
  const tanh = buildTanh(builder, descriptor);
  const first = builder.subgraph(tanh, {input: builder.input('input', descriptor)});
  const second = builder.subgraph(tanh, {input: first.output});
  const {output} = await compute(await builder.build({output: second.output}), {input: new Float32Array(numbers)}, {output: descriptor});
  return output;
}

// ---- Attention in which several heads of queries share keys and values, with rotary embeddings and a cache

class GQAConfig {
  constructor({do_rotary = false, scale} = {}) {
    this.do_rotary = do_rotary;
    this.scale = scale;
  }
}

async function buildGQASubgraph(builder, operands, config) {
  const inputs = {};
  for (const [name, {dataType, shape}] of Object.entries(operands)) inputs[name] = builder.input(name, {dataType, shape});
  return builder.buildSubgraph(connectGQA(builder, inputs, config), {name: 'GQA', inputs, config});
}

function connectGQA(builder, inputs, config) {
  const {value, past_key, past_value, seqlens_k, total_sequence_length, cos_cache, sin_cache} = inputs;
  let {query, key} = inputs;
  const [batch, heads, tokens, size] = query.shape, [, keyHeads, most] = past_key.shape;
  const positions = cachePositions(builder, seqlens_k, tokens);
  if (config.do_rotary) {
    const angles = inputs.position_ids ?? positions;
    [query, key] = [query, key].map(each => rotate(builder, each, angles, cos_cache, sin_cache));
  }
  const places = cacheIndices(builder, positions, keyHeads);
  const present_key = builder.scatterND(past_key, places, key);
  const present_value = builder.scatterND(past_value, places, value);
  const [keys, values] = [present_key, present_value].map(each => repeatHeads(builder, each, heads / keyHeads));
  const scale = builder.constant(query.dataType, config.scale ?? 1 / Math.sqrt(size));
  const products = builder.matmul(query, builder.transpose(keys, {permutation: [0, 1, 3, 2]}));
  const mask = causalMask(builder, positions, total_sequence_length, most, query.dataType);
  const weights = builder.softmax(builder.add(builder.mul(products, scale), mask), 3);
  const attention = builder.transpose(builder.matmul(weights, values), {permutation: [0, 2, 1, 3]});
  return {output: builder.reshape(attention, [batch, tokens, heads * size]), present_key, present_value};
}

const range = (builder, dataType, count, shape) =>
  builder.reshape(builder.constant({dataType, shape: [count]}, Int32Array.from({length: count}, (_, index) => index)), shape);

// The place of each token in the cache, int32 [batch, tokens]: `seqlens_k` is the number of all tokens less 1.
function cachePositions(builder, seqlens_k, tokens) {
  const last = builder.reshape(seqlens_k, [...seqlens_k.shape, 1]);
  return builder.add(builder.sub(last, builder.constant('int32', tokens - 1)), range(builder, 'int32', tokens, [1, tokens]));
}

// The coordinates of the first three dimensions of the cache, int32 [batch, heads, tokens, 3].
function cacheIndices(builder, positions, heads) {
  const [batch, tokens] = positions.shape, shape = [batch, heads, tokens, 1];
  const parts = [
    range(builder, 'int32', batch, [batch, 1, 1, 1]),
    range(builder, 'int32', heads, [1, heads, 1, 1]),
    builder.reshape(positions, [batch, 1, tokens, 1]),
  ];
  return builder.concat(parts.map(part => builder.expand(part, shape)), 3);
}

function rotate(builder, operand, positions, cosines, sines) {
  const [batch, , tokens, size] = operand.shape, shape = [batch, 1, tokens, size / 2];
  const [cosine, sine] = [cosines, sines].map(table => builder.reshape(builder.gather(table, positions, {axis: 0}), shape));
  const [left, right] = builder.split(operand, 2, {axis: 3});
  return builder.concat([
    builder.sub(builder.mul(left, cosine), builder.mul(right, sine)),
    builder.add(builder.mul(right, cosine), builder.mul(left, sine)),
  ], 3);
}

function repeatHeads(builder, cache, count) {
  const [batch, heads, most, size] = cache.shape;
  const split = builder.reshape(cache, [batch, heads, 1, most, size]);
  return builder.reshape(builder.expand(split, [batch, heads, count, most, size]), [batch, heads * count, most, size]);
}

// 0 for the keys that a token may see, -Infinity for the others: [batch, 1, tokens, most].
function causalMask(builder, positions, total, most, dataType) {
  const [batch, tokens] = positions.shape, keys = range(builder, 'int32', most, [1, 1, 1, most]);
  const isBefore = builder.lesserOrEqual(keys, builder.reshape(positions, [batch, 1, tokens, 1]));
  const isThere = builder.lesser(keys, builder.reshape(total, [1, 1, 1, 1]));
  const [zero, infinity] = [0, -Infinity].map(number => builder.constant(dataType, number));
  return builder.where(builder.logicalAnd(isBefore, isThere), zero, infinity);
}

// ---- One step of a decoder: two sequences, four heads of queries that share two of keys and values

const [batch, heads, keyHeads, tokens, most, size] = [2, 4, 2, 3, 8, 6];
const floats = shape => ({dataType: 'float32', shape}), integers = shape => ({dataType: 'int32', shape});
const inputs = {
  query: floats([batch, heads, tokens, size]),
  key: floats([batch, keyHeads, tokens, size]),
  value: floats([batch, keyHeads, tokens, size]),
  past_key: floats([batch, keyHeads, most, size]),
  past_value: floats([batch, keyHeads, most, size]),
  seqlens_k: integers([batch]),
  total_sequence_length: integers([]),
  cos_cache: floats([most, size / 2]),
  sin_cache: floats([most, size / 2]),
};
const countOf = ({shape}) => shape.reduce((product, each) => product * each, 1);
const data = {};
for (const [place, [name, descriptor]] of Object.entries(inputs).entries()) {
  data[name] = Float32Array.from({length: countOf(descriptor)}, (_, index) => Math.sin(1 + place * 50 + index * 1.7));
}
data.seqlens_k = new Int32Array([4, 6]);
data.total_sequence_length = new Int32Array([7]);

async function compute(graph, given, wanted) {
  const tensors = {}, results = {};
  for (const [name, array] of Object.entries(given)) {
    const descriptor = inputs[name] ?? floats([array.length]);
    tensors[name] = await context.createTensor({...descriptor, writable: true});
    context.writeTensor(tensors[name], array);
  }
  for (const [name, descriptor] of Object.entries(wanted)) results[name] = await context.createTensor({...descriptor, readable: true});
  context.dispatch(graph, tensors, results);
  const arrays = {};
  for (const name of Object.keys(results)) arrays[name] = new Float32Array(await context.readTensor(results[name]));
  return arrays;
}

async function attend(config) {
  const builder = new MLGraphBuilder(context);
  const operands = {};
  for (const [name, descriptor] of Object.entries(inputs)) operands[name] = builder.input(name, descriptor);
  const GQA = await buildGQASubgraph(builder, operands, config);
  const {output, present_key, present_value} = builder.subgraph(GQA, operands);
  const outputs = {output, present_key, present_value}, used = config.do_rotary ? data : without(data, 'cos_cache', 'sin_cache');
  const wanted = Object.fromEntries(Object.entries(outputs).map(([name, {shape}]) => [name, floats(shape)]));
  return {GQA, arrays: await compute(await builder.build(outputs), used, wanted)};
}

const without = (object, ...names) => Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name)));

// The same in plain JavaScript, with doubles.
function expected({do_rotary, scale}) {
  const at = (array, shape, ...place) => array[place.reduce((index, each, axis) => index * shape[axis] + each, 0)];
  const turned = (name, b, h, t, position) => {
    const head = Array.from({length: size}, (_, i) => at(data[name], inputs[name].shape, b, h, t, i)), half = size / 2;
    if (!do_rotary) return head;
    return head.map((_, i) => {
      const [cosine, sine] = [data.cos_cache, data.sin_cache].map(table => table[position * half + i % half]);
      return i < half ? head[i] * cosine - head[i + half] * sine : head[i] * cosine + head[i - half] * sine;
    });
  };
  const output = [];
  for (let b = 0; b < batch; b++) {
    for (let t = 0; t < tokens; t++) {
      const first = data.seqlens_k[b] + 1 - tokens, position = first + t;
      for (let h = 0; h < heads; h++) {
        const query = turned('query', b, h, t, position), shared = Math.floor(h * keyHeads / heads);
        const keyOf = place => place < first
          ? Array.from({length: size}, (_, i) => at(data.past_key, inputs.past_key.shape, b, shared, place, i))
          : turned('key', b, shared, place - first, place);
        const valueOf = (place, i) => place < first
          ? at(data.past_value, inputs.past_value.shape, b, shared, place, i)
          : at(data.value, inputs.value.shape, b, shared, place - first, i);
        const powers = Array.from({length: position + 1}, (_, place) => {
          const dot = keyOf(place).reduce((sum, each, i) => sum + each * query[i], 0);
          return Math.exp(dot * (scale ?? 1 / Math.sqrt(size)));
        });
        const sum = powers.reduce((total, each) => total + each);
        for (let i = 0; i < size; i++) output.push(powers.reduce((total, each, place) => total + each / sum * valueOf(place, i), 0));
      }
    }
  }
  return output;
}

const difference = (one, other) => Math.max(...Array.from(one, (each, index) => Math.abs(each - other[index])));

console.log('tanh(tanh(x)):', Array.from(await tanhOfTanh([-1, 0, 0.5]), each => each.toFixed(4)).join(' '));
for (const options of [{do_rotary: true, scale: 0.08838}, {do_rotary: false}]) {
  const config = new GQAConfig(options), {GQA, arrays} = await attend(config);
  console.log(GQA.name, JSON.stringify(GQA.config), Object.keys(arrays).join(), 'right:', difference(arrays.output, expected(config)) < 1e-6);
}
