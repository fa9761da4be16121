import {
  appendFileSync,
  chmodSync,
  existsSync,
  linkSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { crc32 } from 'node:zlib';
import { beforeEach, describe, expect, it } from 'vitest';
import { FailedFile } from '../../src/report/failed-file.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';

let folder: string;
let path: string;

beforeEach(() => {
  folder = temporaryFolder();
  path = join(folder, 'failed.ndjson');
});

const NEW = { inputs: [] };

/** Writes a file of these entries. */
async function closedFile(...entries: string[]): Promise<FailedFile> {
  const file = await FailedFile.open(path, NEW);
  for (const entry of entries) await file.add(Buffer.from(entry));
  await file.close();
  return file;
}

describe('the file of failed entries', () => {
  it('has the bytes of each entry on its own line', async () => {
    await closedFile('{"a": 1.0}', '{\r\n  "b": "x\\ny"\n}', '{"c":"\u2028"}');
    expect(readFileSync(path, 'utf8')).toBe('{"a": 1.0}\n{  "b": "x\\ny"}\n{"c":"\u2028"}\n');
  });

  it('replaces an old file, also if nothing failed', async () => {
    writeFileSync(path, 'old');
    await closedFile();
    expect(readFileSync(path, 'utf8')).toBe('');
  });

  it('is accessible only to its owner, also if the old file was not', async () => {
    await closedFile();
    expect(statSync(path).mode & 0o777).toBe(0o600);
    chmodSync(path, 0o644);
    await (await FailedFile.open(path, { inputs: [], kept: { bytes: 0, crc32: 0 } })).close();
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it.each([true, false])(
    'is not written through a symbolic link (to an existing file: %s)',
    async (isThere) => {
      const precious = join(folder, 'precious');
      if (isThere) writeFileSync(precious, 'precious');
      symlinkSync(precious, path);
      for (const kept of [undefined, { bytes: 0, crc32: 0 }]) {
        await expect(FailedFile.open(path, { inputs: [], kept })).rejects.toMatchObject({
          message: 'Cannot be written: it is a symbolic link',
          file: path,
        });
      }
      expect(existsSync(precious) ? readFileSync(precious, 'utf8') : undefined).toBe(
        isThere ? 'precious' : undefined,
      );
    },
  );

  it('can be a link to a pipe or device, such as /dev/stdout', async () => {
    symlinkSync('/dev/null', path);
    await closedFile('{"a":1}');
  });

  it.each([
    ['{"b":2}\n{"c":3}\n', ''],
    ['{"b":2}\n{"c"', ''],
    ['{"b":2}\nnote\n{"c":3}\nnote', 'note\nnote\n'],
    ['{"b":2}\n{"other":\n', '{"other":\n'],
    ['', ''],
  ])('loses, of %j after its kept part, only lines of entries that are sent again', async (tail, left) => {
    const before = await closedFile('{"a":1}');
    appendFileSync(path, tail);
    const resent = Readable.from([Buffer.from('{"c":\n3}'), Buffer.from('{"b":2}'), Buffer.from('{"d":4}')]);
    const file = await FailedFile.open(path, { inputs: [], kept: before.position, resent });
    await file.add(Buffer.from('{"d":4}'));
    const { position } = file;
    await file.close();
    const text = `{"a":1}\n${left}{"d":4}\n`;
    expect(readFileSync(path, 'utf8')).toBe(text);
    expect(position).toEqual({ bytes: text.length, crc32: crc32(text) });
  });

  it('is continued by a resumed replay after the known failures', async () => {
    const before = await FailedFile.open(path, NEW);
    await before.add(Buffer.from('{"a":1}'));
    const { position } = before;
    await before.add(Buffer.from('{"sent":"again"}'));
    await before.addUnsent(Buffer.from('{"un":"sent"}'));
    await before.close();
    const resent = Readable.from([Buffer.from('{"un":"sent"}'), Buffer.from('{"sent":"again"}')]);
    const file = await FailedFile.open(path, { inputs: [], kept: position, resent });
    expect([file.hasKept, file.position]).toEqual([true, position]);
    await file.add(Buffer.from('{"a":2}'));
    await file.close();
    expect(readFileSync(path, 'utf8')).toBe('{"a":1}\n{"a":2}\n');
  });

  it.each([
    ['another replay has written to it', '{"a":3}\n{"a":4}\n'],
    ['it was shortened', '{"a"'],
    ['it is gone', undefined],
  ])('is overwritten if %s since', async (_what, content) => {
    const before = await closedFile('{"a":1}');
    if (content === undefined) rmSync(path);
    else writeFileSync(path, content);
    const file = await FailedFile.open(path, { inputs: [], kept: before.position });
    expect([file.hasKept, file.position.bytes]).toEqual([false, 0]);
    await file.close();
    expect(readFileSync(path, 'utf8')).toBe('');
  });

  it('is on the disk after a sync', async () => {
    const file = await FailedFile.open(path, NEW);
    for (const entry of ['{"a":1}', '{"a":2}']) void file.add(Buffer.from(entry));
    const { bytes } = file.position;
    await file.sync();
    expect(statSync(path).size).toBe(bytes);
    await file.close();
  });

  it('is written while the replay runs', async () => {
    const file = await FailedFile.open(path, NEW);
    await file.add(Buffer.from('{"a":1}'));
    await until(() => readFileSync(path, 'utf8') === '{"a":1}\n', 'the entry on the disk');
    await file.close();
  });

  it('has many entries in their order', async () => {
    const entries = Array.from({ length: 20_000 }, (_, n) => JSON.stringify({ n, pad: 'x'.repeat(50) }));
    await closedFile(...entries);
    expect(readFileSync(path, 'utf8') === `${entries.join('\n')}\n`).toBe(true);
  });

  it('is rejected if it is an input, under any name', async () => {
    const input = join(folder, 'input.ndjson');
    writeFileSync(input, '{"a":1}\n');
    linkSync(input, path);
    await expect(FailedFile.open(path, { inputs: [join(folder, 'other'), input] })).rejects.toThrow(
      'it is also an input',
    );
    expect(readFileSync(input, 'utf8')).toBe('{"a":1}\n');
  });

  it.skipIf(!existsSync('/dev/full'))('says when the disk is full', async () => {
    const file = await FailedFile.open('/dev/full', NEW);
    await file.add(Buffer.from('{"a":1}'));
    await expect(file.close()).rejects.toMatchObject({
      message: 'Cannot be written: the disk is full',
    });
  });
});
