// The origins of the server, and frames that say whether they may use WebNN.
'use strict';
const ORIGINS = {
  same: 'https://{{host}}:{{ports[https][0]}}', port: 'https://{{host}}:{{ports[https][1]}}',
  subdomain: 'https://{{domains[www1]}}:{{ports[https][0]}}', site: 'https://{{hosts[alt][]}}:{{ports[https][0]}}',
};
const FOLDER = '/webnn/permissions-policy/resources/';

// The next message of a window.
function messageOf(source) {
  return new Promise(resolve => {
    addEventListener('message', function listen({data, source: sender, origin}) {
      if (sender !== source()) return;
      removeEventListener('message', listen);
      resolve({...data, origin});
    });
  });
}
function makeFrame(src, attributes = {}) {
  const frame = document.createElement('iframe');
  for (const [name, value] of Object.entries(attributes)) frame.setAttribute(name, value);
  if (src !== null) frame.src = src;
  return frame;
}
// The error of createContext() in a frame, and the origin that the frame says it has; `file` is its page.
async function askFrame(origin, attributes = {}, file = 'answer.html') {
  const frame = makeFrame(`${ORIGINS[origin]}${FOLDER}${file}`, attributes), message = messageOf(() => frame.contentWindow);
  document.body.appendChild(frame);
  const {error} = await message;
  frame.remove();
  return error;
}
async function errorHere() {
  try { await navigator.ml.createContext(); return ''; } catch (error) { return error.name; }
}
const YES = '', NO = 'SecurityError';
// One test for each row: the origin of the frame, its attributes, and the error.
function testFrames(rows, file = undefined) {
  for (const [origin, attributes, expected] of rows) {
    const name = `${file ?? 'a frame'} of ${origin} with ${JSON.stringify(attributes)}`;
    promise_test(async () => assert_equals(await askFrame(origin, attributes, file), expected), name);
  }
}
function testPage(expected) {
  promise_test(async () => assert_equals(await errorHere(), expected), 'the page itself');
}
// A worker of the page; Chromium 153 ends a page whose shared worker asks for a context, so that is in files of its own.
function testWorker(expected, kind = 'Worker') {
  promise_test(async () => {
    const worker = new globalThis[kind](`${FOLDER}worker.js`), port = worker.port ?? worker;
    const message = new Promise((resolve, reject) => {
      port.onmessage = resolve;
      worker.onerror = reject;
    });
    port.postMessage('say');
    assert_equals((await message).data, expected);
  }, `a ${kind}`);
}
