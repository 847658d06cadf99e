// Each environment and pool that vitest has, with an own Python process for each.
import {defineConfig} from 'vitest/config';
import {environment} from 'webnn-emulator/vitest';

const project = (name, test) => ({test: {name, root: import.meta.dirname, include: ['vitest/*.test.mjs'], testTimeout: 60_000, hookTimeout: 60_000, ...test}});
const ofBase = (base, pool) => project(`${base}-${pool}`, {environment, pool, environmentOptions: {webnn: {base, profile: 'coreml'}}});

export default defineConfig({
  test: {
    projects: [
      ...['node', 'jsdom', 'happy-dom'].map(base => ofBase(base, 'forks')),
      ofBase('jsdom', 'threads'),
      ofBase('jsdom', 'vmThreads'),
      ofBase('node', 'vmForks'),
      // No environment of ours: the file is imported before the tests.
      ...['forks', 'vmThreads'].map(pool => project(`register-${pool}`, {
        environment: 'jsdom', pool, setupFiles: ['webnn-emulator/register'], env: {WEBNN_PROFILE: 'coreml'},
      })),
    ],
  },
});
