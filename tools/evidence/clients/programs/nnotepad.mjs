// NNotepad's own tests, in a document.
import {Harness} from '../nnotepad/js/testharness.js';
import {measure} from './measure.mjs';

export default function run(order) {
  const failed = [];
  let passed = 0;
  const {error, ok} = Harness;
  Harness.error = message => { failed.push(message); error(message); };
  Harness.ok = message => { passed++; ok(message); };
  return measure(order, async () => {
    // The tests begin when the document has been read.
    const listen = document.addEventListener;
    const done = new Promise((resolve, reject) => {
      document.addEventListener = (type, start) => { setTimeout(() => start().then(resolve, reject)); };
    });
    await import('../nnotepad/js/tests.js');
    document.addEventListener = listen;
    await done;
  }, async () => {
    if (failed.length > 0) console.log(failed.join('\n'));
    return {passed: [passed], failed: [failed.length]};
  });
}
