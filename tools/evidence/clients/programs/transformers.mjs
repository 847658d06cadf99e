// transformers.js: a model from the site's folder, by the classes that its users have.
import {AutoModel, T5PreTrainedModel, Tensor, env} from '@huggingface/transformers';
import {measure, noise} from './measure.mjs';

export default function run(order) {
  const {device, base, model, wasm} = order, length = 16, size = 512;
  Object.assign(env, {allowLocalModels: true, allowRemoteModels: false, localModelPath: `${base}models/`, useBrowserCache: false});
  if (wasm) env.backends.onnx.wasm.wasmPaths = wasm;
  const ids = new Tensor('int64', BigInt64Array.from({length}, (_, index) => BigInt(100 + 37 * index)), [1, length]);
  const mask = new Tensor('int64', new BigInt64Array(length).fill(1n), [1, length]);
  const sizes = {
    batch_size: 1, sequence_length: length, encoder_sequence_length: length, decoder_sequence_length: length,
  };
  const options = {
    device: device === 'webnn' ? 'webnn-cpu' : 'wasm', dtype: 'fp32',
    session_options: device === 'webnn' ? {freeDimensionOverrides: sizes} : {},
  };
  const isDecoder = model.endsWith('decoder');
  const inputs = isDecoder ?
    {input_ids: ids, encoder_hidden_states: new Tensor('float32', noise(length * size), [1, length, size]), encoder_attention_mask: mask} :
    {input_ids: ids, attention_mask: mask};
  return measure(order, () => (isDecoder ? T5PreTrainedModel : AutoModel).from_pretrained(model, options), async session => {
    const outputs = isDecoder ? await session.sessions.model.run(Object.fromEntries(Object.entries(inputs).map(([name, {ort_tensor}]) => [name, ort_tensor]))) :
      await session(inputs);
    return Object.fromEntries(Object.entries(outputs).filter(([, each]) => each?.data instanceof Float32Array).map(([name, {data}]) => [name, data]));
  });
}
