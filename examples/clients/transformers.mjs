// transformers.js in Node, on the emulator: docs/clients.md.
import {read} from './read.mjs';

for (const device of ['webnn-cpu', 'wasm']) console.log(`${device}: ${await read('WEBNN', device)}`);
