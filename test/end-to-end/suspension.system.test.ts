// Takes minutes: it waits until retry windows are over.
import { describe, expect, it } from 'vitest';
import { ask } from '../stores/sqlite/ask.ts';
import { IS_LONG } from '../torture.ts';
import { until } from '../until.ts';
import type { RunningHooks } from './hooks.ts';
import { jsonLines } from './receiving.ts';
import { startReady, untilSettled } from './serve-and-worker.ts';
import { expectAtRest, recorded, untilEachCame, waitingQueue } from './waiting-queue.ts';

const CONCURRENCY = 8;
/** Longer than the silence after which another worker takes over. */
const SILENCE_SECONDS = 30;

/** Stops a worker. Returns the ids of the messages that it settled. */
async function settledBy(worker: RunningHooks): Promise<readonly string[]> {
  const { code, stdout } = await worker.stop('SIGTERM');
  expect(code).toBe(0);
  const settled = jsonLines(stdout).slice(1);
  return settled.map(({ messageId }) => String(messageId));
}

describe('a worker that is suspended', () => {
  it('beyond the window of waiting deliveries makes one late round when it continues', async () => {
    const queue = await waitingQueue({ retryFor: '3s' });
    const worker = await startReady('worker', queue.env);
    await queue.add(0, 10);
    await untilEachCame(queue, 1, 10);
    worker.child.kill('SIGSTOP');
    const before = new Map(queue.requests);
    const [stoppedAt, seconds] = [performance.now(), 6];
    await until(() => performance.now() > stoppedAt + seconds * 1_000, 'time to pass');
    worker.child.kill('SIGCONT');
    await expectAtRest(worker, () => untilSettled(queue.file));
    const rows = await recorded(queue);
    expect(rows).toHaveLength(10);
    for (const row of rows) {
      const [id = '', state, attempts] = row.split('|');
      expect([id, state, Number(attempts)]).toEqual([id, 'dead', queue.requests.get(id)]);
      expect(Number(attempts) - (before.get(id) ?? 0)).toBe(1);
    }
    const late = `SELECT DISTINCT (SELECT count(*) FROM json_each(attempts) WHERE value ->> 'at' > first_attempt_at + 3000) FROM queue`;
    expect(await ask(queue.file, late)).toEqual(['1']);
    expect(await worker.stop('SIGTERM')).toMatchObject({ code: 0, stderr: '' });
  });

  // Takes half a minute until the suspended worker is given up, so it runs in the long form only.
  const inLongForm = IS_LONG ? it : (): void => {};
  inLongForm(
    'loses its deliveries to another worker, does not report them, and continues when it wakes up',
    async () => {
      const queue = await waitingQueue({ concurrency: CONCURRENCY, timeout: '30s' });
      queue.answering = 'never';
      const asleep = await startReady('worker', queue.env, { log: '-v' });
      await queue.add(0, CONCURRENCY);
      await untilEachCame(queue, 1, CONCURRENCY);
      asleep.child.kill('SIGSTOP');
      const inFlight = [...queue.requests.keys()];

      queue.answering = 'with 200';
      const awake = await startReady('worker', queue.env, { log: '-v' });
      await queue.add(CONCURRENCY, 50);
      await until(() => queue.requests.size === 50, 'what is not held by the one that sleeps');
      const settled = "SELECT count(*) FROM queue WHERE state = 'delivered'";
      await until(async () => (await ask(queue.file, settled))[0] === '50', 'the take-over', {
        seconds: SILENCE_SECONDS,
      });
      expect([...queue.requests.entries()].filter(([, times]) => times > 1).map(([id]) => id)).toEqual(
        inFlight,
      );

      asleep.child.kill('SIGCONT');
      const byAwake = await settledBy(awake);
      expect(byAwake.toSorted()).toEqual([...queue.requests.keys()].toSorted());
      await expectAtRest(asleep, async () => {
        await queue.add(50, 70);
        await until(async () => (await ask(queue.file, settled))[0] === '70', 'what was added since', {
          seconds: SILENCE_SECONDS,
        });
      });
      const byAsleep = await settledBy(asleep);
      expect(byAsleep.toSorted()).toEqual(
        Array.from({ length: 20 }, (_, index) => `m${50 + index}`).toSorted(),
      );
      for (const [id, times] of queue.requests) {
        expect([id, times]).toEqual([id, inFlight.includes(id) ? 2 : 1]);
      }
      expect(await ask(queue.file, 'SELECT DISTINCT json_array_length(attempts) FROM queue')).toEqual(['1']);
      expect(await ask(queue.file, 'SELECT * FROM owners')).toEqual([]);
    },
    120_000,
  );
});
