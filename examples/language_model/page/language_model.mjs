// A language model that writes, by WebNN: a decoder with grouped-query attention and rotary positions. ../decode.py is the same in Python.

import {Tokenizer} from './tokenizer.mjs';
import {readWeights} from './weights.mjs';

/** The score of a place without a token yet. */
const MASKED = -1e9;

/**
 * Builds one step. Inputs and outputs have the same names: "token" and "position", int32 [1]; "keys0", "values0" and so on for each layer,
 * float32 [key heads, length, size]. A step writes its row at the position, and attention looks at the rows up to it.
 */
function build(context, weights, sizes, length) {
  const {layers, heads, keyHeads, size, theta, epsilon} = sizes;
  const b = new MLGraphBuilder(context);
  const number = (value) => b.constant('float32', value);
  const constant = (dataType, shape, values) => b.constant({dataType, shape}, values);
  const weight = (name) => {
    const {shape, values} = weights.get(`model.${name}.weight`);
    return constant('float32', shape, values);
  };
  const multiply = (x, name) => b.matmul(x, weight(name), {label: name});
  /** Divides a row [1, width] by the root of its mean square. */
  const normalize = (x, name) => {
    const mean = b.reduceMean(b.mul(x, x), {axes: [1], keepDimensions: true});
    return b.mul(b.div(x, b.sqrt(b.add(mean, number(epsilon)))), weight(name), {label: name});
  };

  const token = b.input('token', {dataType: 'int32', shape: [1]}), position = b.input('position', {dataType: 'int32', shape: [1]});
  const places = constant('int32', [1, 1, length], Int32Array.from({length}, (_, place) => place));
  const seen = b.lesserOrEqual(places, position);
  /** The place of a row in a part of the cache: its head and its position. */
  const eachHead = constant('int32', [keyHeads, 1, 1], Int32Array.from({length: keyHeads}, (_, head) => head));
  const here = b.concat([eachHead, b.expand(b.reshape(position, [1, 1, 1]), [keyHeads, 1, 1])], 2);

  const frequencies = Float32Array.from({length: size / 2}, (_, i) => theta ** (-2 * i / size));
  const half = b.mul(b.cast(position, 'float32'), constant('float32', [size / 2], frequencies));
  const angles = b.concat([half, half], 0), cosines = b.cos(angles), sines = b.sin(angles);
  /** Turns pairs of numbers, one of each half of a head, by the angles of the position: [1, count * size] to [count, 1, size]. */
  const rotate = (x, count) => {
    const rows = b.reshape(x, [count, 1, size]), [left, right] = b.split(rows, 2, {axis: 2});
    return b.add(b.mul(rows, cosines), b.mul(b.concat([b.neg(right), left], 2), sines));
  };

  const words = weight('embed_tokens'), outputs = {};
  let x = b.gather(words, token);
  for (let layer = 0; layer < layers; layer++) {
    /** Writes a row [key heads, 1, size] into a part of the cache. */
    const remember = (kind, row) => {
      const cache = b.input(`${kind}${layer}`, {dataType: 'float32', shape: [keyHeads, length, size]});
      return outputs[`${kind}${layer}`] = b.scatterND(cache, here, row);
    };
    const name = `layers.${layer}`, normal = normalize(x, `${name}.input_layernorm`);
    const [query, key, value] = ['q', 'k', 'v'].map((letter) => multiply(normal, `${name}.self_attn.${letter}_proj`));
    const keys = remember('keys', rotate(key, keyHeads)), values = remember('values', b.reshape(value, [keyHeads, 1, size]));
    // The heads that share keys and values are the rows of one product.
    const queries = b.reshape(rotate(query, heads), [keyHeads, heads / keyHeads, size]);
    const scores = b.mul(b.matmul(queries, b.transpose(keys, {permutation: [0, 2, 1]})), number(size ** -0.5));
    const attention = b.softmax(b.where(seen, scores, number(MASKED)), 2);
    x = b.add(x, multiply(b.reshape(b.matmul(attention, values), [1, heads * size]), `${name}.self_attn.o_proj`));
    const inner = normalize(x, `${name}.post_attention_layernorm`), gate = multiply(inner, `${name}.mlp.gate_proj`);
    const hidden = b.mul(b.mul(gate, b.sigmoid(gate)), multiply(inner, `${name}.mlp.up_proj`));
    x = b.add(x, multiply(hidden, `${name}.mlp.down_proj`));
  }
  const logits = b.gemm(normalize(x, 'norm'), words, {bTranspose: true});
  const next = b.argMax(logits, 1, {outputDataType: 'int32'});
  return b.build({token: next, position: b.add(position, b.constant('int32', 1)), ...outputs});
}

/** Makes one set of tensors. */
async function makeTensors(context, {layers, keyHeads, size}, length) {
  const number = {dataType: 'int32', shape: [1], readable: true, writable: true};
  const tensors = {token: await context.createTensor(number), position: await context.createTensor(number)};
  for (let layer = 0; layer < layers; layer++) {
    for (const kind of ['keys', 'values']) {
      tensors[`${kind}${layer}`] = await context.createTensor({dataType: 'float32', shape: [keyHeads, length, size]});
    }
  }
  return tensors;
}

export class LanguageModel {
  #context;
  #graph;
  #tensors;

  /**
   * Loads the model of a folder: config.json, tokenizer.json and model.onnx.
   * @param {URL | string} folder Its address, with a slash at the end.
   * @param {{length?: number, contextOptions?: MLContextOptions}} options The most tokens that it shall read, at most the context of the
   *     model, which is the default.
   */
  static async load(folder, {length, contextOptions = {}} = {}) {
    const [config, tokenizer, file] = await Promise.all(['config.json', 'tokenizer.json', 'model.onnx'].map(async (name) => {
      const response = await fetch(new URL(name, folder));
      if (!response.ok) throw new Error(`${response.url}: ${response.status} ${response.statusText}`);
      return name.endsWith('.json') ? response.json() : response.arrayBuffer();
    }));
    const sizes = {
      layers: config.num_hidden_layers, heads: config.num_attention_heads, keyHeads: config.num_key_value_heads, size: config.head_dim,
      theta: config.rope_theta, epsilon: config.rms_norm_eps, end: config.eos_token_id,
    };
    length ??= config.max_position_embeddings;
    if (!(length >= 1 && length <= config.max_position_embeddings)) {
      throw new RangeError(`length must be from 1 to ${config.max_position_embeddings}, the context of the model, got ${length}`);
    }
    const context = await navigator.ml.createContext(contextOptions);
    const graph = await build(context, readWeights(file), sizes, length);
    // No tensor may be an input and an output of one dispatch: two sets take turns.
    const tensors = [await makeTensors(context, sizes, length), await makeTensors(context, sizes, length)];
    return new LanguageModel(context, graph, tensors, {tokenizer: new Tokenizer(tokenizer), length, end: sizes.end});
  }

  constructor(context, graph, tensors, {tokenizer, length, end}) {
    [this.#context, this.#graph, this.#tensors] = [context, graph, tensors];
    Object.assign(this, {tokenizer, length, end});
  }

  /**
   * Yields the most likely tokens after a prompt, each as soon as it is known: its number, and what it adds to the text. Fewer come if the
   * text ends, or if the model can read no more. One loop at a time: the tensors are those of the model.
   * @param {string} prompt
   * @param {number} count The most tokens to yield.
   */
  async *generate(prompt, count) {
    const known = this.tokenizer.encode(prompt), read = this.tokenizer.stream(), context = this.#context;
    if (known.length < 1 || known.length > this.length) {
      throw new RangeError(`the prompt must have from 1 to ${this.length} tokens, got ${known.length}`);
    }
    let [old, fresh] = this.#tensors;
    context.writeTensor(old.position, Int32Array.of(0));
    for (let position = 0; position < Math.min(known.length - 1 + count, this.length); position++) {
      if (position < known.length) context.writeTensor(old.token, Int32Array.of(known[position]));
      context.dispatch(this.#graph, old, fresh);
      if (position >= known.length - 1) {
        const [number] = new Int32Array(await context.readTensor(fresh.token));
        if (number === this.end) return;
        yield {number, text: read(number)};
      }
      [old, fresh] = [fresh, old];
    }
  }
}
