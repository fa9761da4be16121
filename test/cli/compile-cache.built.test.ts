import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, lstatSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { BINARY } from '../end-to-end/hooks.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const IS_ROOT = process.geteuid?.() === 0;
const NOBODY = 65_534;

/** Runs the program with this cache folder. A problem of the folder must not affect the program. */
function run(caches: string, env: Readonly<Record<string, string>> = {}): void {
  const all = { PATH: process.env['PATH'], XDG_CACHE_HOME: caches, ...env };
  const { status, stdout, stderr } = spawnSync(process.execPath, [BINARY, '--version'], {
    env: all,
    encoding: 'utf8',
  });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  expect(stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
}

/** A cache folder that contains the folder of hooks with this mode. */
function prepared(mode: number): { readonly caches: string; readonly folder: string } {
  const caches = temporaryFolder();
  const folder = join(caches, 'hooks');
  mkdirSync(folder);
  chmodSync(folder, mode);
  return { caches, folder };
}

const modeOf = (path: string): number => lstatSync(path).mode & 0o777;

describe('the folder of compiled code', () => {
  it('is created for this user alone, and filled', () => {
    const caches = join(temporaryFolder(), 'caches');
    run(caches);
    expect(modeOf(join(caches, 'hooks'))).toBe(0o700);
    expect(readdirSync(join(caches, 'hooks'))).toHaveLength(1);
    run(caches);
  });

  it('is in the home folder without an absolute XDG_CACHE_HOME', () => {
    const home = temporaryFolder();
    run('caches', { HOME: home });
    const below = process.platform === 'darwin' ? ['Library', 'Caches'] : ['.cache'];
    expect(readdirSync(join(home, ...below, 'hooks'))).toHaveLength(1);
  });

  it('is not created with NODE_DISABLE_COMPILE_CACHE', () => {
    const caches = temporaryFolder();
    run(caches, { NODE_DISABLE_COMPILE_CACHE: '1' });
    expect(readdirSync(caches)).toEqual([]);
  });

  it.each([0o777, 0o770, 0o707, 0o750])('is not used if others can read or write it: %o', (mode) => {
    const { caches, folder } = prepared(mode);
    run(caches);
    expect(readdirSync(folder)).toEqual([]);
  });

  it('is not used if it is a link, which can lead anywhere', () => {
    const { folder } = prepared(0o700);
    const caches = temporaryFolder();
    symlinkSync(folder, join(caches, 'hooks'));
    run(caches);
    expect(readdirSync(folder)).toEqual([]);
  });

  it('is not used where others could replace it, except in a sticky folder', () => {
    const { caches, folder } = prepared(0o700);
    chmodSync(caches, 0o777);
    run(caches);
    expect(readdirSync(folder)).toEqual([]);
    chmodSync(caches, 0o1777);
    run(caches);
    expect(readdirSync(folder)).toHaveLength(1);
  });

  it.skipIf(!IS_ROOT)('is not used if it or its parent folder belongs to another user', () => {
    const other = prepared(0o700);
    chownSync(other.folder, NOBODY, NOBODY);
    run(other.caches);
    expect(readdirSync(other.folder)).toEqual([]);
    const around = prepared(0o700);
    chownSync(around.caches, NOBODY, NOBODY);
    run(around.caches);
    expect(readdirSync(around.folder)).toEqual([]);
  });

  it('is not needed if it cannot be created', () => {
    const file = join(temporaryFolder(), 'file');
    writeFileSync(file, '');
    run(file);
  });
});
