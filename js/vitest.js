// An environment of vitest: another one, with `navigator.ml`. `environmentOptions.webnn` has the emulator's options and `base`.
'use strict';
const {install} = require('./src/emulator.js');

const BASES = {node: 'node', jsdom: 'jsdom', 'happy-dom': 'happy-dom'};

exports.environment = __filename;
exports.default = {
  name: 'webnn',
  transformMode: 'web',
  viteEnvironment: 'client',
  async setup(global, options) {
    const {base = 'node', ...rest} = options.webnn ?? {};
    if (!Object.hasOwn(BASES, base)) throw new Error(`environmentOptions.webnn.base must be one of ${Object.keys(BASES).join(', ')}, got '${base}'`);
    const {builtinEnvironments} = await import('vitest/environments');
    const environment = await builtinEnvironments[base].setup(global, options);
    install(rest);
    return environment;
  },
};
