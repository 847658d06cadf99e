// An environment of vitest: another one, with `navigator.ml`. `environmentOptions.webnn` has the emulator's options and `base`.
import {createRequire} from 'node:module';
import {fileURLToPath} from 'node:url';

// Not imported: vite may read this file as one of the project's modules, and the other is not such a module.
const {install, installInContext} = createRequire(import.meta.url)('./src/emulator.js');
const BASES = ['node', 'jsdom', 'happy-dom'];

async function read({webnn: {base = 'node', ...options} = {}}) {
  if (!BASES.includes(base)) throw new Error(`environmentOptions.webnn.base must be one of ${BASES.join(', ')}, got '${base}'`);
  const {builtinEnvironments} = await import('vitest/runtime');
  return [builtinEnvironments[base], options];
}

export const environment = fileURLToPath(import.meta.url);
export default {
  name: 'webnn',
  viteEnvironment: 'client',
  async setup(global, given) {
    const [base, options] = await read(given), made = await base.setup(global, given);
    install(options);
    return made;
  },
  // For the pools vmThreads and vmForks.
  async setupVM(given) {
    const [base, options] = await read(given), made = await base.setupVM(given);
    installInContext(options, made.getVmContext());
    return made;
  },
};
