import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, it } from 'vitest';
import { expandInputs } from '../../../src/replay/reading/expand-inputs.ts';
import { openInputs } from '../../../src/replay/reading/inputs.ts';
import { readEntries } from '../../../src/replay/reading/read-entries.ts';
import { entriesOf, shown } from './reading.ts';
import { asNobody } from '../../as-nobody.ts';
import { temporaryFolder } from '../../temporary-folder.ts';

let cwd: string;

beforeAll(() => {
  cwd = temporaryFolder();
  mkdirSync(join(cwd, 'folder'));
  for (const name of ['e10.json', 'e2.json', '[x].json', 'folder/deep.json', '.hidden.json']) {
    writeFileSync(join(cwd, name), `{"from":"${name}"}`);
  }
  writeFileSync(join(cwd, 'packed'), gzipSync('{"a":1}\n{"a":2}'));
  symlinkSync('loop', join(cwd, 'loop'));
});

const open = (...names: string[]) =>
  openInputs(names, { cwd, stdin: Readable.from([Buffer.from('{"a":1}')]) });

describe('names of inputs', () => {
  it('stay unchanged without patterns', async () => {
    expect(await expandInputs(['e2.json', '-', 'missing.json', 'e2.json'], cwd)).toEqual([
      'e2.json',
      '-',
      'missing.json',
      'e2.json',
    ]);
  });

  it('are expanded in natural order, without hidden files and folders', async () => {
    expect(await expandInputs(['e*.json', '**/deep.*'], cwd)).toEqual([
      'e2.json',
      'e10.json',
      'folder/deep.json',
    ]);
    expect(await expandInputs([join(cwd, 'e?.json')], cwd)).toEqual([join(cwd, 'e2.json')]);
  });

  it('name an existing file that looks like a pattern', async () => {
    expect(await expandInputs(['[x].json'], cwd)).toEqual(['[x].json']);
  });

  it('are rejected when a pattern matches nothing', async () => {
    await expect(expandInputs(['e2.json', 'none-*.json'], cwd)).rejects.toThrow(
      'No file matches none-*.json',
    );
  });

  it('are rejected when standard input is named twice', async () => {
    await expect(expandInputs(['-', 'a', '-'], cwd)).rejects.toThrow('got it twice');
  });
});

describe('opening inputs', () => {
  it('reads the entries of files and of standard input', async () => {
    const [file, packed, stdin] = await open('e2.json', 'packed', '-');
    expect(file && (await entriesOf(file)).map(shown)).toEqual(['1 {"from":"e2.json"}']);
    expect(packed && (await entriesOf(packed)).map(shown)).toEqual(['1 {"a":1}', '2 {"a":2}']);
    expect(stdin && (await entriesOf(stdin)).map(shown)).toEqual(['1 {"a":1}']);
    expect(stdin?.name).toBe('<stdin>');
  });

  it('identifies a file, but not standard input', async () => {
    const [file, stdin] = await open('e2.json', '-');
    expect(file?.identity).toMatchObject({ path: expect.stringMatching(/e2\.json$/), bytes: 18 });
    expect(stdin?.identity).toBeUndefined();
  });

  it('rejects unreadable inputs before reading any', async () => {
    await expect(open('e2.json', 'missing.json')).rejects.toMatchObject({
      message: 'No such file',
      file: 'missing.json',
    });
    await expect(open('folder/')).rejects.toMatchObject({
      message: 'Expected a file, got a folder',
      hint: "name its files: 'folder/*.json'",
    });
    await expect(open('e2.json/x')).rejects.toThrow('a part of its path is not a folder');
    await expect(open('loop')).rejects.toThrow('a symbolic link in its path is not followed');
  });

  it('rejects a file without read permission', async () => {
    const secret = join(cwd, 'secret.txt');
    writeFileSync(secret, '{}');
    chmodSync(secret, 0);
    chmodSync(cwd, 0o755);
    await expect(asNobody(() => open('secret.txt'))).rejects.toThrow(
      'Cannot be read: this user may not read it',
    );
  });

  it('closes inputs that are not read to their end', async () => {
    let isClosed = false;
    async function* chunks(): AsyncGenerator<Buffer> {
      try {
        yield Buffer.from('{"a":1}\n{"a":2}\n');
        yield Buffer.from('{"a":3}\n');
      } finally {
        isClosed = true;
      }
    }
    for await (const entries of readEntries({ name: 'in', open: chunks })) if (entries.length > 0) break;
    expect(isClosed).toBe(true);
  });

  it('accepts an empty device as an input without entries', async () => {
    const [nothing] = await open('/dev/null');
    expect(nothing && (await entriesOf(nothing))).toEqual([]);
  });

  it('ends silently when the signal aborts while standard input is idle', async () => {
    const stdin = new Readable({ read: () => undefined });
    const [input] = await openInputs(['-'], { cwd, stdin });
    const interruption = new AbortController();
    const reading = input && readEntries(input, interruption.signal).next();
    interruption.abort('SIGINT');
    expect(await reading).toEqual({ done: true, value: undefined });
  });
});
