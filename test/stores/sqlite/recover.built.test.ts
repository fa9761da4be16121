import { execFile } from 'node:child_process';
import {
  closeSync,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/clock.ts';
import { recoverQueue, type Recovery } from '../../../src/stores/open.ts';
import { NO_PROGRESS } from '../../../src/queue/delivery.ts';
import { BINARY, hooks, startHooks } from '../../end-to-end/hooks.ts';
import { LANE, newDelivery } from '../../queue/new-delivery.ts';
import { ask, run } from './ask.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { until } from '../../until.ts';
import { openQueueIn } from '../queue-file.ts';

const PAGE_BYTES = 4096;
const WAITING = 40;
const BODY = Buffer.from(JSON.stringify({ text: 'whole '.repeat(100) }));
const PROGRESS = { ...NO_PROGRESS, rounds: 1, firstAttemptAt: 1 };

/** Two delivered deliveries, a tried one, untried ones behind each other, two dead letters, and other records. */
async function filled(files: Readonly<Record<string, string>> = {}) {
  const folder = temporaryFolder(files);
  const [file, to] = [join(folder, 'hooks.db'), join(folder, 'new.db')];
  const { queue, close } = await openQueueIn(file);
  await queue.add([newDelivery('x', { body: BODY }), newDelivery('y', { body: BODY }), newDelivery('tried')]);
  const { claims } = await queue.claim({ ...LANE, limit: 3, leaseMs: 10_000 });
  for (const claim of claims.slice(0, 2)) {
    await queue.settle(claim, { state: 'delivered', progress: PROGRESS });
  }
  for (const claim of claims.slice(2)) {
    await queue.settle(claim, { state: 'retrying', dueAt: 7, progress: PROGRESS });
  }
  const fresh = Array.from({ length: WAITING - 1 }, (_, index) =>
    newDelivery(`d${index}`, { body: BODY, orderKeys: ['u'] }),
  );
  const dead = { state: 'dead', reason: 'rejected' } as const;
  await queue.add([...fresh, newDelivery('dead1', { ...dead }), newDelivery('dead2', { ...dead })]);
  await queue.add([], { source: 'web', messageIds: ['m1'] });
  await close();
  return { folder, file, to };
}

/** The first page of a table or an index. */
async function losePage(file: string, name: string): Promise<void> {
  const [page] = await ask(
    file,
    `SELECT pageno FROM dbstat WHERE name = '${name}' AND pagetype = 'leaf' ORDER BY path LIMIT 1`,
  );
  loseNumber(file, Number(page));
}

function loseNumber(file: string, page: number): void {
  const fd = openSync(file, 'r+');
  writeSync(fd, Buffer.alloc(PAGE_BYTES, 0xff), 0, PAGE_BYTES, (page - 1) * PAGE_BYTES);
  closeSync(fd);
}

/** The same unordered ids in each run: the loss with a page depends on the neighboring ids. */
const SEE_MANY = `
  WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 50000)
  INSERT INTO seen SELECT 'web', printf('%08X', (n * 2654435761) % 4294967296), n FROM numbers;
  PRAGMA wal_checkpoint(TRUNCATE)`;

const sum = ({ waiting, dead, delivered, unreadable }: Recovery): number =>
  waiting + dead + delivered + unreadable;

describe('recovering a queue', () => {
  it('copies everything except delivered deliveries, with order, progress and other records', async () => {
    const { file, to } = await filled();
    const before = readFileSync(file);
    expect(await recoverQueue(file, { to, clock: systemClock })).toEqual({
      waiting: WAITING,
      dead: 2,
      damaged: 0,
      delivered: 2,
      unreadable: 0,
      incomplete: [],
      from: file,
      to,
    });
    expect(readFileSync(file).equals(before)).toBe(true);
    const { inspection, queue, seen, close } = await openQueueIn(to);
    expect(await inspection.stats()).toMatchObject([{ pending: WAITING - 1, retrying: 1, dead: 2 }]);
    const { claims } = await queue.claim({ ...LANE, limit: 10, leaseMs: 1_000 });
    expect(claims.map(({ delivery }) => delivery.id)).toEqual(['d0', 'tried']);
    expect(await seen.among('web', ['m1', 'm2'])).toEqual(new Set(['m1']));
    await close();
  });

  it.each([
    ['deliveries', { isLost: true }],
    ['sqlite_autoindex_deliveries_1', { isLost: false }],
    ['waiting', { isLost: false }],
  ])('counts unreadable deliveries when a page of %s is lost', async (name, { isLost }) => {
    const { file, to } = await filled();
    await losePage(file, name);
    const recovery = await recoverQueue(file, { to, clock: systemClock });
    expect([recovery.unreadable > 0, sum(recovery)]).toEqual([isLost, WAITING + 4]);
    expect(recovery.waiting).toBeGreaterThan(WAITING / 2);
    expect(await ask(to, 'SELECT count(*) FROM queue')).toEqual([String(recovery.waiting + recovery.dead)]);
    expect(await ask(to, 'PRAGMA integrity_check')).toEqual(['ok']);
  });

  it('does not send a damaged body, even of a claimed delivery', async () => {
    const folder = temporaryFolder();
    const [file, to] = [join(folder, 'hooks.db'), join(folder, 'new.db')];
    const { queue, close } = await openQueueIn(file);
    await queue.add([newDelivery('claimed'), newDelivery('waits')]);
    await queue.claim({ ...LANE, limit: 1, leaseMs: 10_000 });
    await close();
    await run(file, 'UPDATE deliveries SET body = CAST(replace(body, 1, 2) AS BLOB)');
    const recovery = await recoverQueue(file, { to, clock: systemClock });
    expect(recovery).toMatchObject({ waiting: 0, dead: 2, damaged: 2 });
    expect(await ask(to, 'SELECT state, reason FROM queue')).toEqual(['dead|damaged', 'dead|damaged']);
  });

  it('reads 50,000 other rows, whenever the garbage collector runs', async () => {
    const { folder, file } = await filled();
    await run(file, SEE_MANY);
    const args = ['--expose-gc', '--max-semi-space-size=1', BINARY];
    const command = ['queue', 'recover', file, '--to', 'new.db'];
    await promisify(execFile)(process.execPath, [...args, ...command], { cwd: folder });
    expect(await ask(join(folder, 'new.db'), 'SELECT count(*) FROM seen')).toEqual(['50001']);
  });

  it('continues after lost pages of other tables', async () => {
    const { file, to } = await filled();
    await run(file, SEE_MANY);
    const pages = await ask(
      file,
      "SELECT pageno FROM dbstat WHERE name = 'seen' AND pagetype = 'leaf' ORDER BY path LIMIT -1 OFFSET 100",
    );
    for (const page of [pages[0], pages[40], pages[41], pages.at(-1)]) loseNumber(file, Number(page));
    const { incomplete } = await recoverQueue(file, { to, clock: systemClock });
    const [found] = await ask(to, 'SELECT count(*) FROM seen');
    expect([incomplete, Number(found) > 48_000]).toEqual([['messages seen'], true]);
  });

  it('leaves out a row whose parent is lost', async () => {
    const { file, to } = await filled();
    await run(
      file,
      `PRAGMA foreign_keys = OFF; INSERT INTO audience_partitions VALUES (7, 1, 0, 0, '', '');
       UPDATE deliveries SET order_keys = 'null' WHERE id = 'd3'`,
    );
    expect(await recoverQueue(file, { to, clock: systemClock })).toMatchObject({
      incomplete: ['audiences'],
      damaged: 1,
      waiting: WAITING - 1,
    });
  });

  it('reads truncated files', async () => {
    const folder = temporaryFolder();
    const file = join(folder, 'hooks.db');
    const { queue, close } = await openQueueIn(file);
    for (let n = 0; n < 300; n += 20) {
      await queue.add(Array.from({ length: 20 }, (_, index) => newDelivery(`d${n + index}`, { body: BODY })));
    }
    await close();
    const whole = readFileSync(file);
    for (let share = 0.42; share < 1.01; share += 0.01) {
      const [cut, to] = [join(folder, 'cut.db'), join(folder, `${share}.db`)];
      writeFileSync(cut, whole.subarray(0, Math.floor(whole.length * share)));
      const { waiting, unreadable } = await recoverQueue(cut, { to, clock: systemClock });
      // The first four tenths have the list of tables and their first pages.
      expect(waiting, `at ${share}`).toBeGreaterThanOrEqual(Math.floor(500 * (share - 0.4)) - 2);
      expect(waiting + unreadable, `at ${share}`).toBeGreaterThanOrEqual(299);
      expect(await ask(to, "SELECT count(*) FROM queue WHERE state = 'pending'")).toEqual([String(waiting)]);
    }
  });

  it('leaves nothing that opens when it is killed, and can be repeated', async () => {
    const { folder, file } = await filled();
    await run(file, SEE_MANY.replace('50000', '300000'));
    const args = ['queue', 'recover', file, '--to', 'new.db'];
    const recovery = startHooks(args, { cwd: folder });
    await until(() => existsSync(join(folder, 'new.db.part')), 'the recovery to begin');
    await recovery.stop('SIGKILL');
    expect(existsSync(join(folder, 'new.db'))).toBe(false);
    const partial = await hooks(['queue', 'stats', '--store', 'new.db.part'], { cwd: folder });
    expect([partial.code, partial.stderr]).toEqual([2, expect.stringContaining('is not complete')]);
    await run(file, 'DELETE FROM seen');
    expect(await hooks(args, { cwd: folder })).toMatchObject({ code: 0 });
    expect(readdirSync(folder).filter((name) => name.startsWith('new.db'))).toEqual(['new.db']);
  });

  it('keeps files of other programs', async () => {
    const { file, to } = await filled({ 'new.db.part': 'precious' });
    await expect(recoverQueue(file, { to, clock: systemClock })).rejects.toThrow('is not a SQLite database');
    expect(readFileSync(`${to}.part`, 'utf8')).toBe('precious');
  });

  it('is a command that says what was lost, and writes over nothing', async () => {
    const { folder, file } = await filled();
    await losePage(file, 'deliveries');
    const args = ['queue', 'recover', file, '--to', 'new.db', '-o', 'json'];
    const { code, stdout } = await hooks(args, { cwd: folder });
    const said = JSON.parse(stdout) as Recovery; // as the command prints it
    expect([code, said.unreadable > 0, sum(said)]).toEqual([1, true, WAITING + 4]);
    expect(await hooks(args, { cwd: folder })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Expected `--to` to be a new file') as string,
    });
    const missing = ['queue', 'recover', 'gone.db', '--to', 'newer.db'];
    expect((await hooks(missing, { cwd: folder })).code).toBe(2);
  });
});
