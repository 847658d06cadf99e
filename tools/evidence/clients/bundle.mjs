// Bundles a client for a page: node bundle.mjs ESBUILD SITE CLIENT. The result is SITE/bundles/CLIENT.mjs.
import {createRequire} from 'node:module';
import {join} from 'node:path';

const [library, site, client] = process.argv.slice(2), {build} = createRequire(join(library, 'package.json'))('esbuild');
// An address on a content delivery network is the package that is installed: there is no network.
const network = {
  name: 'network',
  setup({onResolve}) {
    const filter = /^https:\/\/cdn\.jsdelivr\.net\/npm\//;
    onResolve({filter}, ({path}) => ({path: join(site, 'node_modules', path.replace(filter, '').replace(/(?<=.)@[^/]*/, ''))}));
  },
};
await build({
  stdin: {
    contents: `import {count} from './measure.mjs'; import run from './${client}.mjs';\nexport default order => { count(); return run(order); };`,
    resolveDir: join(site, 'programs'),
  },
  bundle: true, format: 'esm', platform: 'browser', logLevel: 'error', plugins: [network],
  // Code for Node in packages for both.
  external: ['fs', 'path', 'crypto', 'module', 'worker_threads', 'node:*'],
  outfile: join(site, 'bundles', `${client}.mjs`),
});
