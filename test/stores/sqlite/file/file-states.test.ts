import {
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../../src/clock.ts';
import { examineQueue, openDurableQueue, recoverQueue } from '../../../../src/stores/open.ts';
import type { DurableQueue } from '../../../../src/stores/opened-queue.ts';
import { newDelivery } from '../../../queue/new-delivery.ts';
import { ask, run } from '../ask.ts';
import { newQueueFile, openQueueIn } from '../../queue-file.ts';

const openToRead = (store: string): Promise<DurableQueue> =>
  openDurableQueue({ store, dataDir: '', clock: systemClock, create: false, isReading: true });
const filesOf = (file: string): readonly string[] => readdirSync(dirname(file)).toSorted();

/** A queue as a killed process leaves it: its deliveries are only in the log. */
async function killed(): Promise<string> {
  const [file, copy] = [newQueueFile(), newQueueFile()];
  const { queue, close } = await openQueueIn(file);
  await queue.add(Array.from({ length: 300 }, (_, index) => newDelivery(`d${index}`)));
  for (const end of ['', '-wal', '-shm']) copyFileSync(file + end, copy + end);
  await close();
  return copy;
}

describe('a file of 0 bytes', () => {
  it('is rejected by commands that read, which write nothing', async () => {
    const file = newQueueFile();
    writeFileSync(file, '');
    await expect(openToRead(file)).rejects.toThrow(`Expected a queue in ${file}, got a file of 0 bytes`);
    await expect(examineQueue(file, systemClock)).rejects.toThrow('got a file of 0 bytes');
    await expect(recoverQueue(file, { to: `${file}-new`, clock: systemClock })).rejects.toThrow('of 0 bytes');
    expect([filesOf(file), statSync(file).size]).toEqual([[basename(file)], 0]);
  });

  it('is initialized by commands that add, which report it', async () => {
    const file = newQueueFile();
    writeFileSync(file, '');
    const { queue, loss, warnings, close } = await openQueueIn(file);
    expect([loss, await warnings()]).toEqual([`${file} had 0 bytes: a new queue was made in it`, [loss]]);
    await queue.add([newDelivery('d')]);
    await close();
    const again = await openToRead(file);
    expect([again.loss, (await again.inspection.stats()).length]).toEqual([undefined, 1]);
    await again.close();
  });

  it.each(['empty', 'gone'])('keeps its log if the file is %s', async (state) => {
    const file = await killed();
    const log = readFileSync(`${file}-wal`);
    if (state === 'empty') writeFileSync(file, '');
    else unlinkSync(file);
    const before = filesOf(file);
    for (const opening of [
      () => openQueueIn(file),
      () => recoverQueue(file, { to: newQueueFile(), clock: systemClock }),
    ]) {
      await expect(opening()).rejects.toThrow(
        `The queue ${file} is ${state}, but its log ${file}-wal is not`,
      );
    }
    if (state === 'empty') await expect(openToRead(file)).rejects.toThrow('but its log');
    expect([filesOf(file), readFileSync(`${file}-wal`).equals(log)]).toEqual([before, true]);
  });
});

describe('a new file', () => {
  it('has its tables before its name, and leaves nothing else behind', async () => {
    const file = newQueueFile();
    const opened = await Promise.all(Array.from({ length: 4 }, () => openQueueIn(file)));
    expect(opened.map(({ loss }) => loss)).toEqual([undefined, undefined, undefined, undefined]);
    // Before the log is written back.
    copyFileSync(file, `${file}-copy`);
    expect(Number(await ask(`${file}-copy`, 'SELECT count(*) FROM sqlite_schema'))).toBeGreaterThan(10);
    expect(filesOf(file).filter((name) => name.endsWith('.tmp'))).toEqual([]);
    for (const { close } of opened) await close();
  });
});

describe('a file with the stamp of hooks', () => {
  it.each([
    ['none of its tables', 'PRAGMA application_id = 0x686f6f6b'],
    ['none of its tables, and a version', 'PRAGMA application_id = 0x686f6f6b; PRAGMA user_version = 1'],
  ])('and %s is damaged', async (_, sql) => {
    const file = newQueueFile();
    await run(file, sql);
    await expect(openQueueIn(file)).rejects.toThrow('is damaged');
    await expect(openToRead(file)).rejects.toThrow('is damaged');
    await expect(examineQueue(file, systemClock)).rejects.toThrow('is damaged');
    expect(await ask(file, 'SELECT name FROM sqlite_schema')).toEqual([]);
  });
});

const MISSING = /^[1-9]\d* pages of recent changes are missing from the log of .*hooks\.db$/;

describe('a log that was deleted', () => {
  it.each([
    ['deleted', unlinkSync],
    ['truncated to its header', (log: string) => truncateSync(log, 32)],
    ['cut off in the middle', (log: string) => truncateSync(log, Math.floor(statSync(log).size / 2))],
  ])('is reported when it was %s and its index still counts pages', async (_, damage) => {
    const [file, other] = [await killed(), await killed()];
    for (const each of [file, other]) damage(`${each}-wal`);
    const { loss, close } = await openToRead(file);
    expect(loss).toMatch(MISSING);
    await close();
    const recovery = await recoverQueue(other, { to: `${other}.recovered`, clock: systemClock });
    expect(recovery.loss).toMatch(MISSING);
  });

  it('is reported by recover if a byte of it is wrong', async () => {
    const file = await killed();
    const log = readFileSync(`${file}-wal`);
    log.writeUInt8(log.readUInt8(log.length >> 1) ^ 1, log.length >> 1);
    writeFileSync(`${file}-wal`, log);
    const { loss } = await recoverQueue(file, { to: `${file}.recovered`, clock: systemClock });
    expect(loss).toMatch(/^[1-9]\d* commits? cut: /);
  });

  it('is not reported if its pages are in the file', async () => {
    const file = await killed();
    await (await openQueueIn(file)).close();
    for (const end of ['-wal', '-shm']) if (existsSync(file + end)) unlinkSync(file + end);
    const again = await openQueueIn(file);
    expect([again.loss, (await again.inspection.stats())[0]?.pending]).toEqual([undefined, 300]);
    await again.close();
    if (existsSync(`${file}-wal`)) unlinkSync(`${file}-wal`);
    const third = await openQueueIn(file);
    expect(third.loss).toBe(undefined);
    await third.close();
  });
});
