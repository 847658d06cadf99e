'use strict';
const {find, install, WebNNEmulatorError} = require('./src/emulator.js');

exports.install = options => install(options);
exports.emulator = () => {
  const found = find();
  if (found === undefined) throw new WebNNEmulatorError('there is no emulator yet: import webnn-emulator/register, or call install()');
  return found;
};
exports.WebNNEmulatorError = WebNNEmulatorError;
