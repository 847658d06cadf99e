// vad-web: where somebody speaks. Its hook `ortConfig` chooses WebNN.
import {NonRealTimeVAD} from '@ricky0123/vad-web';
import {measure, noise} from './measure.mjs';

export default function run(order) {
  const {device, base, wasm} = order, rate = 16_000, hiss = noise(rate), heard = [];
  // A vowel between two silences.
  const sound = Float32Array.from({length: 2 * rate}, (_, index) => {
    const time = index / rate, isVoice = time > 0.5 && time < 1.5;
    const tone = [120, 240, 730, 1090, 2440].reduce((sum, pitch, number) => sum + Math.sin(2 * Math.PI * pitch * time) / (1 + number), 0);
    return (isVoice ? 0.3 * tone : 0) + 0.001 * hiss[index % rate];
  });
  const create = () => NonRealTimeVAD.new({
    modelURL: `${base}node_modules/@ricky0123/vad-web/dist/silero_vad_legacy.onnx`,
    ortConfig(ort) {
      ort.env.wasm.numThreads = 1;
      ort.env.logLevel = 'error';
      if (wasm) ort.env.wasm.wasmPaths = wasm;
      const {InferenceSession} = ort, {create: make} = InferenceSession;
      InferenceSession.create = async (model, options) => {
        const session = await make.call(InferenceSession, model, {executionProviders: [device], ...options}), compute = session.run;
        session.run = async (...values) => {
          const answer = await compute.apply(session, values);
          heard.push(answer.output.data[0]);
          return answer;
        };
        return session;
      };
    },
  });
  return measure(order, create, async vad => {
    const parts = [];
    heard.length = 0;
    for await (const {start, end} of vad.run(sound, rate)) parts.push(start, end);
    return {parts, heard};
  });
}
