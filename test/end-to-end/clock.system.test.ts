// Needs libfaketime.
import { describe, expect, it } from 'vitest';
import { FAKETIME, settableMachine } from '../faketime.ts';
import { ask } from '../stores/sqlite/ask.ts';
import { IS_LONG } from '../torture.ts';
import { until } from '../until.ts';
import { startReady, untilSettled } from './serve-and-worker.ts';
import { expectAtRest, recorded, untilEachCame, waitingQueue } from './waiting-queue.ts';

const COUNT = 20;

async function queueOnMachine(delivery: Readonly<Record<string, unknown>> = {}) {
  const queue = await waitingQueue(delivery);
  const machine = settableMachine(queue.folder);
  Object.assign(queue.env, machine.env);
  return { queue, machine };
}

const range = (to: number): readonly number[] => Array.from({ length: to }, (_, index) => index);

describe.skipIf(FAKETIME === undefined)('a wall clock that is set while a worker runs', () => {
  it.each([
    ['five hours forward', 5],
    ['five hours back', -5],
  ])(
    '%s neither ends a retry window, nor delays waiting deliveries, nor causes a burst',
    async (_, hours) => {
      const { queue, machine } = await queueOnMachine();
      const worker = await startReady('worker', queue.env);
      await queue.add(0, COUNT);
      await untilEachCame(queue, 1, COUNT);
      machine.setClock(hours);
      await expectAtRest(worker, async () => {
        // An early next round could be the late one after a window. The second round shows that the window goes on.
        await untilEachCame(queue, 2, COUNT);
        queue.answering = 'with 200';
        await queue.add(COUNT, 2 * COUNT);
        await until(
          () => range(2 * COUNT).every((id) => queue.requests.has(`m${id}`)),
          'the deliveries that were added since',
        );
        await untilSettled(queue.file);
      });
      for (const times of queue.requests.values()) expect(times).toBeLessThanOrEqual(4);
      expect(await recorded(queue)).toEqual(
        range(2 * COUNT).map((id) => `m${id}|delivered|${queue.requests.get(`m${id}`)}`),
      );
      expect(await worker.stop('SIGTERM')).toMatchObject({ code: 0, stderr: '' });
    },
  );

  it.each(IS_LONG ? (['SIGTERM', 'SIGKILL'] as const) : (['SIGTERM'] as const))(
    'back does not delay deliveries of a worker that starts after another got %s',
    async (signal) => {
      const { queue, machine } = await queueOnMachine();
      const first = await startReady('worker', queue.env);
      await queue.add(0, COUNT);
      await untilEachCame(queue, 1, COUNT);
      machine.setClock(-5);
      await untilEachCame(queue, 2, COUNT);
      await first.stop(signal);
      queue.answering = 'with 200';
      const second = await startReady('worker', queue.env);
      await untilSettled(queue.file);
      expect(new Set((await recorded(queue)).map((row) => row.split('|')[1]))).toEqual(
        new Set(['delivered']),
      );
      expect(await second.stop('SIGTERM')).toMatchObject({ code: 0, stderr: '' });
    },
  );

  it('back does not lengthen a retry window', async () => {
    const { queue, machine } = await queueOnMachine({ retryFor: '2s' });
    const worker = await startReady('worker', queue.env);
    await queue.add(0, COUNT);
    await untilEachCame(queue, 1, COUNT);
    machine.setClock(-5);
    await untilSettled(queue.file);
    // On a busy machine, a try that is due at the end of the window can start a little later.
    const late = `SELECT count(*) FROM queue, json_each(attempts) WHERE value ->> 'at' > first_attempt_at + 4000`;
    expect(await ask(queue.file, late)).toEqual(['0']);
    expect(await ask(queue.file, 'SELECT DISTINCT reason FROM queue')).toEqual(['exhausted']);
    expect(await worker.stop('SIGTERM')).toMatchObject({ code: 0, stderr: '' });
  });

  it('forward while no worker runs leaves waiting deliveries one late round', async () => {
    const { queue, machine } = await queueOnMachine();
    const first = await startReady('worker', queue.env);
    await queue.add(0, COUNT);
    await untilEachCame(queue, 1, COUNT);
    await first.stop('SIGTERM');
    const before = new Map(queue.requests);
    machine.setClock(5);
    const second = await startReady('worker', queue.env);
    await untilSettled(queue.file);
    expect(await recorded(queue)).toEqual(
      range(COUNT).map((id) => `m${id}|dead|${(before.get(`m${id}`) ?? 0) + 1}`),
    );
    expect(await second.stop('SIGTERM')).toMatchObject({ code: 0, stderr: '' });
  });

  it('sets the timestamp of messages without one', async () => {
    const { queue, machine } = await queueOnMachine();
    queue.answering = 'with 200';
    const serve = await startReady('serve', queue.env);
    const dayOf = async (userId: string): Promise<string> => {
      const body = JSON.stringify({ userId, event: 'e', writeKey: queue.env['HOOKS_WRITE_KEY'] });
      expect((await fetch(`${serve.url}/v1/track`, { method: 'POST', body })).status).toBe(200);
      const [at] = await ask(
        queue.file,
        `SELECT body ->> 'timestamp' FROM queue WHERE body ->> 'userId' = '${userId}'`,
      );
      return String(at);
    };
    const hoursOff = async (userId: string): Promise<number> =>
      Math.round((Date.parse(await dayOf(userId)) - Date.now()) / 3_600_000);
    machine.setClock(5);
    expect(await hoursOff('u1')).toBe(5);
    machine.setClock(-5);
    expect(await hoursOff('u2')).toBe(-5);
    expect(await serve.stop('SIGTERM')).toMatchObject({ code: 0, stderr: '' });
  });
});
