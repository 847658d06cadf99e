// No object of WebNN can be cloned or sent.
import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import {test} from 'node:test';
import {Worker} from 'node:worker_threads';
import 'webnn-emulator/register';

const text = readFileSync(new URL('../../tests/webnn/javascript/uncloneable.js', import.meta.url), 'utf8');

test('structuredClone() and postMessage()', async () => {
  const {port1} = new MessageChannel(), worker = new Worker('setInterval(() => {}, 1000)', {eval: true}), channel = new BroadcastChannel('b');
  const {count, wrong} = await (0, eval)(text)({
    MessagePort: value => port1.postMessage(value), Worker: value => worker.postMessage(value), BroadcastChannel: value => channel.postMessage(value),
  });
  port1.close();
  channel.close();
  await worker.terminate();
  assert.deepEqual(wrong, []);
  assert.equal(count, 7 * (3 * 4 + 1));
});
