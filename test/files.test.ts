import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { makeFolder, nameNewFile, writeInOnePiece } from '../src/files.ts';
import { temporaryFolder } from './temporary-folder.ts';

let folder: string;
beforeEach(() => {
  folder = temporaryFolder();
});

describe('makeFolder', () => {
  it('creates parent folders with the same mode, and keeps existing files', () => {
    const path = join(folder, 'a/b/c');
    makeFolder(path, 0o700);
    for (const each of ['a', 'a/b', 'a/b/c']) expect(statSync(join(folder, each)).mode & 0o777).toBe(0o700);
    makeFolder(path, 0o755);
    expect(statSync(path).mode & 0o777).toBe(0o700);
    makeFolder('/', 0o700);
  });

  it.each([
    ['file', 'EEXIST'],
    ['file/folder', 'ENOTDIR'],
    ['file/folder/folder', 'ENOTDIR'],
  ])('throws for %s instead of a folder', (path, code) => {
    writeFileSync(join(folder, 'file'), '');
    expect(() => makeFolder(join(folder, path), 0o700)).toThrow(code);
  });

  // In /proc, `mkdir -p` of Node would loop forever.
  it.skipIf(process.platform !== 'linux')('throws if the system does not create a folder', () => {
    expect(() => makeFolder('/proc/nowhere/folder', 0o700)).toThrow('ENOENT');
  });
});

describe('writeInOnePiece', () => {
  it('writes a file for its owner only, and leaves no other file', () => {
    writeInOnePiece(join(folder, 'new'), 'text');
    expect([readdirSync(folder), statSync(join(folder, 'new')).mode & 0o777]).toEqual([['new'], 0o600]);
  });

  it('replaces a file only if asked to', () => {
    const path = join(folder, 'old');
    writeFileSync(path, 'old');
    expect(() => writeInOnePiece(path, 'new')).toThrow('EEXIST');
    expect([readFileSync(path, 'utf8'), readdirSync(folder)]).toEqual(['old', ['old']]);
    writeInOnePiece(path, 'new', { isReplaced: true });
    expect([readFileSync(path, 'utf8'), readdirSync(folder)]).toEqual(['new', ['old']]);
  });

  it('throws the error of a missing folder', () => {
    expect(() => nameNewFile(join(folder, 'none'), join(folder, 'gone/new'))).toThrow('ENOENT');
  });
});
