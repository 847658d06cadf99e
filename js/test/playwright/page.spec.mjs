import {readFileSync} from 'node:fs';
import {expect, test} from 'webnn-emulator/playwright';

const MODULE = readFileSync(new URL('../double.mjs', import.meta.url), 'utf8');
const WORKER = `import {double} from '/double.mjs'; postMessage([...await double([3])]);`;
const FILES = {
  '/': ['text/html', '<!doctype html><title>page</title>'],
  '/double.mjs': ['text/javascript', MODULE],
  '/worker.mjs': ['text/javascript', WORKER],
};

test.beforeEach(async ({page}) => {
  await page.route('https://app.test/**', (route, request) => {
    const [contentType, body] = FILES[new URL(request.url()).pathname] ?? ['text/plain', ''];
    return route.fulfill({contentType, body, headers: {'content-security-policy': "script-src 'self'"}});
  });
  await page.goto('https://app.test/');
});
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
  test.skip(true, 'decided below');
  expect(webnn.faults()).toEqual([]);
});

test.describe('with options', () => {
  test.use({webnnOptions: {profile: 'coreml', faults: {refuse: 'gpu'}}});
  test('the profile is the one of the options', async ({page}) => {
    expect(await page.evaluate(async () => (await navigator.ml.createContext()).opSupportLimits().input.dataTypes)).not.toContain('int64');
  });
});
