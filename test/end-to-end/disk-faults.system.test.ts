// Needs strace, mount.
import {
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, describe, expect, it } from 'vitest';
import { loadSqlite, type Database } from '../../src/stores/sqlite/file/sqlite.ts';
import { MAY_MOUNT, MAY_STRIKE, SmallDisk, strike } from '../failing-disk.ts';
import { basic } from '../service/serving.ts';
import { ask } from '../stores/sqlite/ask.ts';
import { hooks, startHooks, type HooksResult, type RunningHooks } from './hooks.ts';
import { nextJson } from './running-command.ts';
import { jsonLines, receiving, SECRET, type Receiving } from './receiving.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';

/** Tests wait ten seconds for a lock, and until a service is ready again. */
const PATIENT = { timeout: 90_000 };
const WRITE_KEY = 'wk-of-the-web';
/** More than a page of the file, so that each call needs new space. */
const PADDING = 'x'.repeat(5_000);

/** Number of messages that are retried while the disk is full. */
const COUNT = 40;

const disks: SmallDisk[] = [];
afterAll(() => {
  for (const disk of disks) disk.remove();
});

interface Answer {
  readonly status: number;
  readonly code?: string;
  readonly retryAfter: string | null;
}

/** A running `hooks serve` with a data folder, and the calls that it accepted. */
class Serving {
  readonly file: string;
  readonly receiver: Receiving;
  /** The ids of the messages that got a 200. */
  readonly acknowledged: string[] = [];
  /** The ids of the messages accepted before the disk works again. On a full disk, delivered ones may be deleted. */
  acknowledgedEarly: readonly string[] = [];
  readonly #running: RunningHooks;
  readonly #url: string;

  constructor(running: RunningHooks, parts: { url: string; file: string; receiver: Receiving }) {
    this.#running = running;
    this.#url = parts.url;
    this.file = parts.file;
    this.receiver = parts.receiver;
  }

  async call(messageId: string): Promise<Answer> {
    const batch = [{ type: 'track', userId: 'u', event: 'e', messageId, properties: { PADDING } }];
    const answer = await this.#post('/v1/batch', { batch });
    if (answer.status === 200) this.acknowledged.push(messageId);
    return answer;
  }

  askForDeletion(): Promise<Answer> {
    return this.#post('/v1/deletions', { userIds: ['u'] });
  }

  async status(path: '/readyz' | '/healthz'): Promise<number> {
    return (await fetch(`${this.#url}${path}`)).status;
  }

  async untilReady(): Promise<void> {
    await until(async () => (await this.status('/readyz')) === 200, 'the service to be ready', {
      seconds: 30,
    });
  }

  /** The complete lines of the log. */
  get log(): readonly Record<string, unknown>[] {
    const said = this.#running.stderr();
    return jsonLines(said.slice(0, said.lastIndexOf('\n') + 1));
  }

  get pid(): number {
    return this.#running.child.pid ?? -1;
  }

  kill(): Promise<HooksResult> {
    return this.#running.stop('SIGKILL');
  }

  /** Kills the service, and expects that the file has every acknowledged message once. */
  async expectAllStored({ mayForget = [] }: { mayForget?: readonly string[] } = {}): Promise<void> {
    await this.kill();
    const stored = await ask(this.file, 'SELECT message_id FROM deliveries');
    const kept = this.acknowledged.filter((id) => !mayForget.includes(id));
    expect(stored).toEqual(expect.arrayContaining(kept));
    expect(new Set(stored).size).toBe(stored.length);
    expect(await ask(this.file, 'PRAGMA integrity_check')).toEqual(['ok']);
  }

  async #post(path: string, body: object): Promise<Answer> {
    const response = await fetch(`${this.#url}${path}`, {
      method: 'POST',
      headers: basic(WRITE_KEY),
      body: JSON.stringify(body),
    });
    const { code } = (await response.json()) as { code?: string };
    const retryAfter = response.headers.get('retry-after');
    return { status: response.status, ...(code !== undefined && { code }), retryAfter };
  }
}

async function startServe(dataDir: string, respond = '200'): Promise<Serving> {
  const receiver = await receiving({ secret: SECRET, respond });
  const running = startHooks(['serve', '--port', '0', '-o', 'json', '--allow-private'], {
    env: environment(dataDir, receiver.url),
    timeoutMs: 90_000,
  });
  const { url } = await nextJson<{ url: string }>(running);
  return new Serving(running, { url, file: join(dataDir, 'hooks.db'), receiver });
}

function environment(dataDir: string, url = 'http://127.0.0.1:9/'): Record<string, string> {
  return {
    HOOKS_URL: url,
    HOOKS_SECRET: SECRET,
    HOOKS_WRITE_KEY: WRITE_KEY,
    HOOKS_DATA_DIR: dataDir,
    HOOKS_ALLOW_PRIVATE: 'true',
  };
}

const UNAVAILABLE: Answer = { status: 503, code: 'unavailable', retryAfter: '5' };

/** Calls before, during and after a failure of the disk. Repeats the calls during the failure, as clients do. */
async function callThrough(serve: Serving, fail: () => Promise<() => Promise<void>>): Promise<void> {
  expect(await serve.call('before')).toMatchObject({ status: 200 });
  const underWay = Promise.all(Array.from({ length: 20 }, (_, index) => serve.call(`under-way-${index}`)));
  const mend = await fail();
  const meanwhile = ['meanwhile-1', 'meanwhile-2'];
  const answers = [...meanwhile.map((id) => serve.call(id)), serve.askForDeletion()];
  expect(await Promise.all(answers)).toEqual([UNAVAILABLE, UNAVAILABLE, UNAVAILABLE]);
  expect([await serve.status('/readyz'), await serve.status('/healthz')]).toEqual([503, 200]);
  const others = (await underWay).filter(({ status }) => status !== 200 && status !== 503);
  expect(others).toEqual([]);
  serve.acknowledgedEarly = [...serve.acknowledged];
  await mend();
  await serve.untilReady();
  for (const id of [...meanwhile, 'after']) expect(await serve.call(id)).toMatchObject({ status: 200 });
}

async function expectDelivered({ receiver, acknowledged }: Serving): Promise<void> {
  const isDelivered = (): boolean => {
    const ids = new Set(receiver.field('messageId'));
    return acknowledged.every((id) => ids.has(id));
  };
  await until(isDelivered, 'all that was acknowledged to be delivered', { seconds: 30 });
}

describe.concurrent('hooks serve', PATIENT, () => {
  it.skipIf(!MAY_STRIKE).each([
    ['is full', 'pwrite64,ftruncate,fallocate:error=ENOSPC', 'cannot be written: the disk is full'],
    ['has become read-only', 'pwrite64,ftruncate:error=EROFS', 'the disk reports an error'],
    ['fails to write', 'pwrite64:error=EIO', 'the disk reports an error'],
    ['fails to sync', 'fsync,fdatasync:error=EIO', 'the disk reports an error'],
  ])('responds with 503 while its disk %s, and continues when the disk works again', async (...given) => {
    const [, fault, sentence] = given;
    const serve = await startServe(temporaryFolder());
    await callThrough(serve, () => strike(serve.pid, fault));
    expect(serve.log).toContainEqual(
      expect.objectContaining({
        level: 'error',
        msg: 'messages could not be stored',
        error: expect.stringMatching(`^The queue ${serve.file} .*${sentence}$`),
        hint: expect.stringMatching(/make room|check the disk/),
      }),
    );
    const events = serve.log.map(({ msg }) => msg);
    expect(events).toContain('storage unavailable');
    expect(events).toContain('storage available again');
    await expectDelivered(serve);
    await serve.expectAllStored({ mayForget: fault.includes('ENOSPC') ? serve.acknowledgedEarly : [] });
  });

  it.skipIf(!MAY_MOUNT)('responds with 503 on a full disk, and continues when there is room', async () => {
    const disk = await smallDisk();
    const serve = await startServe(disk.path);
    await callThrough(serve, async () => {
      disk.fill();
      return async () => rmSync(join(disk.path, 'filler'));
    });
    expect(serve.log).toContainEqual(
      expect.objectContaining({ error: `The queue ${serve.file} cannot be written: the disk is full` }),
    );
    await expectDelivered(serve);
    await serve.expectAllStored({ mayForget: serve.acknowledgedEarly });
  });

  it.skipIf(!MAY_MOUNT)('delivers its queue on a disk that other programs have filled', async () => {
    const disk = await smallDisk(16);
    const serve = await startServe(disk.path, `503x${COUNT},200`);
    const ids = Array.from({ length: COUNT }, (_, index) => `m${index}`);
    for (const { status } of await Promise.all(ids.map((id) => serve.call(id)))) expect(status).toBe(200);
    disk.fill();
    expect([await serve.status('/readyz'), await serve.call('large')]).toEqual([503, UNAVAILABLE]);
    // Asks seldom, because the log cannot be overwritten while another process reads, and it has little room to grow.
    const settled = async (): Promise<boolean> => {
      await delay(500);
      const left = 'SELECT (SELECT count(*) FROM waiting) + (SELECT count(*) FROM claims)';
      return (await ask(serve.file, left))[0] === '0';
    };
    await until(settled, 'all to be settled on the full disk', { seconds: 60 });
    await expectDelivered(serve);
    expect(serve.receiver.requests.length).toBe(2 * COUNT);
    expect([await serve.status('/readyz'), await serve.call('more')]).toEqual([503, UNAVAILABLE]);
    rmSync(join(disk.path, 'filler'));
    await serve.untilReady();
    expect(await serve.call('after')).toMatchObject({ status: 200 });
    await serve.kill();
    expect(await ask(serve.file, 'PRAGMA integrity_check')).toEqual(['ok']);
  });

  it.skipIf(!MAY_MOUNT)(
    'is ready as long as it accepts calls, on a disk that its own calls fill',
    async () => {
      const disk = await smallDisk();
      const serve = await startServe(disk.path, 'timeout');
      const told: (readonly [number, number])[] = [];
      for (let index = 0; index < 400 && told.at(-1)?.[0] !== 503; index++) {
        const { status } = await serve.call(`m${index}`);
        told.push([status, await serve.status('/readyz')]);
      }
      const refused = told.findIndex(([status]) => status === 503);
      expect(refused).toBeGreaterThan(10);
      expect(told[refused]).toEqual([503, 503]);
      for (let more = 0; more < 20; more++) {
        expect([(await serve.call(`more${more}`)).status, await serve.status('/readyz')]).toEqual([503, 503]);
      }
      await serve.expectAllStored();
    },
  );

  it('responds with 503 while another program locks the file, and continues afterwards', async () => {
    const serve = await startServe(temporaryFolder());
    await callThrough(serve, async () => {
      const other = await openOther(serve.file);
      other.exec('BEGIN EXCLUSIVE');
      return async () => other.close();
    });
    expect(serve.log).toContainEqual(
      expect.objectContaining({ error: `The queue ${serve.file} is locked by another program` }),
    );
    await expectDelivered(serve);
    await serve.expectAllStored();
  });

  it('responds with 503 with a damaged file, and continues with a new file when that is moved away', async () => {
    const serve = await startServe(temporaryFolder());
    await callThrough(serve, async () => {
      await damage(serve.file, 'lanes');
      return async () => {
        for (const each of ['', '-wal', '-shm']) renameSync(serve.file + each, `${serve.file}.aside${each}`);
        serve.acknowledged.length = 0; // they are in the file that was moved away
      };
    });
    expect(serve.log).toContainEqual(
      expect.objectContaining({
        error: `The queue ${serve.file} is damaged`,
        hint: expect.stringContaining('hooks queue recover FILE --to NEW'),
      }),
    );
    expect(serve.acknowledged).toContain('after');
    await expectDelivered(serve);
    await serve.expectAllStored();
  });

  it('does not acknowledge a call that it would write to a removed file', async () => {
    const dataDir = temporaryFolder();
    const serve = await startServe(dataDir);
    expect(await serve.call('before')).toMatchObject({ status: 200 });
    for (const each of ['', '-wal', '-shm']) rmSync(serve.file + each);
    expect(await serve.call('first')).toEqual(UNAVAILABLE);
    const error = `The queue ${serve.file} was removed or replaced while it was in use`;
    await until(() => serve.log.some((line) => line['error'] === error), 'the log to say so');
    expect(await serve.call('second')).toMatchObject({ status: 200 });
    serve.acknowledged.shift();
    await serve.expectAllStored();
  });
});

async function smallDisk(mebibytes = 4): Promise<SmallDisk> {
  const disk = new SmallDisk(join(temporaryFolder(), 'disk'), mebibytes * 1024 * 1024);
  disks.push(disk);
  return disk;
}

async function openOther(file: string): Promise<Database> {
  const { DatabaseSync } = await loadSqlite();
  return new DatabaseSync(file, { timeout: 5_000 });
}

/** Overwrites the first page of a table, and makes processes that have the file open read it again. */
async function damage(file: string, table: string): Promise<void> {
  const other = await openOther(file);
  try {
    other.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get();
    const { rootpage = 0 } =
      other.prepare('SELECT rootpage FROM sqlite_master WHERE name = ?').get(table) ?? {};
    const descriptor = openSync(file, 'r+');
    writeSync(descriptor, Buffer.alloc(4_096, 0xa5), 0, 4_096, 4_096 * (Number(rootpage) - 1));
    closeSync(descriptor);
    other.exec('UPDATE store_checks SET checked_at = checked_at + 1');
  } finally {
    other.close();
  }
}

const STARTS = [
  ['serve', '--port', '0'],
  ['worker'],
  ['send', 'track', '--event', 'e', '--user-id', 'u', '--queue'],
  ['delete', 'u', '--queue'],
  ['queue', 'list'],
];
/** The commands that write, which are all except the last. */
const WRITERS = STARTS.slice(0, -1);

async function expectRejected(
  dataDir: string,
  sentence: string,
  { commands = STARTS, hint = '\\S' } = {},
): Promise<void> {
  for (const args of commands) {
    const { code, stdout, stderr } = await hooks(args, { env: environment(dataDir) });
    expect([args[0], code, stdout, stderr]).toEqual([
      args[0],
      2,
      '',
      expect.stringMatching(
        new RegExp(`^error: The queue ${dataDir}/hooks.db ${sentence}\nhint: .*${hint}.*\n$`),
      ),
    ]);
  }
}

/** Returns a data folder with a waiting message. */
async function usedFolder(path?: string): Promise<string> {
  const dataDir = path ?? temporaryFolder();
  const args = ['send', 'track', '--event', 'e', '--user-id', 'u', '--queue'];
  expect(await hooks(args, { env: environment(dataDir) })).toMatchObject({ code: 0 });
  return dataDir;
}

describe.concurrent('a command that needs the queue rejects a file that', PATIENT, () => {
  it('is no database', async () => {
    const dataDir = await usedFolder();
    const descriptor = openSync(join(dataDir, 'hooks.db'), 'r+');
    writeSync(descriptor, 'garbage in the header');
    closeSync(descriptor);
    await expectRejected(dataDir, 'is not a SQLite database', { hint: '--store' });
  });

  it('is a database of another program', async () => {
    const dataDir = temporaryFolder();
    const file = join(dataDir, 'hooks.db');
    const theirs = await openOther(file);
    theirs.exec('CREATE TABLE users (name TEXT)');
    theirs.close();
    const before = readFileSync(file);
    await expectRejected(
      dataDir,
      'is a database of another program \\(it has the table users, and no table of hooks\\)',
      { hint: 'name another file with --store' },
    );
    expect(readFileSync(file)).toEqual(before);
    expect(readdirSync(dataDir)).toEqual(['hooks.db']);
  });

  it('is damaged', async () => {
    const dataDir = await usedFolder();
    await damage(join(dataDir, 'hooks.db'), 'lanes');
    await expectRejected(dataDir, 'is damaged', { hint: 'hooks queue recover FILE --to NEW' });
  });

  it('is of another version', async () => {
    const dataDir = await usedFolder();
    await ask(join(dataDir, 'hooks.db'), 'PRAGMA user_version = 9');
    await expectRejected(dataDir, 'was made by another version of hooks \\(schema 9, expected 3\\)', {
      hint: 'hooks queue export',
    });
  });

  it.skipIf(!MAY_MOUNT)('is on a disk that is read-only, or full', async () => {
    const disk = await smallDisk();
    await usedFolder(disk.path);
    disk.remount('ro');
    await expectRejected(disk.path, 'cannot be written: .*read-only', { commands: WRITERS });
    disk.remount('rw');
    disk.fill();
    await expectRejected(disk.path, 'cannot be written: the disk is full', { hint: 'make room' });
  });

  it.skipIf(!MAY_MOUNT).each([0, 4, 8, 16, 36, 64, 100, 140])(
    'cannot be created with %d KiB of room, and leaves nothing there',
    async (kibibytes) => {
      const disk = await smallDisk();
      const dataDir = join(disk.path, 'data');
      mkdirSync(dataDir);
      disk.fill(kibibytes * 1_024);
      await expectRejected(dataDir, 'cannot be written: the disk is full', {
        commands: WRITERS.slice(2, 3),
        hint: 'make room',
      });
      expect(readdirSync(dataDir)).toEqual([]);
    },
  );

  it('is held by another program', async () => {
    const dataDir = await usedFolder();
    const other = await openOther(join(dataDir, 'hooks.db'));
    other.exec('BEGIN EXCLUSIVE');
    await expectRejected(dataDir, 'is locked by another program', { commands: WRITERS.slice(2, 3) });
    other.close();
  });

  it('is text', async () => {
    const dataDir = temporaryFolder();
    writeFileSync(join(dataDir, 'hooks.db'), 'a shopping list\n'.repeat(100));
    await expectRejected(dataDir, 'is not a SQLite database', { commands: WRITERS.slice(0, 1) });
  });
});

describe.skipIf(!MAY_MOUNT)('a replay with a full disk for its files of results', () => {
  it.each([
    ['report.xml', ['--report', 'report.xml']],
    ['report.json', ['--report', 'report.json']],
    ['report.xml', ['--report', 'report.xml', '--failed', 'failed.ndjson']],
    ['no report', ['--failed', 'failed.ndjson']],
  ])('leaves no %s with %j, counts every message, and exits with 2', async (_, flags) => {
    const disk = await smallDisk();
    const cwd = join(disk.path, 'reports');
    mkdirSync(cwd);
    disk.fill();
    const input = join(temporaryFolder(), 'input.ndjson');
    // More than is buffered before a write, so that the disk fails in the middle of the replay.
    const message = { type: 'track', userId: 'u', event: 'e', properties: { PADDING } };
    writeFileSync(input, `${JSON.stringify(message)}\n`.repeat(300));
    const receiver = await receiving({ secret: SECRET, respond: '400' });
    const words = ['replay', input, '--url', receiver.url, '--secret', SECRET, ...flags];
    const { code, stdout, stderr } = await hooks(words, { cwd, env: { HOOKS_DATA_DIR: temporaryFolder() } });
    expect([code, stderr]).toEqual([2, expect.stringContaining('the disk is full')]);
    const count = (name: string): number =>
      Number(new RegExp(`^${name} +(\\d+)$`, 'm').exec(stdout)?.[1] ?? 0);
    expect(count('read')).toBeGreaterThan(0);
    expect(['delivered', 'failed', 'invalid', 'unsent'].reduce((sum, name) => sum + count(name), 0)).toBe(
      count('read'),
    );
    expect(count('failed')).toBe(receiver.requests.length);
    expect(readdirSync(cwd).filter((name) => name.includes('report'))).toEqual([]);
  });
});
