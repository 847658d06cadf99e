// The fixtures of Playwright: `webnn`, the emulator of a test's pages, and the option `webnnOptions`.
'use strict';
const {test: base, expect} = require('@playwright/test');
const {Emulator} = require('./src/emulator.js');

const PERMISSION = 'local-network-access', NOWHERE = /^webnn-serve:$/;
const BLOCKED = 'the Content-Security-Policy of a page blocks the emulator: leave the option bypassCSP true';
const notReached = url => `the worker ${url} has no emulator: another route of the test answers its script`;

// Put the emulator into the pages and workers of a context, as webnn.serve.playwright does.
async function add(emulator, context, workers) {
  const {script, endpoint} = emulator.about, note = fault => emulator.ask('note', {fault});
  try {
    await context.grantPermissions([PERMISSION]);
  } catch (error) {
    // Older browsers, and those other than Chromium, do not know it.
    if (!/unknown permission/i.test(error.message)) throw error;
  }
  await context.addInitScript({content: script});
  context.on('requestfailed', request => {
    if (request.url().startsWith(endpoint) && request.failure()?.errorText === 'csp') note(BLOCKED);
  });
  if (!workers) return;
  // A page that waits cannot be told that there are routes from now on. So there is one from the beginning.
  await context.route(NOWHERE, route => route.fallback());
  const answered = new WeakSet();
  context.on('request', async request => {
    const announcement = request.url();
    if (!announcement.startsWith(`${endpoint}/worker?`)) return;
    const {url: address, type} = request.postDataJSON(), url = address.split('#')[0];
    const check = response => {
      // Workers that start at the same time may have the same script.
      if (response.url().split('#')[0] !== url || answered.has(response.request())) return;
      context.off('response', check);
      note(notReached(url));
    };
    context.on('response', check);
    const answer = async route => {
      context.off('response', check);
      answered.add(route.request());
      let response;
      try {
        response = await route.fetch();
      } catch {
        // There is no such server: another route of the test may answer.
        note(notReached(url));
        return route.fallback();
      }
      if (!response.ok()) return route.fulfill({response});
      const headers = response.headersArray().map(({name, value}) => [name, value]);
      const [kept, body] = emulator.ask('inject', {type, headers}, [await response.body()]);
      return route.fulfill({status: response.status(), headers: kept, body: Buffer.from(body)});
    };
    try {
      await context.route(each => each.href.split('#')[0] === url, answer, {times: 1});
    } finally {
      emulator.ask('pass', {announcement});
    }
  });
}

exports.test = base.extend({
  bypassCSP: true,
  webnnOptions: [{}, {option: true}],
  webnn: [async ({context, webnnOptions}, use) => {
    const {workers = true, ...options} = webnnOptions, emulator = new Emulator(options, true);
    await add(emulator, context, workers);
    await use(emulator);
    const faults = emulator.faults();
    if (faults.length > 0) throw new Error(`the emulator failed:\n${faults.join('\n')}`);
  }, {auto: true}],
});
exports.expect = expect;
