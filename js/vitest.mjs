// An environment of vitest: another one, with `navigator.ml`. `environmentOptions.webnn` has the emulator's options and `base`.
import {createRequire} from 'node:module';
import {fileURLToPath} from 'node:url';

// Not imported: vite may read this file as one of the project's modules, and the other is not such a module.
const {install} = createRequire(import.meta.url)('./src/emulator.js');
const BASES = ['node', 'jsdom', 'happy-dom'];

export const environment = fileURLToPath(import.meta.url);
export default {
  name: 'webnn',
  viteEnvironment: 'client',
  async setup(global, options) {
    const {base = 'node', ...rest} = options.webnn ?? {};
    if (!BASES.includes(base)) throw new Error(`environmentOptions.webnn.base must be one of ${BASES.join(', ')}, got '${base}'`);
    const {builtinEnvironments} = await import('vitest/runtime');
    const made = await builtinEnvironments[base].setup(global, options);
    install(rest);
    return made;
  },
};
