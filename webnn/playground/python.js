// Programs in Python in this browser: a worker has Python, and is ended with a program that is stopped.

let worker = null;

function begin(say) {
  if (worker) return worker;
  const made = new Worker('python_worker.js', {type: 'module'});
  say('Loading Python: this takes a while for the first program.');
  worker = {made, end: () => { made.terminate(); worker = null; }};
  return worker;
}

/** Run a program, or check it; return what became of it. Throws an Error if Python cannot be loaded, or the signal comes. */
export function ask(what, program, signal, say) {
  const {made, end} = begin(say);
  return new Promise((resolve, reject) => {
    const stop = () => {
      end();
      reject(new Error('stopped'));
    };
    signal.addEventListener('abort', stop, {once: true});
    const fail = (text) => {
      signal.removeEventListener('abort', stop);
      end();
      reject(new Error(text));
    };
    made.onerror = (event) => fail(event.message || 'the worker with Python does not start');
    made.onmessage = ({data}) => {
      if (data.failed) fail(data.failed);
      else {
        signal.removeEventListener('abort', stop);
        resolve(JSON.parse(data.answer));
      }
    };
    made.postMessage({what, text: JSON.stringify(program)});
  });
}
