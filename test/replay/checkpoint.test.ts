import { readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import * as fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { openCheckpoint } from '../../src/replay/checkpoint.ts';
import { IndexRanges } from '../../src/replay/index-ranges.ts';
import { openInputs } from '../../src/replay/inputs.ts';
import { FakeClock } from '../fake-clock.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';

let cwd: string;
let folder: string;
let clock: FakeClock;

beforeEach(() => {
  cwd = temporaryFolder();
  folder = join(cwd, 'data', 'replays');
  clock = new FakeClock();
  writeFileSync(join(cwd, 'a.ndjson'), '{}\n{}\n{}\n');
});

async function open({ resume = true, identity = 'https://s3cret@a.example/', files = ['a.ndjson'] } = {}) {
  const inputs = await openInputs(files, { cwd, stdin: Readable.from([]) });
  return openCheckpoint({ folder, inputs, identity, resume, clock });
}

/** A replay that settles these entries and is interrupted. */
async function interrupted(...settled: number[]): Promise<string> {
  const checkpoint = await open({ resume: false });
  for (const index of settled) checkpoint.mark(index);
  await checkpoint.finish({ isComplete: false });
  return join(folder, readdirSync(folder)[0] ?? '');
}

describe('a checkpoint', () => {
  it('knows after an interruption what was settled', async () => {
    await interrupted(0, 1, 5);
    const resumed = await open();
    expect([0, 1, 2, 4, 5, 6].map((index) => resumed.has(index))).toEqual([
      true,
      true,
      false,
      false,
      true,
      false,
    ]);
    expect(resumed.note).toBeUndefined();
  });

  it('adds to what it resumed', async () => {
    await interrupted(0);
    const second = await open();
    second.mark(1);
    await second.finish({ isComplete: false });
    const third = await open();
    expect([third.has(0), third.has(1), third.has(2)]).toEqual([true, true, false]);
  });

  it('is gone when everything was settled', async () => {
    await interrupted(0);
    await (await open()).finish({ isComplete: true });
    expect(readdirSync(folder)).toEqual([]);
    expect((await open()).note).toContain('no interrupted replay of these inputs to this place is known');
  });

  it('starts anew without resume', async () => {
    await interrupted(0);
    expect((await open({ resume: false })).has(0)).toBe(false);
  });

  it('is another for another place or other files', async () => {
    await interrupted(0);
    writeFileSync(join(cwd, 'b.ndjson'), '{}');
    expect((await open({ identity: 'elsewhere' })).has(0)).toBe(false);
    expect((await open({ files: ['a.ndjson', 'b.ndjson'] })).has(0)).toBe(false);
    expect((await open({ files: ['./a.ndjson'] })).has(0)).toBe(true);
  });

  it('starts anew, and says so, when a file has changed', async () => {
    await interrupted(0);
    writeFileSync(join(cwd, 'a.ndjson'), '{}\n');
    const resumed = await open();
    expect(resumed.has(0)).toBe(false);
    expect(resumed.note).toMatch(
      /changed since the interrupted replay, so it starts at the beginning: .*a\.ndjson$/,
    );
  });

  it('keeps no secret, and is for its owner only', async () => {
    const file = await interrupted(0);
    expect(file + readFileSync(file, 'utf8')).not.toContain('s3cret');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
  });

  it('is refused when it is damaged', async () => {
    const file = await interrupted(0);
    const saved = JSON.parse(readFileSync(file, 'utf8')) as object;
    for (const text of [
      '',
      '{"checkpoint":1',
      '[]',
      'null',
      JSON.stringify({ ...saved, settled: [[3, 1]] }),
    ]) {
      writeFileSync(file, text);
      await expect(open()).rejects.toMatchObject({ message: 'is not a checkpoint that can be read', file });
    }
  });

  it('is never read or written through a symbolic link', async () => {
    const file = await interrupted(0);
    const elsewhere = join(cwd, 'elsewhere.json');
    writeFileSync(elsewhere, readFileSync(file));
    rmSync(file);
    symlinkSync(elsewhere, file);
    await expect(open()).rejects.toThrow('cannot be used (ELOOP)');
    const before = readFileSync(elsewhere, 'utf8');
    await interrupted(0, 1, 2);
    expect(readFileSync(elsewhere, 'utf8')).toBe(before);
    rmSync(folder, { recursive: true });
    symlinkSync(cwd, folder);
    await expect(open()).rejects.toThrow('is a symbolic link');
  });

  it('cannot be had for what is read only once', async () => {
    await expect(open({ files: ['-'] })).rejects.toThrow('cannot be resumed from: it can be read only once');
    const once = await open({ files: ['-', 'a.ndjson'], resume: false });
    once.mark(0);
    await once.finish({ isComplete: false });
    expect(() => readdirSync(folder)).toThrow('ENOENT');
  });

  it('is saved while the replay runs, at most once a second', async () => {
    const checkpoint = await open();
    checkpoint.mark(0);
    await clock.advance(1_000);
    checkpoint.mark(1);
    checkpoint.mark(2);
    await until(() => readdirSync(folder).some((name) => name.endsWith('.json')), 'the checkpoint');
    const [name = ''] = readdirSync(folder);
    expect(JSON.parse(readFileSync(join(folder, name), 'utf8'))).toMatchObject({ settled: [[0, 2]] });
    await checkpoint.finish({ isComplete: true });
    expect(readdirSync(folder)).toEqual([]);
  });
});

describe('ranges of indexes', () => {
  it('are a set, kept with one range for each run', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(40)), (indexes) => {
        const ranges = new IndexRanges();
        for (const index of indexes) ranges.add(index);
        const expected = new Set(indexes);
        const again = new IndexRanges(JSON.parse(JSON.stringify(ranges)) as [number, number][]);
        for (let index = -1; index < 42; index++) {
          expect(ranges.has(index)).toBe(expected.has(index));
          expect(again.has(index)).toBe(expected.has(index));
        }
        const runs = [...expected].filter((index) => !expected.has(index - 1));
        expect(ranges.toJSON()).toHaveLength(runs.length);
      }),
    );
  });
});
