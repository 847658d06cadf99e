// Python in a worker: Pyodide, its packages and the wheels beside the page. Everything comes from the page's own folder.
import {loadPyodide} from './pyodide/pyodide.mjs';

const START = 'from webnn.playground.local import answer\nanswer(webnn_what, webnn_text)';

async function load() {
  const {packages, wheels} = await (await fetch('python.json')).json();
  const python = await loadPyodide({indexURL: new URL('pyodide/', self.location).href});
  const problems = [];
  await python.loadPackage([...packages, ...wheels.map((each) => new URL(each, self.location).href)], {
    messageCallback: () => {}, errorCallback: (text) => problems.push(text),
  });
  // Pyodide keeps the spelling of the distribution: "Jinja2".
  const loaded = new Set(Object.keys(python.loadedPackages).map((each) => each.toLowerCase()));
  const missing = packages.filter((each) => !loaded.has(each.toLowerCase()));
  if (missing.length) throw new Error(`the package ${missing.join(', ')} cannot be loaded: ${problems.join(' ').trim() || 'no reason is known'}`);
  return python;
}

let loading = null;
self.onmessage = async ({data: {what, text}}) => {
  try {
    loading ??= load();
    const python = await loading;
    python.globals.set('webnn_what', what);
    python.globals.set('webnn_text', text);
    // Asynchronous, so that `asyncio.run` can wait where the browser lets WebAssembly wait for promises.
    self.postMessage({answer: await python.runPythonAsync(START)});
  } catch (error) {
    self.postMessage({failed: String(error.message ?? error).trim().split('\n').at(-1)});
  }
};
