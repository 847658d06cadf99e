import {LanguageModel} from './language_model.mjs';

const $ = (id) => document.getElementById(id);
const say = (text) => $('status').textContent = text;

/** Writes into the page: a span for each token, with its number. */
async function write(model, prompt, count) {
  $('text').replaceChildren(Object.assign(document.createElement('b'), {textContent: prompt}));
  const began = performance.now();
  let tokens = 0, first = 0;
  for await (const {number, text} of model.generate(prompt, count)) {
    if (tokens++ === 0) first = performance.now();
    const span = Object.assign(document.createElement('span'), {textContent: text, title: `token ${number}`});
    span.dataset.token = number;
    $('text').append(span);
  }
  const rate = tokens > 1 ? `, then ${((tokens - 1) * 1000 / (performance.now() - first)).toFixed(0)} a second` : '';
  say(tokens ? `${tokens} tokens: the first one after ${(first - began).toFixed(0)} ms${rate}` : 'The text ends here');
}

async function start() {
  const model = await LanguageModel.load(new URL('../model/', import.meta.url));
  $('form').addEventListener('submit', async (event) => {
    event.preventDefault();
    $('run').disabled = true;
    say('It writes ...');
    try {
      const {prompt, count} = $('form').elements;
      await write(model, prompt.value, count.valueAsNumber);
    } catch (error) {
      say(`It does not work: ${error.message}`);
    }
    $('run').disabled = false;
  });
  say('The model is ready');
  $('run').disabled = false;
}

if (navigator.ml === undefined) say('This browser has no WebNN');
else await start().catch((error) => say(`It does not work: ${error.message}`));
