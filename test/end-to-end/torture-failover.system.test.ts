// Needs redis-server, postgres.
import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { describe, expect, it } from 'vitest';
import { CANARY, hasServer, SERVER_KINDS, sql, type ServerKind } from '../stores/server/servers.ts';
import { Commands, startPair, timedReceiver, type Arrival } from './failing-over.ts';
import type { RunningHooks } from './hooks.ts';
import { jsonLines } from './receiving.ts';
import { NumberedCalls, postBatch, type AcknowledgedCall } from './numbered-calls.ts';
import { WRITE_KEY } from './serve-and-worker.ts';

/** Maximum age of an acknowledged message that has not reached the replica, as docs/several-machines.md says. */
const REPLICATED_WITHIN_MS = 1_000;
/** `min-replicas-max-lag` in seconds. Redis checks it once a second, and the replica reports once a second. */
const MOST_LAG = 1;
const REJECTED_WITHIN_MS = (MOST_LAG + 2) * 1_000;
/** So slow that messages wait in the queue when the primary is killed. */
const RESPONSE_MS = 400;
/** Maximum age of a delivery whose result has not reached the replica: PostgreSQL writes results to its log with a delay. */
const RECORDED_WITHIN_MS = RESPONSE_MS + 2 * REPLICATED_WITHIN_MS;
/** Time until hooks continues on a busy machine after the new primary responds. */
const CONTINUED_WITHIN_MS = 10_000;
const LONGEST_MS = 240_000;
/** A source whose first message comes when the replica lags. */
const LATE = { source: 'late', writeKey: 'wk-of-late' };
const USERS = ['u0', 'u1', 'u2'];
/** The numbers of each user's messages that are added before, while and after the replica lags. */
const STEPS = { before: range(0, 20), lagging: range(20, 25), after: range(25, 30) };

/**
 * `healthy`: the replica follows the primary until the kill. `lagging`: the link between them is dead for the last seconds.
 * `guarded`: the same, but the primary has the setting that limits or prevents the loss.
 */
type Round = 'healthy' | 'lagging' | 'guarded';
const ROUNDS: readonly Round[] = ['healthy', 'lagging', 'guarded'];

interface Rehearsed {
  readonly calls: NumberedCalls;
  readonly arrivals: readonly Arrival[];
  /** The messages in the queue of the new primary. */
  readonly kept: ReadonlySet<string>;
  /** When the kill began, and when the primary was dead. */
  readonly killedAt: number;
  readonly deadAt: number;
  /** When replication ended. */
  readonly replicatedUntil: number;
  /** When the front led to the new primary. */
  readonly backAt: number;
}

for (const kind of SERVER_KINDS) {
  describe.skipIf(!hasServer(kind))(`serve and two workers on ${kind}`, () => {
    for (const round of ROUNDS) {
      it(
        `continue after a failover, and lose only messages that the replica does not have (${round})`,
        async ({ annotate }) => {
          const rehearsed = await rehearse(kind, round);
          const { arrivals, kept, replicatedUntil } = rehearsed;
          const delivered = new Map<string, number[]>();
          for (const { messageId, at } of arrivals) {
            delivered.set(messageId, [...(delivered.get(messageId) ?? []), at]);
          }
          const acknowledged = rehearsed.calls.acknowledged.flat().flatMap(({ messageIds }) => messageIds);
          const lost = acknowledged.filter((id) => !delivered.has(id));
          const repeated = [...delivered.values()].filter((times) => times.length > 1);
          const calls = pauseOf(
            rehearsed.calls.acknowledged.flat().map(({ acknowledgedAt }) => acknowledgedAt),
            rehearsed,
          );
          const deliveries = pauseOf(
            arrivals.map(({ at }) => at),
            rehearsed,
          );
          await annotate(
            `${kind}, ${round}: ${acknowledged.length} messages acknowledged, ${lost.length} of them lost ` +
              `(${spanOf(rehearsed, lost)}), ${repeated.length} delivered twice; calls paused for ${calls.ms} ms ` +
              `(${calls.afterBackMs} ms after the promotion), deliveries for ${deliveries.ms} ms (${deliveries.afterBackMs} ms)`,
          );
          expectTheEndOnly(rehearsed, kind, round);
          expect([...kept].filter((id) => !delivered.has(id))).toEqual([]);
          if (round === 'lagging') expect(lost.length).toBeGreaterThan(0);
          const firstRepeated = Math.min(...repeated.map(([first = 0]) => first));
          expect(firstRepeated).toBeGreaterThan(replicatedUntil - RECORDED_WITHIN_MS);
          expect(Math.max(calls.afterBackMs, deliveries.afterBackMs)).toBeLessThan(CONTINUED_WITHIN_MS);
          for (const user of USERS) expectOrder(arrivals.filter(({ userId }) => userId === user));
        },
        LONGEST_MS,
      );
    }
  });
}

async function rehearse(kind: ServerKind, round: Round): Promise<Rehearsed> {
  const { primary, replica, front, replication } = await startPair(kind);
  const receiver = await timedReceiver(RESPONSE_MS);
  const commands = new Commands(front.url, receiver.url, { web: WRITE_KEY, [LATE.source]: LATE.writeKey });
  const running = await Promise.all([
    commands.start('serve', '--port', '0', '--no-deliver'),
    commands.start('worker'),
    commands.start('worker'),
  ]);
  const [{ url }] = running;
  const callLate = (messageId: string) => postBatch(url, LATE.writeKey, [messageId]);
  if (round === 'guarded') await guard(kind, primary.url);
  await commands.queue(steps(STEPS.before));
  const calls = new NumberedCalls(url);
  await calls.more(200);

  let replicatedUntil = performance.now();
  if (round !== 'healthy') replication.stall();
  if (round === 'lagging') {
    await commands.queue(steps(STEPS.lagging));
    // The new primary will know neither the message nor its source.
    expect(await callLate('late-first')).toBe(200);
    await calls.more(100);
  } else if (round === 'guarded') {
    await calls.rejected(3);
  }

  const killedAt = performance.now();
  if (round === 'healthy') replicatedUntil = killedAt;
  await primary.kill();
  front.cut();
  const deadAt = performance.now();
  await delay(1_000);
  if (round !== 'healthy') {
    // As if the name of the primary changed before the promotion: processes meet a server that only reads.
    front.lead(replica.url);
    front.mend();
    await delay(500);
  }
  await replica.promote();
  front.lead(replica.url);
  front.mend();
  const backAt = performance.now();
  const backDate = Date.now();

  receiver.delayMs = 0;
  await commands.queue(steps(STEPS.after));
  await calls.more(200);
  expect(await callLate('late-next')).toBe(200);
  await calls.stop();
  const total = await commands.untilSettled();
  const kept = await commands.messageIds();
  expect([kept.has('late-first'), kept.has('late-next')]).toEqual([false, true]);
  expect(total).toMatchObject({ delivered: kept.size, dead: 0 });
  await Promise.all(running.map((each) => expectQuietEnd(each, backDate)));
  return { calls, arrivals: receiver.arrivals, kept, killedAt, deadAt, replicatedUntil, backAt };
}

function range(from: number, to: number): readonly number[] {
  return Array.from({ length: to - from }, (_, index) => from + index);
}

/** A message of each user for each number. */
function steps(numbers: readonly number[]): { userId: string; messageId: string }[] {
  return numbers.flatMap((number) => USERS.map((userId) => ({ userId, messageId: `${userId}-${number}` })));
}

/** Sets what docs/several-machines.md recommends against losses. */
async function guard(kind: ServerKind, url: string): Promise<void> {
  if (kind === 'postgres') {
    await sql(url, "ALTER SYSTEM SET synchronous_standby_names TO '*'");
    await sql(url, 'SELECT pg_reload_conf()');
  } else {
    const admin = new Redis(url);
    await admin.config('SET', 'min-replicas-to-write', 1, 'min-replicas-max-lag', MOST_LAG);
    admin.disconnect();
  }
}

/** Whether the new primary does not have a call. */
function isGone({ messageIds }: AcknowledgedCall, kept: ReadonlySet<string>): boolean {
  return !messageIds.every((id) => kept.has(id));
}

/** The lost calls of each caller are its last ones before the failover, lost as a whole, and not older than promised. */
function expectTheEndOnly(
  { calls, kept, deadAt, replicatedUntil }: Rehearsed,
  kind: ServerKind,
  round: Round,
): void {
  for (const all of calls.acknowledged) {
    const before = all.filter(({ begunAt }) => begunAt < deadAt);
    const gone = before.filter((call) => isGone(call, kept));
    expect(before.slice(before.length - gone.length)).toEqual(gone);
    expect(all.slice(before.length).filter((call) => isGone(call, kept))).toEqual([]);
    expect(gone.flatMap(({ messageIds }) => messageIds.filter((id) => kept.has(id)))).toEqual([]);
    expect(gone.filter((call) => call.acknowledgedAt < replicatedUntil - REPLICATED_WITHIN_MS)).toEqual([]);
    if (round === 'healthy') continue;
    const unreplicated = before.filter(({ begunAt }) => begunAt > replicatedUntil);
    expect(unreplicated.filter((call) => !isGone(call, kept))).toEqual([]);
    if (round === 'lagging') expect(unreplicated.length).toBeGreaterThan(0);
    else if (kind === 'postgres') expect(gone).toEqual([]);
    else {
      const rejectedFrom = replicatedUntil + REJECTED_WITHIN_MS;
      expect(gone.filter(({ begunAt }) => begunAt > rejectedFrom)).toEqual([]);
    }
  }
}

/** The first arrivals of a user's messages are in order. Only messages of the time without replication may be missing. */
function expectOrder(arrivals: readonly Arrival[]): void {
  const numbers = [...new Set(arrivals.map(({ messageId }) => Number(messageId.split('-')[1])))];
  expect(numbers).toEqual(numbers.toSorted((one, other) => one - other));
  expect([...STEPS.before, ...STEPS.after].filter((number) => !numbers.includes(number))).toEqual([]);
}

/** Ends a process that has logged its last error soon after the failover. */
async function expectQuietEnd(running: RunningHooks, backDate: number): Promise<void> {
  const { code, stdout, stderr } = await running.stop('SIGTERM');
  expect(code).toBe(0);
  const times = jsonLines<{ time: string }>(stderr).map(({ time }) => Date.parse(time));
  expect(Math.max(...times)).toBeLessThan(backDate + CONTINUED_WITHIN_MS);
  expect(stdout + stderr).not.toContain(CANARY);
}

/** When the lost messages were acknowledged, relative to the kill. */
function spanOf({ calls, killedAt }: Rehearsed, lost: readonly string[]): string {
  if (lost.length === 0) return 'none';
  const ids = new Set(lost);
  const ofLost = calls.acknowledged.flat().filter(({ messageIds }) => messageIds.some((id) => ids.has(id)));
  const times = ofLost.map(({ acknowledgedAt }) => Math.round(acknowledgedAt - killedAt));
  return `acknowledged ${Math.min(...times)} to ${Math.max(...times)} ms after the kill began`;
}

/** How long nothing happened around the kill, in all and after the promotion. */
function pauseOf(times: readonly number[], { killedAt, backAt }: Rehearsed): Pause {
  const before = Math.max(...times.filter((at) => at < killedAt));
  const after = Math.min(...times.filter((at) => at > backAt));
  return { ms: Math.round(after - before), afterBackMs: Math.round(after - backAt) };
}

interface Pause {
  readonly ms: number;
  readonly afterBackMs: number;
}
