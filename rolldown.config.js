// The build: every package runs as its authors released it. Packages stay imports, but for the small ones that the program bundles.
import { readdirSync, readFileSync } from 'node:fs';

/**
 * Bundled unpatched: their many small files take longer to find than to run (`npm run bench -- start-up`), or are mostly
 * source maps, declarations and tests: of ajv, prom-client and their dependencies, 0.5 of 8 MB is code that runs.
 */
const BUNDLES = [
  '@opentelemetry/api',
  '@streamparser/json',
  'ajv',
  'ajv-formats',
  'bintrees',
  'chalk',
  'commander',
  'env-paths',
  'fast-deep-equal',
  'fast-string-truncated-width',
  'fast-string-width',
  'fast-uri',
  'fast-wrap-ansi',
  'is-safe-filename',
  'json-schema-traverse',
  'ms',
  'prom-client',
  'tdigest',
];
const PAGE_BUNDLES = ['preact'];

const isBundled = (id) => BUNDLES.some((name) => id === name || id.startsWith(`${name}/`));
const isExternal = (id) => /^(?:node:|[a-z@])/.test(id) && !isBundled(id);

const library = {
  platform: 'node',
  input: { index: 'src/index.ts', schemas: 'src/schemas.ts', testing: 'src/testing/testing.ts' },
  external: isExternal,
  output: { dir: 'dist', format: 'esm', chunkFileNames: 'chunks/[name]-[hash].js', sourcemap: true },
};

/** The test library once more in CommonJS, for Jest, which loads nothing else. */
const testing = {
  platform: 'node',
  input: { testing: 'src/testing/testing.ts' },
  external: isExternal,
  output: {
    dir: 'dist',
    format: 'cjs',
    entryFileNames: '[name].cjs',
    chunkFileNames: 'chunks/[name]-[hash].cjs',
    sourcemap: true,
  },
};

/** CommonJS, which Node loads in half the time. A command's modules are chunks, loaded when the command runs. */
const program = {
  platform: 'node',
  input: { 'cli/main': 'src/cli/main.ts' },
  external: isExternal,
  // The entry is then the file that the chunks load too, not one more that hands it on.
  preserveEntrySignatures: 'allow-extension',
  // `sign` and `verify` load the settings only when no secret is given; all other commands load them at once.
  checks: { ineffectiveDynamicImport: false },
  plugins: [noticesOf([...BUNDLES, ...PAGE_BUNDLES])],
  output: {
    dir: 'dist',
    format: 'cjs',
    entryFileNames: '[name].cjs',
    chunkFileNames: 'chunks/[name]-[hash].cjs',
    sourcemap: true,
    minify: true,
    comments: false,
    // One file for what is always loaded together, and one for each command that starts most often; chalk by its name.
    codeSplitting: {
      groups: [
        { name: 'base', tags: ['$initial'], priority: 9 },
        // Includes the three modules for which `send` would otherwise load all of `verify`.
        {
          name: 'sign',
          test: /cli\/verbs\/sign\/command\.ts$|src\/clock\.ts$|flags\/header-lines\.ts$|signature\/sign\.ts$/,
          priority: 8,
        },
        { name: 'verify', test: /cli\/verbs\/verify\/command\.ts$/, priority: 7 },
        // `verify` needs the settings for a mismatch, and `send` always.
        { name: 'settings', test: /cli\/flags\/delivery\/settings\.ts$/, priority: 6 },
        { name: 'send', test: /cli\/verbs\/send\/command\.ts$/, priority: 5 },
        { name: 'chalk', test: /node_modules\/chalk\//, priority: 4 },
      ],
    },
  },
};

/** The inbox's page: one script and one style sheet, which the server writes into the page. */
const page = {
  platform: 'browser',
  input: { page: 'src/inbox/page/main.tsx' },
  transform: { jsx: { runtime: 'automatic', importSource: 'preact' }, target: 'es2023' },
  plugins: [styleSheet('src/inbox/page/style/')],
  output: { dir: 'dist/inbox', format: 'iife', minify: true, entryFileNames: '[name].js' },
};

export default [library, testing, program, page];

/** Joins the style sheets of a folder, in the order of their names, to `page.css`. */
function styleSheet(folder) {
  return {
    name: 'style-sheet',
    generateBundle() {
      const sheets = readdirSync(folder).toSorted();
      const source = sheets.map((name) => readFileSync(folder + name, 'utf8')).join('');
      this.emitFile({ type: 'asset', fileName: 'page.css', source });
    },
  };
}

/** Writes what a package that is bundled must ship with: its licence, and its line in the bill of materials (CycloneDX 1.5). */
function noticesOf(names) {
  const packages = names.map((name) => {
    const folder = `node_modules/${name}/`;
    const licence = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
    return {
      ...JSON.parse(readFileSync(`${folder}package.json`, 'utf8')),
      text: readFileSync(folder + licence, 'utf8'),
    };
  });
  const components = packages.map(({ name, version, license }) => ({
    type: 'library',
    name,
    version,
    licenses: [{ license: { id: license } }],
    purl: `pkg:npm/${name}@${version}`,
  }));
  const bill = { bomFormat: 'CycloneDX', specVersion: '1.5', version: 1, components };
  const licences = packages.map(({ name, version, text }) => `${name} ${version}\n\n${text}`).join('\n\n');
  return {
    name: 'notices',
    generateBundle() {
      this.emitFile({ type: 'asset', fileName: 'LICENCES.txt', source: licences });
      this.emitFile({ type: 'asset', fileName: 'sbom.json', source: `${JSON.stringify(bill, null, 2)}\n` });
    },
  };
}
