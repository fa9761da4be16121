// Takes minutes: it kills workers.
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { expectNothingLeft } from '../queue/nothing-left.ts';
import { randomFrom } from '../random.ts';
import { ask } from '../stores/sqlite/ask.ts';
import { KILLS, SEED } from '../torture.ts';
import { failingReceiver, type FailingReceiver } from './failing-receiver.ts';
import type { RunningHooks } from './hooks.ts';
import { Load } from './load.ts';
import { readiness, settings, start, startReady, untilSettled } from './serve-and-worker.ts';
import { temporaryFolder } from '../temporary-folder.ts';

/** Number of deliveries that each process can have in flight. */
const CONCURRENCY = 32;
/** Most messages that are acknowledged but not delivered: enough work for each kill, and a short end. */
const BACKLOG = 400;
/** Share of the kills while a process starts. The others come when it works. */
const KILLED_WHILE_STARTING = 0.2;

class Storm {
  readonly env: Readonly<Record<string, string>>;
  readonly receiver: FailingReceiver;
  readonly load: Load;
  /** Aborted when all kills have begun. */
  readonly #spent = new AbortController();
  /** Number of kills that have not begun. */
  #killsLeft = KILLS;
  #serveUrl: string | undefined;

  constructor(receiver: FailingReceiver, dataDir: string) {
    this.receiver = receiver;
    this.env = settings({ url: receiver.url, dataDir });
    this.load = new Load({
      random: randomFrom(SEED),
      url: () => this.#serveUrl,
      isFull: () => this.load.acknowledged.size - this.load.refused.size - receiver.taken > BACKLOG,
    });
  }

  /** Starts, kills and restarts a process until no kill is left. */
  async killAgainAndAgain(command: 'serve' | 'worker', random: () => number): Promise<void> {
    while (this.#killsLeft-- > 0) {
      const running = start(command, this.env);
      if (random() < KILLED_WHILE_STARTING) await sleep(random() * 300);
      else await this.#untilBusy(running, random);
      const { signal, stderr } = await running.stop('SIGKILL');
      expect([command, signal, stderr]).toEqual([command, 'SIGKILL', '']);
    }
    this.#spent.abort();
  }

  /** Waits until the process is ready, and then for one of the next responses, to a caller or of the receiver. */
  async #untilBusy(running: RunningHooks, random: () => number): Promise<void> {
    const ready = await readiness(running);
    if (ready === undefined) throw new Error(`it has ended: ${running.stderr()}`);
    this.#serveUrl = ready.url ?? this.#serveUrl;
    const { load, receiver } = this;
    const isByCall = ready.url !== undefined && random() < 0.5;
    // After the last kills of other processes, no service may be left for calls.
    const stop = this.#spent.signal;
    if (isByCall) await load.answers.after(random() * 60, stop);
    else await receiver.answers.after(random() * 600, stop);
  }
}

async function sleep(ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= 50) await delay(Math.min(left, 50));
}

interface Kept {
  /** The state of each message, with the reason of a dead letter. */
  readonly states: ReadonlyMap<string, string>;
  readonly count: number;
}

async function keptIn(file: string): Promise<Kept> {
  const rows = await ask(file, "SELECT message_id, state || coalesce(' ' || reason, '') FROM queue");
  const states = new Map(rows.map((row) => row.split('|') as [string, string])); // two columns, no | in them
  return { states, count: rows.length };
}

/** Returns the number of messages by state. */
function tally({ states }: Kept): string {
  const counts = new Map<string, number>();
  for (const state of states.values()) counts.set(state, (counts.get(state) ?? 0) + 1);
  return [...counts].map(([state, count]) => `${count} ${state}`).join(', ');
}

function expectDelivered({ load, receiver }: Storm, { states, count }: Kept): void {
  const is = (ids: Iterable<string>, state: string) => [...ids].filter((id) => states.get(id) !== state);
  expect(
    is(
      [...load.acknowledged].filter((id) => !load.refused.has(id)),
      'delivered',
    ),
  ).toEqual([]);
  expect(is(load.refused, 'dead rejected')).toEqual([]);
  expect(is(load.invalid, 'dead invalid')).toEqual([]);
  const delivered = [...states.keys()].filter((id) => states.get(id) === 'delivered');
  expect(delivered.filter((id) => !receiver.arrivals.get(id)?.taken)).toEqual([]);
  // Each repeated message was recognized.
  expect(count).toBe(states.size);
}

describe(`hooks serve and two hooks worker on one file (seed ${SEED})`, () => {
  it(
    `lose no acknowledged message when killed ${KILLS} times under load`,
    async ({ annotate }) => {
      const dataDir = temporaryFolder();
      const file = join(dataDir, 'hooks.db');
      const storm = new Storm(await failingReceiver(randomFrom(SEED)), dataDir);
      const { load, receiver, env } = storm;
      load.start();
      await Promise.all(
        (['serve', 'worker', 'worker'] as const).map((command, index) =>
          storm.killAgainAndAgain(command, randomFrom(SEED + index)),
        ),
      );
      await load.stop();
      const afterStorm = await keptIn(file);
      expect(load.otherAnswers).toEqual([]);
      expect([...load.acknowledged, ...load.invalid].filter((id) => !afterStorm.states.has(id))).toEqual([]);

      const last = await Promise.all([startReady('serve', env), startReady('worker', env)]);
      await untilSettled(file);
      for (const running of last) {
        expect(await running.stop('SIGTERM')).toMatchObject({ code: 0, stderr: '' });
      }

      const kept = await keptIn(file);
      await annotate(
        `${KILLS} kills; ${load.acknowledged.size} responded with 200, ${load.invalid.size} invalid, ${load.unanswered} calls unanswered; ` +
          `${receiver.failed} of ${receiver.requests} requests failed, ${receiver.duplicates} duplicates; ` +
          `after the storm ${tally(afterStorm)}; in the end ${tally(kept)}`,
      );
      expectDelivered(storm, kept);
      expect(receiver).toMatchObject({ unsigned: 0, changed: 0 });
      await expectNothingLeft(file);
      expect(receiver.duplicates).toBeLessThanOrEqual(KILLS * CONCURRENCY);
    },
    180_000 + KILLS * 5_000,
  );
});
