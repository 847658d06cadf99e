// The page: what a person chooses and writes, and what becomes of it. `run` and `check` come from the server, or from Python in this browser.
import {makeEditor} from './editor.js';
import * as links from './links.js';
import {compare, runNative, hasNative} from './native.js';

const find = (id) => document.getElementById(id);
const form = find('program'), message = find('message');
const CHOICES = ['language', 'profile', 'revision'];
const OPTIONS = [...CHOICES, 'faults'];
/** What a page without a server brings itself. */
const local = document.documentElement.dataset.python === undefined ? null : await import('./python.js');

let state = null, running = null, views = [], native = false;
const editor = makeEditor(find('editor'), {onRun: run, onChange: () => { find('example').value = ''; }});

function make(name, values = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(values)) {
    if (key in element) element[key] = value; else element.setAttribute(key, value);
  }
  element.append(...children);
  return element;
}

const say = (text, isBad = false) => {
  message.textContent = text;
  message.className = isBad ? 'bad' : '';
};

// The program

function order() {
  const values = Object.fromEntries(OPTIONS.map((name) => [name, form.elements[name].value]));
  return {...values, source: editor.text};
}

function show(program, {foreign = false} = {}) {
  const dropped = [];
  for (const name of OPTIONS) {
    const field = form.elements[name], value = program[name] ?? '';
    const known = field.tagName === 'INPUT' || [...field.options].some((each) => each.value === value);
    if (known) field.value = value; else dropped.push(`${name} ${value.slice(0, 40)}`);
  }
  editor.fill(program.source ?? '', program.language);
  offerNative();
  find('foreign').hidden = !foreign;
  clear();
  say(dropped.length ? `Not available here: ${dropped.join(', ')}.` : 'Nothing has run yet.', dropped.length > 0);
}

/** Offer the browser's own WebNN for programs in its own language. */
function offerNative() {
  find('native-choice').hidden = !native || form.elements.language.value !== 'javascript';
}

async function open(fragment) {
  try {
    const program = await links.read(fragment);
    if (!state.languages.includes(program.language)) {
      throw new Error(`its program is in ${program.language.slice(0, 20) || 'no language'}, which does not run here`);
    }
    show(program, {foreign: true});
  } catch (error) {
    say(`The link cannot be opened: ${error.message}.`, true);
  }
}

// Running

async function ask(what, program, signal) {
  if (local) return local.ask(what, program, signal, say);
  const answer = await fetch(what, {
    method: 'POST', signal, body: JSON.stringify(program), headers: {'Content-Type': 'application/json', 'X-WebNN-Status': '1'},
  });
  const values = await answer.json();
  if (!answer.ok) throw new Error(values.error);
  return values;
}

async function act(what, title) {
  if (running) return;
  running = new AbortController();
  const {signal} = running;
  const program = order();
  clear();
  find('foreign').hidden = true;
  for (const id of ['run', 'check']) find(id).disabled = true;
  find('stop').disabled = false;
  const began = performance.now();
  const tick = () => say(`${title} ... ${Math.round((performance.now() - began) / 1000)} s`);
  tick();
  const timer = setInterval(tick, 1000);
  try {
    const isNative = what === 'run' && find('native').checked && !find('native-choice').hidden;
    // The browser's own WebNN comes second: both would share the cores.
    const outcome = await ask(what, program, signal);
    const beside = isNative ? await runNative(program.source, signal) : null;
    clearInterval(timer);
    present(outcome, beside);
  } catch (error) {
    clearInterval(timer);
    say(signal.aborted ? 'Stopped.' : `It cannot run: ${error.message}`, true);
  } finally {
    for (const id of ['run', 'check']) find(id).disabled = false;
    find('stop').disabled = true;
    running = null;
  }
}

function run() {
  act('run', 'Running');
}

// What became of it

function clear() {
  for (const id of ['problem', 'outputs', 'numbers', 'tables', 'graphs']) find(id).hidden = true;
  for (const id of ['outputs', 'numbers', 'tables', 'graphs']) find(id).replaceChildren();
  views.forEach((each) => each.remove());
  views = [];
  editor.mark(null);
}

function present(outcome, beside) {
  const {error, graphs = [], reads = [], tables = [], output = '', seconds} = outcome;
  const count = graphs.length + (outcome.moreGraphs ?? 0);
  const facts = tables.length ? '' : ` ${count} graph${count === 1 ? '' : 's'} built.`;
  say(error ? `The program failed after ${seconds} s.${facts}` : `Done in ${seconds} s.${facts}`, Boolean(error));
  if (error) {
    find('problem').hidden = false;
    find('problem-text').textContent = error.message;
    find('go').hidden = !error.line;
    find('go').textContent = `Go to line ${error.line}`;
    find('go').onclick = () => editor.go(error);
    editor.mark(error);
  }
  const outputs = [['Output', output], ...(beside ? [["Output of this browser's WebNN", [...beside.output, beside.error].filter(Boolean).join('\n')]] : [])];
  if (tables.length === 0) {
    find('outputs').hidden = false;
    find('outputs').className = beside ? 'beside' : '';
    find('outputs').append(...outputs.map(([title, text]) => {
      return make('div', {}, make('h3', {textContent: title}), make('pre', {tabIndex: 0, 'aria-label': title, role: 'region', textContent: text || '(nothing)'}));
    }));
  }
  if (reads.length || beside?.reads.length) {
    find('numbers').hidden = false;
    find('numbers').append(drawTable(compare(reads, beside)));
  }
  find('tables').hidden = !tables.length;
  find('tables').append(...tables.map((each) => drawTable(each)));
  find('graphs').hidden = !graphs.length;
  graphs.forEach((each, index) => drawGraph(find('graphs'), each, index));
  if (outcome.moreGraphs) find('graphs').append(make('p', {className: 'note', textContent: `${outcome.moreGraphs} more graphs are not shown.`}));
}

function drawTable({title, facts, columns, rows, more}) {
  const shown = columns.map((_, place) => rows.some((row) => row[place] !== '')).map((used, place) => used ? place : -1).filter((place) => place >= 0);
  const kind = (place) => columns[place].number ? 'number' : '';
  const head = make('tr', {}, ...shown.map((place) => make('th', {scope: 'col', className: kind(place), textContent: columns[place].name})));
  const body = rows.map((row) => make('tr', {}, ...shown.map((place) => make('td', {className: kind(place), textContent: row[place]}))));
  const table = make('table', {'aria-label': title}, make('thead', {}, head), make('tbody', {}, ...body));
  return make('div', {}, make('h3', {textContent: title}), ...(facts.length ? [make('ul', {className: 'lines'}, ...facts.map((each) => make('li', {textContent: each})))] : []),
    ...(rows.length ? [make('div', {className: 'table', tabIndex: 0, role: 'region', 'aria-label': title}, table)] : []),
    ...(more ? [make('p', {className: 'note', textContent: `${more} more rows`})] : []));
}

function drawGraph(parent, {name, document: shown, note, tables}, index) {
  const title = `Graph ${index + 1}: ${name}`;
  const parts = [make('h3', {textContent: title})];
  if (note) parts.push(make('p', {className: 'note', textContent: note}));
  const place = make('div', {className: 'graph'});
  if (shown) parts.push(place);
  parts.push(...tables.map((table) => drawTable({...table, title: `${table.title} of graph ${index + 1}`})));
  parent.append(make('div', {}, ...parts));
  // The element has its size by now. webnnViewer is the component of viewer.js.
  if (shown) views.push(webnnViewer.show(place, shown));
}

// The page itself

form.addEventListener('submit', (event) => {
  event.preventDefault();
  run();
});
find('check').addEventListener('click', () => act('check', 'Checking every profile'));
find('stop').addEventListener('click', () => running?.abort());
find('example').addEventListener('change', ({target}) => {
  const chosen = state.examples[Number(target.value)];
  if (target.value !== '' && chosen) {
    show({...order(), ...chosen});
    target.value = String(state.examples.indexOf(chosen));
  }
});
form.elements.language.addEventListener('change', ({target}) => {
  editor.fill(editor.text, target.value);
  offerNative();
});
find('copy').addEventListener('click', async () => {
  try {
    const fragment = await links.write(order());
    // The address of this page holds its token, which is for nobody else.
    const base = local ? location.href.replace(/#.*/, '') : `${location.origin}/playground`;
    find('link').value = `${base}#${fragment}`;
    await navigator.clipboard.writeText(find('link').value);
    say('The link is copied.');
  } catch (error) {
    find('link').select();
    say(error instanceof RangeError ? `There is no link: ${error.message}.` : 'The link is in the field Link: copy it from there.', true);
  }
});
find('link').addEventListener('keydown', (event) => {
  if (event.key !== 'Enter') return;
  event.preventDefault();
  open(event.target.value.trim().replace(/^[^#]*#/, ''));
});
addEventListener('hashchange', () => open(location.hash));

async function start() {
  state = await (await fetch('state.json')).json();
  const title = {javascript: 'JavaScript', python: 'Python'};
  form.elements.language.append(...state.languages.map((each) => make('option', {value: each, textContent: title[each]})));
  form.elements.profile.append(...state.profiles.map((each) => make('option', {value: each, textContent: each})));
  form.elements.revision.append(...state.revisions.map((each) => make('option', {value: each, textContent: each})));
  find('example').append(...state.examples.map((each, index) => make('option', {value: String(index), textContent: each.title})));
  const where = local ? 'Programs run in this browser.'
    : state.languages.includes('python') ? 'Programs run on this machine; those in Python can do what you can.'
      : 'Programs run on this machine, behind walls. Python is off: webnn playground --python turns it on.';
  find('facts').textContent = `webnn ${state.version}. ${where}`;
  show(state.start ?? state.examples[0] ?? {language: state.languages[0]});
  if (location.hash) await open(location.hash);
  native = await hasNative();
  offerNative();
}

start().catch((error) => say(`The page does not work: ${error.message}`, true));
