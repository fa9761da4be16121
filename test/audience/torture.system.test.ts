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

/** Number of kills. The long run sets HOOKS_TORTURE_SYNC_KILLS=50. */
const KILLS = Number(process.env['HOOKS_TORTURE_SYNC_KILLS'] ?? 4);
const IS_LONG = KILLS >= 20;
const MEMBERS = IS_LONG ? 100_000 : 3_000;
/** Timeout of everything, so that no test hangs. */
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

const environment = () => ({ cwd: folder, env: { HOOKS_DATA_DIR: folder }, timeoutMs: LONGEST_MS });

function sync(flags: readonly string[]) {
  return startHooks(['audience', 'sync', 'VIP', 'members.txt', '-q', '--force', ...flags], environment());
}

/** Toggles the membership of a twentieth of all users. */
function mutate(members: Set<string>): void {
  for (let count = 0; count < MEMBERS / 20; count++) {
    const id = `user-${Math.floor(random() * MEMBERS * 1.1)}`;
    if (!members.delete(id)) members.add(id);
  }
}

function writeMembers(members: ReadonlySet<string>): void {
  writeFileSync(join(folder, 'members.txt'), [...members].map((id) => `${id}\n`).join(''));
}

/** Syncs changed files, and kills each sync at a random moment, until KILLS syncs were killed. */
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
    // A sync that was not killed shows its duration.
    else longestMs = (performance.now() - began) * 0.9;
  }
}

/** Expects the last value of each user to be correct, and every member to have a value. */
function expectCorrectValues(members: ReadonlySet<string>): void {
  const wrong = [...receiver.values].filter(([id, value]) => value !== members.has(id));
  expect(wrong).toEqual([]);
  expect([...members].filter((id) => !receiver.values.has(id))).toEqual([]);
}

function summaryOf(members: ReadonlySet<string>): string {
  return `${KILLS} kills, ${members.size} members, ${receiver.requests()} identifies, ${receiver.repeats()} repeats`;
}

async function drained(): Promise<void> {
  for (;;) {
    const { stdout } = await hooks(['queue', 'stats', '-o', 'json'], environment());
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
      const worker = startHooks(['worker', '--allow-private', '-q'], environment());
      const members = new Set(Array.from({ length: MEMBERS }, (_, index) => `user-${index}`));
      await killSyncs(members, ['--queue']);
      expect(await sync(['--queue']).exited).toMatchObject({ code: 0, stderr: '' });
      await drained();
      expectCorrectValues(members);
      expect((await worker.stop('SIGTERM')).code).toBe(0);
      await annotate(summaryOf(members));
      // No changes are left to send.
      const requests = receiver.requests();
      expect(await sync([]).exited).toMatchObject({ code: 0 });
      expect(receiver.requests()).toBe(requests);
    },
    LONGEST_MS,
  );

  it(
    'lose no change that they deliver themselves, even if some fail',
    async ({ annotate }) => {
      const members = new Set(Array.from({ length: MEMBERS }, (_, index) => `user-${index}`));
      // The receiver stores the value despite the 400.
      receiver.answer((userId) => (userId.endsWith('7') && random() < 0.5 ? 400 : 200));
      await killSyncs(members, ['--retry-for', '0']);
      receiver.answer(() => 200);
      expect(await sync([]).exited).toMatchObject({ code: 0, stderr: '' });
      expectCorrectValues(members);
      await annotate(summaryOf(members));
    },
    LONGEST_MS,
  );
});
