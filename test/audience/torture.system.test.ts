// Takes minutes: it kills syncs.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { hooks, startHooks } from '../end-to-end/hooks.ts';
import { lastValues, type LastValues } from './last-values.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { randomFrom } from '../random.ts';
import { SEED } from '../torture.ts';

/** The long form: HOOKS_TORTURE_SYNC_KILLS=50. */
const KILLS = Number(process.env['HOOKS_TORTURE_SYNC_KILLS'] ?? 4);
const IS_LONG = KILLS >= 20;
const MEMBERS = IS_LONG ? 100_000 : 3_000;
/** Bounds everything: no test hangs. */
const LONGEST_MS = IS_LONG ? 40 * 60_000 : 60_000;

let folder: string;
let receiver: LastValues;
let random: () => number;
beforeEach(async () => {
  folder = temporaryFolder();
  receiver = await lastValues();
  random = randomFrom(SEED);
  writeFileSync(join(folder, '.hooksrc.json'), JSON.stringify({ webhooks: [receiver.url] }));
});
afterEach(async () => {
  await receiver.close();
});

const surroundings = () => ({ cwd: folder, env: { HOOKS_DATA_DIR: folder }, timeoutMs: LONGEST_MS });

function sync(flags: readonly string[]) {
  return startHooks(['audience', 'sync', 'VIP', 'members.txt', '-q', '--force', ...flags], surroundings());
}

/** A twentieth of everybody joins or leaves, whichever it is not. */
function mutate(members: Set<string>): void {
  for (let count = 0; count < MEMBERS / 20; count++) {
    const id = `user-${Math.floor(random() * MEMBERS * 1.1)}`;
    if (!members.delete(id)) members.add(id);
  }
}

function writeMembers(members: ReadonlySet<string>): void {
  writeFileSync(join(folder, 'members.txt'), [...members].map((id) => `${id}\n`).join(''));
}

/** Another file each time, and each sync killed at a moment of chance, until so many were. */
async function killSyncs(members: Set<string>, flags: readonly string[]): Promise<void> {
  let longestMs = IS_LONG ? 6_000 : 1_000;
  for (let kills = 0; kills < KILLS;) {
    mutate(members);
    writeMembers(members);
    const began = performance.now();
    const running = sync(flags);
    const over = new AbortController();
    void delay(random() * longestMs, undefined, { signal: over.signal }).then(
      () => running.child.kill('SIGKILL'),
      () => {},
    );
    const { signal, stderr } = await running.exited;
    over.abort();
    expect(stderr).toBe('');
    if (signal === 'SIGKILL') kills++;
    // One that came to its end shows how long that takes.
    else longestMs = (performance.now() - began) * 0.9;
  }
}

/** Everybody who was ever told something has heard the truth last, and every member was told. */
function expectTruth(members: ReadonlySet<string>): void {
  const wrong = [...receiver.values].filter(([id, value]) => value !== members.has(id));
  expect(wrong).toEqual([]);
  expect([...members].filter((id) => !receiver.values.has(id))).toEqual([]);
}

function booksOf(members: ReadonlySet<string>): string {
  return `${KILLS} kills, ${members.size} members, ${receiver.requests()} identifies, ${receiver.repeats()} repeats`;
}

async function drained(): Promise<void> {
  for (;;) {
    const { stdout } = await hooks(['queue', 'stats', '-o', 'json'], surroundings());
    const { total } = JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as { total: Record<string, number> };
    expect(total['dead']).toBe(0);
    if (total['pending'] === 0 && total['sending'] === 0 && total['retrying'] === 0) return;
    await delay(50);
  }
}

describe(`syncs that are killed (seed ${SEED})`, () => {
  it(
    'lose no change while a worker delivers from their queue',
    async ({ annotate }) => {
      const worker = startHooks(['worker', '--allow-private', '-q'], surroundings());
      const members = new Set(Array.from({ length: MEMBERS }, (_, index) => `user-${index}`));
      await killSyncs(members, ['--queue']);
      expect(await sync(['--queue']).exited).toMatchObject({ code: 0, stderr: '' });
      await drained();
      expectTruth(members);
      expect((await worker.stop('SIGTERM')).code).toBe(0);
      await annotate(booksOf(members));
      // Nobody is left to be told.
      const requests = receiver.requests();
      expect(await sync([]).exited).toMatchObject({ code: 0 });
      expect(receiver.requests()).toBe(requests);
    },
    LONGEST_MS,
  );

  it(
    'lose no change that they deliver themselves, also when some fail',
    async ({ annotate }) => {
      const members = new Set(Array.from({ length: MEMBERS }, (_, index) => `user-${index}`));
      // The receiver has heard it all the same.
      receiver.answer((userId) => (userId.endsWith('7') && random() < 0.5 ? 400 : 200));
      await killSyncs(members, ['--retry-for', '0']);
      receiver.answer(() => 200);
      expect(await sync([]).exited).toMatchObject({ code: 0, stderr: '' });
      expectTruth(members);
      await annotate(booksOf(members));
    },
    LONGEST_MS,
  );
});
