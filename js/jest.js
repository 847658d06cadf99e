// An environment of jest: another one, with `navigator.ml`. `testEnvironmentOptions.webnn` has the emulator's options and `base`.
'use strict';
const {installInContext} = require('./src/emulator.js');

function load(base, folder) {
  const name = ['node', 'jsdom'].includes(base) ? `jest-environment-${base}` : base;
  const module = require(require.resolve(name, {paths: [folder, __dirname]}));
  return module.TestEnvironment ?? module.default ?? module;
}

class WebNNEnvironment {
  constructor(config, context) {
    const {base = 'node', ...options} = config.projectConfig.testEnvironmentOptions?.webnn ?? {};
    const Base = load(base, config.projectConfig.rootDir);
    // jest uses what this returns: an environment of the class that the options name.
    return new class extends Base {
      async setup() {
        await super.setup();
        installInContext(options, this.getVmContext());
      }
    }(config, context);
  }
}
module.exports = WebNNEnvironment;
module.exports.TestEnvironment = WebNNEnvironment;
