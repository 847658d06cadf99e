// Writes what the model says after a prompt, and the numbers of its tokens:
//
//     webnn run --root examples/language_model examples/language_model/page/say.mjs "At last the boats" 40

import {LanguageModel} from './language_model.mjs';

const [prompt = 'At last the boats', count = '40'] = process.argv.slice(2);
const model = await LanguageModel.load(new URL('../model/', import.meta.url));
const tokens = [];
for await (const token of model.generate(prompt, Number(count))) tokens.push(token);
console.log(prompt + tokens.map(({text}) => text).join(''));
console.log(`tokens: ${tokens.map(({number}) => number).join(' ')}`);
