// The browser is the one that WEBNN_BROWSER names, or Playwright's own.
import {defineConfig} from '@playwright/test';

const executablePath = process.env.WEBNN_BROWSER || undefined;
export default defineConfig({
  testDir: 'playwright', reporter: 'list', timeout: 60_000, workers: 1, outputDir: '../node_modules/.cache/playwright',
  use: {launchOptions: {executablePath, args: ['--no-sandbox']}},
});
