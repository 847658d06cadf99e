// Runs one client in Node: `webnn run main.mjs ORDER`, where ORDER is JSON. What it prints is JSON.
import {count} from './measure.mjs';

const order = JSON.parse(process.argv[2]);
count();
const {default: run} = await import(`./${order.client}.mjs`);
console.log(JSON.stringify(await run(order)));
