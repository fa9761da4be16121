import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from 'undici';
import { describe, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const DIST = join(ROOT, 'dist');

type Packages = Readonly<Record<string, string>>;
const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  dependencies: Packages;
  optionalDependencies: Packages;
  peerDependencies: Packages;
};

/** `import('x')` and `require('x')`, not in a string; `from 'x'` of an import; a `createRequire` that is called at once. */
const LOADS = [
  /(?<!["'`])\b(?:require|import)\(\s*["'`]([\w@][^"'`]*)["'`]/g,
  /^(?:import|export)\b[^"'`;]*\bfrom\s*["']([\w@][^"']*)["']/gm,
  /\.createRequire\)\([^;]*?\)\(["'`]([\w@][^"'`]*)["'`]\)/g,
];

/** The packages that the built files load when they run. */
function loadedPackages(): string[] {
  const files = readdirSync(DIST, { recursive: true, encoding: 'utf8' }).filter((path) =>
    /\.c?js$/.test(path),
  );
  const specifiers = files.flatMap((path) => {
    const text = readFileSync(join(DIST, path), 'utf8');
    return LOADS.flatMap((pattern) => [...text.matchAll(pattern)].map(([, specifier = '']) => specifier));
  });
  return [...new Set(specifiers.map(packageOf))]
    .filter((name) => name !== 'hooks-cli' && !isBuiltin(name))
    .toSorted();
}

function packageOf(specifier: string): string {
  return specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/');
}

const { builtinModules } = createRequire(import.meta.url)('node:module') as typeof import('node:module');
const isBuiltin = (name: string): boolean => name.startsWith('node:') || builtinModules.includes(name);

describe('the packages that the build loads', () => {
  const { dependencies, optionalDependencies, peerDependencies } = manifest;
  const declared = Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies });

  it('has packages to check', () => {
    expect(loadedPackages()).toContain('undici');
  });

  it('loads no package that package.json does not declare', () => {
    expect(loadedPackages().filter((name) => !declared.includes(name))).toEqual([]);
  });

  it('declares only dependencies that dist/ loads', () => {
    expect(declared.filter((name) => !loadedPackages().includes(name))).toEqual([]);
  });

  it('finds the HTTP client of undici at the path that the transport loads', async () => {
    const client = await import('undici/lib/dispatcher/client.js');
    expect(client.default).toBe(Client);
  });

  it('lists bundled packages in a bill of materials and in the license file', () => {
    const bill = JSON.parse(readFileSync(join(DIST, 'sbom.json'), 'utf8')) as {
      components: readonly { name: string; version: string }[];
    };
    const licences = readFileSync(join(DIST, 'LICENCES.txt'), 'utf8');
    expect(bill.components.map(({ name }) => name)).toEqual([
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
      'preact',
    ]);
    for (const { name, version } of bill.components) expect(licences).toContain(`${name} ${version}`);
  });
});
