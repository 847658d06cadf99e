'use strict';
const {find, install} = require('./src/emulator.js');

if (find() === undefined) install();
