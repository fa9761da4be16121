import { spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import * as fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { openCheckpoint, type Checkpoint } from '../../../src/replay/checkpoint/checkpoint.ts';
import { IndexRanges } from '../../../src/replay/index-ranges.ts';
import { openInputs } from '../../../src/replay/reading/inputs.ts';
import { FakeClock } from '../../fake-clock.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { until } from '../../until.ts';

let cwd: string;
let folder: string;
let clock: FakeClock;
/** Closed before the next is opened: a replay that has ended has closed it. */
let opened: Checkpoint | undefined;

beforeEach(() => {
  cwd = temporaryFolder();
  folder = join(cwd, 'data', 'replays');
  clock = new FakeClock();
  writeFileSync(join(cwd, 'a.ndjson'), '{}\n{}\n{}\n');
});

async function open({
  resume = true,
  again = false,
  identity = 'https://s3cret@a.example/',
  files = ['a.ndjson'],
} = {}) {
  const inputs = await openInputs(files, { cwd, stdin: Readable.from([]) });
  await opened?.close();
  opened = undefined;
  opened = await openCheckpoint({ folder, inputs, identity, resume, again, clock });
  return opened;
}

/** What is in the folder besides the lock of the replay that is open. */
function filesKept(): string[] {
  return readdirSync(folder).filter((name) => !name.endsWith('.lock'));
}

/** A replay that settles these entries and is interrupted. */
async function interrupted(...settled: number[]): Promise<string> {
  const checkpoint = await open({ resume: false });
  for (const index of settled) checkpoint.mark(index);
  await checkpoint.finish({ isComplete: false });
  return join(folder, filesKept()[0] ?? '');
}

describe('a checkpoint', () => {
  it('knows the settled entries after an interruption', async () => {
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

  it('adds to the resumed entries', async () => {
    await interrupted(0);
    const second = await open();
    second.mark(1);
    await second.finish({ isComplete: false });
    const third = await open();
    expect([third.has(0), third.has(1), third.has(2)]).toEqual([true, true, false]);
  });

  it('says that the replay is finished when everything was settled', async () => {
    await interrupted(0);
    await (await open()).finish({ isComplete: true });
    const resumed = await open();
    expect(resumed.note).toContain('nothing to resume: this replay is finished');
    expect([resumed.has(0), resumed.resumed?.isFinished]).toEqual([true, true]);
  });

  it('starts again only if the replay is finished', async () => {
    await interrupted(0);
    const unfinished = await open({ again: true });
    expect(unfinished.has(0)).toBe(true);
    await unfinished.finish({ isComplete: true });
    const again = await open({ again: true });
    expect([again.has(0), again.note, again.resumed]).toEqual([false, undefined, undefined]);
    expect((await open()).note).toContain('no interrupted replay');
  });

  it('is removed as soon as the replay starts at the beginning', async () => {
    await interrupted(0);
    await open({ resume: false });
    expect(filesKept()).toEqual([]);
  });

  it('marks entries as settled only after their results are on the disk', async () => {
    const checkpoint = await open();
    let bytes = 10;
    const disk = new EventEmitter();
    const sync = (): Promise<void> => once(disk, 'synced').then(() => undefined);
    checkpoint.follow({ failed: { part: () => ({ path: '/f', bytes, crc32: 7 }), sync } });
    checkpoint.mark(0);
    const finished = checkpoint.finish({ isComplete: false });
    await new Promise(setImmediate);
    // What comes later is not of this moment.
    checkpoint.mark(1);
    bytes = 20;
    // Without the wait it would be there in a few milliseconds.
    await Promise.race([finished, delay(50)]);
    expect(filesKept()).toEqual([]);
    disk.emit('synced');
    await finished;
    const { settled, failed } = savedIn(folder);
    expect([settled, failed]).toEqual([[[0, 1]], { path: '/f', bytes: 10, crc32: 7 }]);
  });

  it('is not saved while results cannot be written', async () => {
    const checkpoint = await open();
    const part = { name: 'a.results', bytes: 1 };
    checkpoint.follow({
      results: { part: () => part, sync: () => Promise.reject(new Error('disk full')) },
    });
    checkpoint.mark(0);
    await expect(checkpoint.finish({ isComplete: false })).rejects.toThrow('disk full');
    expect(filesKept()).toEqual([]);
  });

  it('starts from the beginning without resume', async () => {
    await interrupted(0);
    expect((await open({ resume: false })).has(0)).toBe(false);
  });

  it('differs for another destination or other files', async () => {
    await interrupted(0);
    writeFileSync(join(cwd, 'b.ndjson'), '{}');
    expect((await open({ identity: 'elsewhere' })).has(0)).toBe(false);
    expect((await open({ files: ['a.ndjson', 'b.ndjson'] })).has(0)).toBe(false);
    expect((await open({ files: ['./a.ndjson'] })).has(0)).toBe(true);
  });

  it('starts from the beginning, and says so, when a file has changed', async () => {
    await interrupted(0);
    writeFileSync(join(cwd, 'a.ndjson'), '{}\n');
    const resumed = await open();
    expect(resumed.has(0)).toBe(false);
    expect(resumed.note).toMatch(
      /changed since the interrupted replay, so it starts at the beginning: .*a\.ndjson$/,
    );
  });

  it('contains no secret, and is readable by its owner only', async () => {
    const file = await interrupted(0);
    expect(file + readFileSync(file, 'utf8')).not.toContain('s3cret');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
  });

  it('is rejected when it is damaged', async () => {
    const file = await interrupted(0);
    const saved = JSON.parse(readFileSync(file, 'utf8')) as object;
    for (const text of [
      '',
      '{"checkpoint":1',
      '[]',
      'null',
      JSON.stringify({ ...saved, settled: [[3, 1]] }),
      JSON.stringify({ ...saved, checkpoint: 1 }),
      JSON.stringify({ ...saved, results: { name: '../elsewhere', bytes: 1 } }),
      JSON.stringify({ ...saved, failed: { path: '/f', bytes: 1 } }),
    ]) {
      writeFileSync(file, text);
      await expect(open()).rejects.toMatchObject({
        message: 'The checkpoint is damaged, or was written by another version of hooks',
        file,
      });
    }
  });

  it('is never read or written through a symbolic link', async () => {
    const file = await interrupted(0);
    const elsewhere = join(cwd, 'elsewhere.json');
    writeFileSync(elsewhere, readFileSync(file));
    rmSync(file);
    symlinkSync(elsewhere, file);
    await expect(open()).rejects.toThrow('a symbolic link in its path is not followed');
    const before = readFileSync(elsewhere, 'utf8');
    await interrupted(0, 1, 2);
    expect(readFileSync(elsewhere, 'utf8')).toBe(before);
    rmSync(folder, { recursive: true });
    symlinkSync(cwd, folder);
    await expect(open()).rejects.toThrow('Expected a real folder, got a symbolic link');
  });

  it('cannot resume an input that can be read only once', async () => {
    await expect(open({ files: ['-'] })).rejects.toThrow(
      'Cannot be resumed: this input can be read only once',
    );
    const readOnce = await open({ files: ['-', 'a.ndjson'], resume: false });
    readOnce.mark(0);
    await readOnce.finish({ isComplete: false });
    expect(() => filesKept()).toThrow('ENOENT');
  });

  it('is saved while the replay runs, at most once a second', async () => {
    const checkpoint = await open();
    checkpoint.mark(0);
    await clock.advance(1_000);
    checkpoint.mark(1);
    checkpoint.mark(2);
    await until(() => filesKept().some((name) => name.endsWith('.json')), 'the checkpoint');
    const [name = ''] = filesKept();
    expect(JSON.parse(readFileSync(join(folder, name), 'utf8'))).toMatchObject({ settled: [[0, 2]] });
    await checkpoint.finish({ isComplete: true });
    expect(filesKept()).toEqual([name]);
  });
});

describe('the folder of checkpoints', () => {
  const CHECKPOINT = 'a'.repeat(32);

  it('is cleared of the files of killed processes', async () => {
    const kept = `${CHECKPOINT}.${process.ppid}-00000000-1.tmp`;
    mkdirSync(folder, { recursive: true });
    const abandoned = [
      `${CHECKPOINT}.json.${await endedProcess()}-00000000-1.tmp`,
      `${CHECKPOINT}.${await endedProcess()}-00000000-1.results`,
    ];
    for (const name of [...abandoned, kept]) writeFileSync(join(folder, name), '');
    await open();
    expect(filesKept()).toEqual([kept]);
  });

  it('keeps the journal that a checkpoint names', async () => {
    const file = await interrupted(0);
    const name = `${basename(file, '.json')}.${await endedProcess()}-00000000-1.results`;
    writeFileSync(join(folder, name), '');
    writeFileSync(file, JSON.stringify({ ...savedIn(folder), results: { name, bytes: 0 } }));
    await open();
    expect(filesKept()).toContain(name);
    await open({ resume: false });
    expect(filesKept()).toEqual([]);
  });

  it('drops replays that finished a month ago, and keeps interrupted ones', async () => {
    await interrupted(0);
    await (await open()).finish({ isComplete: true });
    const [finished = ''] = filesKept();
    await open({ identity: 'elsewhere' }).then((other) => other.finish({ isComplete: false }));
    await clock.advance(afterDays(29) - clock.now());
    await open({ identity: 'a third' });
    expect(filesKept()).toHaveLength(2);
    await clock.advance(afterDays(31) - clock.now());
    await open({ identity: 'a third' });
    expect(filesKept()).toHaveLength(1);
    expect(filesKept()).not.toContain(finished);
  });
});

function savedIn(where: string): Record<string, unknown> {
  const [name = ''] = readdirSync(where).filter((each) => each.endsWith('.json'));
  return JSON.parse(readFileSync(join(where, name), 'utf8')) as Record<string, unknown>;
}

function afterDays(count: number): number {
  return Date.now() + count * 24 * 3_600_000;
}

/** The id of a process that is no more. */
async function endedProcess(): Promise<number> {
  const child = spawn('true');
  await once(child, 'close');
  return child.pid ?? 0;
}

describe('ranges of indexes', () => {
  it('are a set with one range per run', () => {
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
