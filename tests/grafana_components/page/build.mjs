// Bundles the page: node build.mjs PACKAGES OUT, where PACKAGES has node_modules.
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const [packages, out] = process.argv.slice(2);
const require = createRequire(join(packages, 'package.json'));
const { build } = require('esbuild');
const here = dirname(fileURLToPath(import.meta.url));

const recorded = {
  name: 'uplot is recorded',
  setup({ onResolve }) {
    onResolve({ filter: /^uplot$/ }, () => ({ path: join(here, 'uplot.js') }));
    onResolve({ filter: /^uplot-itself$/ }, () => ({ path: join(dirname(require.resolve('uplot')), 'uPlot.esm.js') }));
  },
};

await build({
  entryPoints: [join(here, 'main.jsx')],
  bundle: true,
  minify: true,
  outdir: out,
  entryNames: 'main',
  format: 'iife',
  target: 'chrome120',
  jsx: 'automatic',
  nodePaths: [join(packages, 'node_modules')],
  define: { 'process.env.NODE_ENV': '"production"', global: 'window' },
  loader: { '.woff2': 'empty', '.woff': 'empty', '.ttf': 'empty', '.svg': 'dataurl' },
  plugins: [recorded],
  logLevel: 'error',
});
