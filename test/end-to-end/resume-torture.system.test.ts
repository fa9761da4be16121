// Takes minutes: it kills replays.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { randomFrom } from '../random.ts';
import { receiver } from '../raw-receiver.ts';
import { started } from '../transport/sending.ts';
import { answer } from './failing-receiver.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { KILLS, SEED } from '../torture.ts';
import { startHooks } from './hooks.ts';
import { jsonLines, summaryOf } from './receiving.ts';

/** One message in twenty is rejected, at every attempt. */
const REJECTED_EACH = 20;
/** Enough for several kills: a replay takes about four seconds. */
const COUNT = 4_000;
const CONCURRENCY = 8;

describe('a replay that is killed with SIGKILL and resumed until it ends', () => {
  it(`loses nothing and forgets no failure over ${KILLS} kills (seed ${SEED})`, async () => {
    const random = randomFrom(SEED);
    for (let kills = 0; kills < KILLS;) kills += await killedReplay(random, KILLS - kills);
  }, 600_000);
});

/** Kills and resumes one replay until it ends. Returns the number of kills. */
async function killedReplay(random: () => number, mostKills: number): Promise<number> {
  const rejecting = await rejectingReceiver();
  const cwd = temporaryFolder({ 'day.ndjson': messages() });
  const args = ['replay', 'day.ndjson', '--url', rejecting.url, '--concurrency', String(CONCURRENCY)];
  const files = ['--failed', 'failed.ndjson', '--report', 'report.json', '-o', 'json'];
  for (let kills = 0; ; kills++) {
    const flags = kills === 0 ? files : [...files, '--resume'];
    const running = startHooks([...args, ...flags], { cwd, env: { HOOKS_DATA_DIR: join(cwd, 'data') } });
    const killAt = setTimeout(() => running.child.kill('SIGKILL'), 300 + random() * 2_000);
    if (kills === mostKills) clearTimeout(killAt);
    const { code, signal, stdout, stderr } = await running.exited;
    clearTimeout(killAt);
    if (signal === null) {
      expect(code, stderr).toBe(1);
      expectWhole(cwd, rejecting, stdout);
      return kills;
    }
    expectSettledKept(cwd, rejecting);
  }
}

/** Expects that a replay that has ended was complete. */
function expectWhole(cwd: string, { accepted }: RejectingReceiver, stdout: string): void {
  const failed = failedIds(cwd);
  expect(new Set(failed).size).toBe(failed.length);
  expect(failed.toSorted()).toEqual(IDS.filter(isRejected).toSorted());
  expect(IDS.filter((id) => !accepted.has(id) && !isRejected(id))).toEqual([]);

  const summary = summaryOf(stdout);
  expect(summary.failed).toBe(failed.length);
  expect(summary.read + summary.skipped).toBe(COUNT);
  const told = jsonLines(stdout).filter(({ outcome }) => outcome === 'failed');
  expect(new Set(told.map(({ messageId }) => messageId)).size).toBe(failed.length);

  const report = JSON.parse(readFileSync(join(cwd, 'report.json'), 'utf8')) as Report;
  const origins = new Set(report.results.map(({ origin }) => origin));
  expect([report.results.length, origins.size]).toEqual([COUNT, COUNT]);
  expect(report.results.filter(({ outcome }) => outcome === 'failed')).toHaveLength(failed.length);
  expect(readdirSync(cwd).toSorted()).toEqual(['data', 'day.ndjson', 'failed.ndjson', 'report.json']);
  expect(readdirSync(join(cwd, 'data', 'replays')).filter((name) => name.endsWith('.tmp'))).toEqual([]);
}

/** Expects after a kill that every settled message of the checkpoint was accepted, or is in the file of --failed. */
function expectSettledKept(cwd: string, { accepted }: RejectingReceiver): void {
  const kept = new Set(failedIds(cwd));
  const lost = settledIn(join(cwd, 'data', 'replays')).filter((id) => !accepted.has(id) && !kept.has(id));
  expect(lost).toEqual([]);
}

interface Report {
  readonly results: readonly { readonly outcome: string; readonly origin: string }[];
}

function settledIn(folder: string): string[] {
  const names = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.json')) : [];
  return names.flatMap((name) => {
    const saved = JSON.parse(readFileSync(join(folder, name), 'utf8')) as { settled: [number, number][] };
    return saved.settled.flatMap(([start, end]) => IDS.slice(start, end));
  });
}

/** Returns the ids in the file of --failed, without a last line that a kill left incomplete. */
function failedIds(cwd: string): string[] {
  const file = join(cwd, 'failed.ndjson');
  const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(0, -1) : [];
  return lines.map((line) => (JSON.parse(line) as { messageId: string }).messageId);
}

const IDS = Array.from({ length: COUNT }, (_, index) => `m${index}`);

function isRejected(id: string): boolean {
  return Number(id.slice(1)) % REJECTED_EACH === 7;
}

function messages(): string {
  return IDS.map(
    (messageId, index) =>
      `${JSON.stringify({ type: 'track', event: 'e', userId: `u${index % 500}`, messageId })}\n`,
  ).join('');
}

type RejectingReceiver = Awaited<ReturnType<typeof rejectingReceiver>>;

async function rejectingReceiver() {
  const accepted = new Set<string>();
  const { url } = await started(
    receiver((socket, { body }) => {
      const { messageId } = JSON.parse(body.toString()) as { messageId: string };
      if (!isRejected(messageId)) accepted.add(messageId);
      setTimeout(() => socket.write(answer(isRejected(messageId) ? 400 : 200)), 8);
    }),
  );
  return { url, accepted };
}
