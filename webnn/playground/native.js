// The browser's own WebNN beside the emulator: a frame runs the program, and its numbers are compared.

/** After how many milliseconds a program in the frame is ended, and one that does not answer; how much it may say. */
const LONGEST_RUN = 30_000, LONGEST_START = 5000, MOST_LINES = 2000, MOST_LETTERS = 10_000, MOST_READS = 32;

/** Make a frame, send it one message, and return a function that ends it. The answers go to `onMessage`. */
function start(message, onMessage) {
  const frame = document.createElement('iframe');
  frame.title = "The browser's own WebNN";
  frame.hidden = true;
  frame.sandbox = 'allow-scripts';
  frame.allow = 'webnn *';
  frame.src = 'native.html';
  const {port1, port2} = new MessageChannel();
  port1.onmessage = ({data}) => onMessage(data);
  // The frame's origin is opaque: no address fits it.
  frame.onload = () => frame.contentWindow?.postMessage(message, '*', [port2]);
  document.body.append(frame);
  return () => {
    port1.close();
    frame.remove();
  };
}

/** Tell whether the browser has WebNN for the frame. */
export async function hasNative() {
  if (!('ml' in navigator)) return false;
  let end, timer;
  const found = await new Promise((resolve) => {
    timer = setTimeout(() => resolve(false), LONGEST_START);
    end = start({probe: true}, (data) => resolve(data?.value === true));
  });
  clearTimeout(timer);
  end();
  return found;
}

/** Run a program; return its output, the numbers that it read, and its error. */
export async function runNative(source, signal) {
  const reads = await (await fetch('reads.js')).text();
  const found = {output: [], reads: [], error: ''};
  return new Promise((resolve, reject) => {
    const finish = (error) => {
      clearTimeout(timer);
      signal.removeEventListener('abort', abort);
      end();
      found.error = error;
      resolve(found);
    };
    const abort = () => {
      reject(new Error('stopped'));
      finish('');
    };
    const timer = setTimeout(() => finish(`the program was not done after ${LONGEST_RUN / 1000} s`), LONGEST_RUN);
    signal.addEventListener('abort', abort);
    const end = start({source, reads}, (data) => {
      // The program can send anything.
      const {kind, value} = Object(data), text = String(value);
      if (kind === 'output' && found.output.length < MOST_LINES) found.output.push(text.slice(0, MOST_LETTERS));
      else if (kind === 'read' && found.reads.length < MOST_READS) {
        const read = parse(text);
        if (read) found.reads.push(read);
      } else if (kind === 'ended') finish('');
      else if (kind === 'failed') finish(text.slice(0, MOST_LETTERS));
    });
  });
}

/** Read a note of reads.js; return null for anything else. */
function parse(text) {
  try {
    const {dataType, shape, values, size} = JSON.parse(text);
    return {dataType: String(dataType), shape: [...shape].map(Number), values: [...values].map(Number), size: Number(size)};
  } catch {
    return null;
  }
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
