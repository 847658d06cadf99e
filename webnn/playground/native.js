// The browser's own WebNN beside the emulator: a frame runs the program, and its numbers are compared.

/** After how many milliseconds a program in the frame is ended, and how long its outputs may be. */
const LONGEST_RUN = 30_000, MOST_LINES = 2000, MOST_READS = 32;
let frame = null;

function load() {
  frame ??= new Promise((resolve) => {
    const element = document.createElement('iframe');
    element.title = "The browser's own WebNN";
    element.hidden = true;
    element.sandbox = 'allow-scripts';
    element.allow = 'webnn *';
    element.src = 'native.html';
    element.onload = () => resolve(element);
    document.body.append(element);
  });
  return frame;
}

async function send(data, onMessage) {
  const {port1, port2} = new MessageChannel();
  port1.onmessage = onMessage;
  // The frame's origin is opaque: no other address fits it.
  (await load()).contentWindow.postMessage(data, '*', [port2]);
  return port1;
}

/** Tell whether the browser has WebNN for the frame. */
export function hasNative() {
  if (!('ml' in navigator)) return Promise.resolve(false);
  return new Promise((resolve) => {
    setTimeout(() => resolve(false), 5000);
    send({probe: true}, ({data}) => resolve(data?.value === true));
  });
}

/** Run a program; return its output, the numbers that it read, and its error. */
export async function runNative(source, signal) {
  const reads = await (await fetch('reads.js')).text();
  const found = {output: [], reads: [], error: ''};
  return new Promise((resolve, reject) => {
    let port = null;
    const end = (error) => {
      clearTimeout(timer);
      port?.postMessage('stop');
      port?.close();
      found.error = error;
      resolve(found);
    };
    const timer = setTimeout(() => end(`the program was not done after ${LONGEST_RUN / 1000} s`), LONGEST_RUN);
    signal.addEventListener('abort', () => { end(''); reject(new Error('stopped')); });
    send({source, reads}, ({data}) => {
      // The program can send anything.
      const {kind, value} = Object(data), text = String(value);
      if (kind === 'output' && found.output.length < MOST_LINES) found.output.push(text.slice(0, 10_000));
      else if (kind === 'read' && found.reads.length < MOST_READS) {
        try {
          const {dataType, shape, values, size} = JSON.parse(text);
          found.reads.push({dataType: String(dataType), shape: [...shape].map(Number), values: [...values], size: Number(size)});
        } catch {
          // It is not a note of reads.js.
        }
      } else if (kind === 'ended') end('');
      else if (kind === 'failed') end(text.slice(0, 10_000));
    }).then((made) => { port = made; });
  });
}

const round = (value) => Number.isFinite(value) ? Number(value.toPrecision(6)).toString() : String(value);

function list(read) {
  if (!read) return '';
  const shown = read.values.slice(0, 8).map((each) => round(Number(each)));
  return shown.join(' ') + (read.size > shown.length ? ' ...' : '');
}

function differ(one, other) {
  if (!one || !other) return '';
  if (one.dataType !== other.dataType || `${one.shape}` !== `${other.shape}`) return 'another type or shape';
  let most = 0;
  for (let index = 0; index < one.values.length; ++index) {
    const [a, b] = [Number(one.values[index]), Number(other.values[index])];
    if (Object.is(a, b) || a === b) continue;
    most = Math.max(most, Number.isFinite(a) && Number.isFinite(b) ? Math.abs(a - b) : Infinity);
  }
  return round(most);
}

/** Return the table of the numbers that a program read: in the emulator, and in the browser if it ran there. */
export function compare(reads, native) {
  const names = ['#', 'type', 'shape', 'emulator', ...(native ? ['this browser', 'largest difference'] : [])];
  const rows = Array.from({length: Math.max(reads.length, native?.reads.length ?? 0)}, (_, index) => {
    const one = reads[index], other = native?.reads[index], any = one ?? other;
    const row = [String(index + 1), any.dataType, `[${any.shape.join(', ')}]`, list(one)];
    return native ? [...row, list(other), differ(one, other)] : row;
  });
  return {title: 'Numbers that the program read', facts: [], columns: names.map((name) => ({name, number: name === '#' || name === 'largest difference'})), rows, more: 0};
}
