import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { hooks } from '../end-to-end/hooks.ts';
import { answersOk } from '../hostile-receivers.ts';
import { started } from '../transport/sending.ts';
import { newPlace } from './examined.ts';
import { temporaryFolder } from '../temporary-folder.ts';

function dataUrl(code: string): string {
  return `data:text/javascript;base64,${Buffer.from(code).toString('base64')}`;
}

const HOOKS_OF_LOADER = `export async function resolve(specifier, context, next) {
  if (specifier === '@photostructure/sqlite') throw new Error('not installed');
  return next(specifier, context);
}`;
/** Makes Node look like version 20 without the package that replaces its SQLite. */
const PRELOAD = `import { register } from 'node:module';
Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.20.2' } });
register('${dataUrl(HOOKS_OF_LOADER)}');
`;
const NODE_OPTIONS = `--import=${dataUrl(PRELOAD)}`;
const FIX = /hint: +use Node .*npm install @photostructure\/sqlite@1/;

describe('a Node without SQLite', () => {
  it.each([
    ['fails for a config with a write key', 1, '✗', { writeKey: 'k' }],
    ['fails for a config with a store', 1, '✗', { store: 'sqlite:./queue.db' }],
    ['warns for a config with webhooks only', 0, '!', {}],
  ])('%s in doctor', async (_, exitCode, mark, config) => {
    const { url } = await started(answersOk());
    const cwd = await newPlace({ ...config, webhooks: [url], sharedSecret: 's3cret' });
    const env = { NODE_OPTIONS, HOOKS_DATA_DIR: join(cwd, 'data') };
    const { code, stdout } = await hooks(['doctor', '--allow-private'], { cwd, env });
    expect(stdout).toMatch(
      new RegExp(`^${mark} store +SQLite 3\\.51\\.3 or newer is required, and Node 20`, 'm'),
    );
    expect(stdout).toMatch(FIX);
    expect(code).toBe(exitCode);
  });

  it('is a note of init for a service, with the package to install', async () => {
    const service = await hooks(['init', '--for', 'service'], {
      cwd: temporaryFolder(),
      env: { NODE_OPTIONS },
    });
    expect(service.code).toBe(0);
    expect(service.stderr).toMatch(/^note: hooks serve keeps its queue in a file: SQLite 3\.51\.3/m);
    expect(service.stderr).toMatch(FIX);
    const receiver = await hooks(['init'], { cwd: temporaryFolder(), env: { NODE_OPTIONS } });
    expect(receiver.stderr).not.toContain('SQLite');
    const good = await hooks(['init', '--for', 'service'], { cwd: temporaryFolder() });
    expect(good.stderr).not.toContain('SQLite');
  });
});
