// LiteRT.js in Node, on the emulator: docs/clients.md.
import {distance, segment} from './segment.mjs';

const result = await segment('webnn'), difference = distance(result, await segment('wasm'));
const share = result.filter(value => value > 0.5).length / result.length;
console.log(`a person takes ${Math.round(100 * share)} % of the picture; WebAssembly ${difference < 1e-3 ? 'agrees' : `differs by ${difference}`}`);
