import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { eagerModules, leanPlugins, parserFiles } from './lean.js';

const ROOT = new URL('../..', import.meta.url).pathname;

/** Bundled, since their many small files take longer to find than to run: a third of the time of `hooks send`. */
const BUNDLED = ['chalk', 'commander', 'env-paths', 'is-safe-filename', 'ms', 'undici'];
const isPackage = (id) => /^(?:node:|[a-z@])/.test(id);
const isBundled = (id) => BUNDLED.some((name) => id === name || id.startsWith(`${name}/`));

/** Their licences ask for it; preact is in the inbox's page. */
const licences = {
  name: 'licences',
  generateBundle() {
    const texts = [...BUNDLED, 'preact'].map((name) => {
      const folder = join(ROOT, 'node_modules', name);
      const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
      return `${name}\n\n${readFileSync(join(folder, file), 'utf8')}`;
    });
    this.emitFile({ type: 'asset', fileName: 'LICENCES.txt', source: texts.join('\n\n') });
  },
};

/** The inbox's page: one script that needs nothing else, and its style, which the server puts into the page. */
const page = {
  input: { page: 'src/receiver/inbox/page/main.tsx' },
  platform: 'browser',
  transform: { jsx: { runtime: 'automatic', importSource: 'preact' }, target: 'es2023' },
  plugins: [
    {
      name: 'style',
      generateBundle() {
        const folder = join(ROOT, 'src/receiver/inbox/page/style');
        const sheets = readdirSync(folder).toSorted();
        const source = sheets.map((name) => readFileSync(join(folder, name), 'utf8')).join('');
        this.emitFile({ type: 'asset', fileName: 'page.css', source });
      },
    },
  ],
  output: {
    dir: 'dist/inbox',
    format: 'iife',
    minify: true,
    entryFileNames: '[name].js',
  },
};

const common = {
  platform: 'node',
  resolve: {
    alias: {
      undici$: join(ROOT, 'test/build/undici-client.js'),
      chalk$: join(ROOT, 'test/build/chalk.js'),
      '#supports-color': join(ROOT, 'test/build/no-supports-color.js'),
    },
  },
  external: (id) => isPackage(id) && !isBundled(id),
};

const library = {
  ...common,
  input: { index: 'src/index.ts', schemas: 'src/schemas.ts' },
  plugins: [...leanPlugins, licences],
  output: {
    dir: 'dist',
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: 'chunks/[name]-[hash].js',
    sourcemap: true,
  },
};

/** CommonJS, which Node loads in half the time. Each command is its own chunk, loaded when it runs. */
const program = {
  ...common,
  input: { 'cli/main': 'src/cli/main.ts' },
  plugins: [...leanPlugins, parserFiles, eagerModules],
  output: {
    dir: 'dist',
    format: 'cjs',
    entryFileNames: '[name].cjs',
    chunkFileNames: 'chunks/[name]-[hash].cjs',
    sourcemap: true,
    minify: true,
    comments: false,
    // One file each for what belongs together: to find a file takes longer than to read it.
    codeSplitting: {
      groups: [
        { name: 'base', tags: ['$initial'], priority: 9 },
        { name: 'sign', test: /cli\/commands\/sign\.ts$/, priority: 8 },
        { name: 'verify', test: /cli\/commands\/verify\.ts$/, priority: 7 },
        { name: 'send', test: /cli\/commands\/send\.ts$/, priority: 6 },
      ],
    },
  },
};

export default [library, program, page];
