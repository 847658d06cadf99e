const {parentPort} = require('node:worker_threads');
const {install} = require('../../index.js');

const {pid} = install();
import('../double.mjs').then(async ({double}) => parentPort.postMessage({pid, values: [...await double([1])]}));
setInterval(() => {}, 1000);
