import {once} from 'node:events';
import {readFileSync} from 'node:fs';
import {createServer} from 'node:http';
import {expect, test} from 'webnn-emulator/playwright';

const MODULE = readFileSync(new URL('../double.mjs', import.meta.url), 'utf8');
const WORKER = `import {double} from '/double.mjs'; postMessage([...await double([3])]);`;
const FILES = {
  '/': ['text/html', '<!doctype html><title>page</title>'],
  '/double.mjs': ['text/javascript', MODULE],
  '/worker.mjs': ['text/javascript', WORKER],
};

const server = createServer((request, response) => {
  const [type, body] = FILES[request.url] ?? ['text/plain', ''];
  response.writeHead(200, {'content-type': type, 'content-security-policy': "script-src 'self'"}).end(body);
});
test.beforeAll(() => once(server.listen(0, '127.0.0.1'), 'listening'));
test.afterAll(() => { server.close(); server.closeAllConnections(); });
test.beforeEach(({page}) => page.goto(`http://127.0.0.1:${server.address().port}/`));
const double = page => page.evaluate(async () => [...await (await import('/double.mjs')).double([1, 2.5])]);

test('a page computes', async ({page, webnn}) => {
  expect(await double(page)).toEqual([2, 5]);
  expect(webnn.counts()).toMatchObject({contexts: 1, builds: 1, computes: 1, refused: 0});
  expect(webnn.log().map(({member}) => member)).toContain('MLGraphBuilder.add');
});

test('faults and settings can change', async ({page, webnn}) => {
  webnn.set({faults: {failBuild: 1}});
  await expect(double(page)).rejects.toThrow(/OperationError/);
  webnn.set({profile: 'coreml', faults: {}});
  expect(await double(page)).toEqual([2, 5]);
  expect(await page.evaluate(async () => (await navigator.ml.createContext()).opSupportLimits().input.dataTypes)).not.toContain('int64');
});

test('a worker computes', async ({page, webnn}) => {
  const answer = page.evaluate(() => new Promise((resolve, reject) => {
    const worker = new Worker('/worker.mjs', {type: 'module'});
    worker.onmessage = ({data}) => resolve(data);
    worker.onerror = reject;
  }));
  expect(await answer).toEqual([6]);
  expect(webnn.counts().contexts).toBe(1);
});

test.describe('with options', () => {
  test.use({webnnOptions: {profile: 'coreml', faults: {refuse: 'npu'}}});
  test('the profile is the one of the options', async ({page}) => {
    expect(await page.evaluate(async () => (await navigator.ml.createContext()).opSupportLimits().input.dataTypes)).not.toContain('int64');
  });
});

test('a worker whose script another route answers is a fault', async ({page, webnn}) => {
  await page.route('**/worker.mjs', route => route.fulfill({contentType: 'text/javascript', body: 'postMessage(1)'}));
  await page.evaluate(() => new Promise(resolve => { new Worker('/worker.mjs', {type: 'module'}).onmessage = resolve; }));
  expect(webnn.faults()).toEqual([expect.stringContaining('worker.mjs has no emulator')]);
  test.fail();
});
