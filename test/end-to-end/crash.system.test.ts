// Kills processes: serve and worker, at each moment of a delivery.
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { expectNothingLeft } from '../queue/nothing-left.ts';
import { receiver } from '../raw-receiver.ts';
import { ask, lock } from '../stores/sqlite/ask.ts';
import { until } from '../until.ts';
import { messageIdsAt, messagesFile } from './delivering.ts';
import { answer } from './failing-receiver.ts';
import { hooks } from './hooks.ts';
import { post } from './load.ts';
import { settings, startReady } from './serve-and-worker.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const MESSAGES = 12;
/** The message whose delivery meets the crash. */
const VICTIM = 'm7';

type Scene = Awaited<ReturnType<typeof setUp>>;

/** Queues messages for a receiver that accepts all of them except the victim, to which the test responds. */
async function setUp() {
  const held: Socket[] = [];
  const taking = await receiver((socket, { body }) => {
    const { messageId } = JSON.parse(body.toString()) as { messageId: string };
    if (messageId === VICTIM) held.push(socket);
    else socket.write(answer(200));
  });
  onTestFinished(() => taking.close());
  const dataDir = temporaryFolder();
  const env = settings({ url: taking.url, dataDir });
  const queued = await hooks(['replay', await messagesFile(MESSAGES), '--queue'], { env });
  expect(queued.code).toBe(0);
  let seen = 0;
  return {
    env,
    /** The file of the queue. */
    file: join(dataDir, 'hooks.db'),
    /** Waits for the next attempt to deliver the victim. */
    attempt: async () => {
      await until(() => held.length > seen, `attempt ${seen + 1}`, { seconds: 20 });
      return { answer: answering(held[seen++]) };
    },
    /** Returns the ids of the received messages, in the order of arrival. */
    came: () => messageIdsAt(taking),
    bodies: () => new Set(taking.requests.map(({ body }) => body.toString())),
  };
}

/** Responds. Resolves when the sender has read the whole response, and so closes the connection. */
function answering(socket: Socket | undefined) {
  if (socket === undefined) throw new Error('Expected an attempt');
  return async (status: number, headers = ''): Promise<void> => {
    const closed = once(socket, 'close');
    socket.write(answer(status, `Connection: close\r\n${headers}`));
    await closed;
  };
}

async function isAt(file: string, state: string, count: number): Promise<boolean> {
  const [found] = await ask(file, `SELECT count(*) FROM queue WHERE state = '${state}'`);
  return Number(found) === count;
}

/** Prepares the moment of the kill. Returns what must happen right after the kill. */
type Before = (scene: Scene) => Promise<(() => void) | undefined>;

/** The process has read the response, but cannot record the attempt. */
function answeredAndNotRecorded(status: number): Before {
  return async ({ attempt, file }) => {
    const { answer: give } = await attempt();
    const unlock = await lock(file);
    await give(status);
    return unlock;
  };
}

/** The wait is so long that the kill comes before the next round. */
const waitsForItsNextRound: Before = async ({ attempt, file }) => {
  await (await attempt()).answer(503, 'Retry-After: 4\r\n');
  await until(() => isAt(file, 'retrying', 1), 'the failure to be recorded');
  return undefined;
};

const isInItsNextRound: Before = async ({ attempt }) => {
  await (await attempt()).answer(503);
  await attempt();
  return undefined;
};

const MOMENTS = [
  ['was made but is not recorded', answeredAndNotRecorded(200), 2, [200]],
  ['failed but is not recorded', answeredAndNotRecorded(503), 2, [200]],
  ['failed and waits for its next round', waitsForItsNextRound, 2, [503, 200]],
  ['is in its next round', isInItsNextRound, 3, [503, 200]],
] as const;

describe.each(['serve', 'worker'] as const)('hooks %s', (command) => {
  it.each(MOMENTS)(
    'repeats only the delivery that %s when it is killed, and delivers all others',
    async (_moment, before, attempts, recorded) => {
      const scene = await setUp();
      const { env, file } = scene;
      const killed = await startReady(command, env);
      await until(() => isAt(file, 'delivered', MESSAGES - 1), 'the others to be recorded');
      const after = await before(scene);
      expect(await killed.stop('SIGKILL')).toMatchObject({ signal: 'SIGKILL', stderr: '' });
      after?.();

      const restartedAt = Date.now();
      const restarted = await startReady(command, env);
      await (await scene.attempt()).answer(200);
      await until(() => isAt(file, 'delivered', MESSAGES), 'the end');
      expect(await restarted.stop('SIGTERM')).toMatchObject({ code: 0, stderr: '' });
      await expectNothingLeft(file);

      const others = Array.from({ length: MESSAGES }, (_, index) => `m${index}`).filter(
        (id) => id !== VICTIM,
      );
      const victims = Array.from({ length: attempts }, () => VICTIM);
      expect(scene.came().toSorted()).toEqual([...others, ...victims].toSorted());
      expect(scene.bodies().size).toBe(MESSAGES);
      const [row = ''] = await ask(
        file,
        `SELECT first_attempt_at, (SELECT group_concat(value ->> 'status') FROM json_each(attempts))
         FROM queue WHERE message_id = '${VICTIM}'`,
      );
      const [firstAttemptAt, statuses] = row.split('|');
      expect(statuses).toBe(recorded.join());
      // The retry window still starts at the first attempt.
      expect(Number(firstAttemptAt)).toBeLessThan(restartedAt);
    },
  );
});

describe('hooks serve', () => {
  it('does not respond to a call that it could not store before it was killed, and accepts the repeated call', async () => {
    const { env, file, came } = await setUp();
    const serve = await startReady('serve', env);
    await until(() => isAt(file, 'delivered', MESSAGES - 1), 'the others to be recorded');
    const unlock = await lock(file);
    const body = JSON.stringify({ messageId: 'late', userId: 'u', event: 'Signup' });
    const call = post(`${serve.url}/v1/track`, body);
    // The service has read the call by the time it has responded to these requests.
    for (let turn = 0; turn < 50; turn++) expect((await fetch(`${serve.url}/healthz`)).status).toBe(200);
    await serve.stop('SIGKILL');
    unlock();
    expect(await call).toBeUndefined();

    const restarted = await startReady('serve', env);
    expect(await post(`${restarted.url}/v1/track`, body)).toMatchObject({ status: 200 });
    await until(() => isAt(file, 'delivered', MESSAGES), 'the late one to be delivered');
    expect(came().filter((id) => id === 'late')).toHaveLength(1);
  });
});
