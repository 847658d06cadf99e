// A program as the fragment of an address: JSON, compressed, in letters that an address may have. Reading one runs nothing.

// The longest fragment, and the longest JSON, in characters and in bytes: a little that is compressed can become very much.
export const LONGEST_LINK = 100_000, LONGEST_TEXT = 400_000;
const VERSION = '1.';
const MEMBERS = ['language', 'source', 'profile', 'revision', 'faults', 'numerics'];

/** Return the fragment of a program, without "#". Throws a RangeError if the program is too long for a link. */
export async function write(program) {
  const text = JSON.stringify(Object.fromEntries(MEMBERS.filter((name) => program[name]).map((name) => [name, program[name]])));
  const stream = new Blob([text]).stream().pipeThrough(new CompressionStream('deflate-raw'));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  let letters = '';
  for (const each of bytes) letters += String.fromCharCode(each);
  const fragment = VERSION + btoa(letters).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
  if (fragment.length > LONGEST_LINK) throw new RangeError(`the program is too long for a link: ${fragment.length} letters`);
  return fragment;
}

/** Return the program of a fragment, with or without "#": texts only. Throws an Error that says what is wrong. */
export async function read(fragment) {
  fragment = fragment.replace(/^#/, '');
  if (fragment.length > LONGEST_LINK) throw new Error('the link is too long');
  if (!fragment.startsWith(VERSION)) throw new Error('the link was made by another version of the playground');
  let values;
  try {
    const letters = atob(fragment.slice(VERSION.length).replaceAll('-', '+').replaceAll('_', '/'));
    const bytes = Uint8Array.from(letters, (each) => each.charCodeAt(0));
    values = JSON.parse(await inflate(bytes));
  } catch (error) {
    throw new Error(error instanceof RangeError ? error.message : 'the link is damaged');
  }
  if (values === null || typeof values !== 'object' || Array.isArray(values)) throw new Error('the link is damaged');
  const program = {};
  for (const name of MEMBERS) {
    const value = Object.hasOwn(values, name) ? values[name] : '';
    if (typeof value !== 'string') throw new Error(`the link is damaged: its ${name} is not a text`);
    program[name] = value;
  }
  return program;
}

async function inflate(bytes) {
  const reader = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate-raw')).getReader();
  const parts = [];
  let length = 0;
  for (;;) {
    const {done, value} = await reader.read();
    if (done) break;
    length += value.length;
    if (length > LONGEST_TEXT) {
      await reader.cancel();
      throw new RangeError('the program of the link is too long');
    }
    parts.push(value);
  }
  return new TextDecoder('utf-8', {fatal: true}).decode(await new Blob(parts).arrayBuffer());
}
