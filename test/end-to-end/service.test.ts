import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { Analytics } from '@segment/analytics-node';
import { describe, expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../store/temporary-store.ts';
import { hooks, startHooks, type RunningHooks } from './hooks.ts';
import { receiving, SECRET, type Receiving } from './receiving.ts';

const WRITE_KEY = 'wk-of-the-web';
const CALLS = 500;
/** Two are taken, the third is not; what comes after so many is taken, so that the last retries are not long in coming. */
const ONE_IN_THREE = `${Array.from({ length: 200 }, () => '200x2,503').join(',')},200`;

/** A port that nobody listens on: the service comes back at the same place. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo; // it listens on a port
  server.close();
  await once(server, 'close');
  return port;
}

async function startServe(port: number, env: Record<string, string>): Promise<RunningHooks> {
  const running = startHooks(['serve', '--port', String(port), '-o', 'json', '-q', '--allow-private'], {
    env,
    timeoutMs: 60_000,
  });
  onTestFinished(async () => {
    await running.stop('SIGKILL');
  });
  expect(JSON.parse((await running.lines.next()).value ?? '{}')).toMatchObject({ ready: true });
  return running;
}

/** Each call a message of another user. Returns the ids of those that were acknowledged, once all have come to their end. */
async function call(analytics: Analytics): Promise<readonly string[]> {
  const calls = Array.from(
    { length: CALLS },
    (_, index) =>
      new Promise<string | undefined>((resolve) => {
        const event = { userId: `user-${index}`, event: 'Order Completed', properties: { index, née: '😀' } };
        analytics.track(event, (error, context) => resolve(error ? undefined : context?.event.messageId));
      }),
  );
  return (await Promise.all(calls)).filter((id) => id !== undefined);
}

/** Until so many requests have come, or so many messages have been taken; for 15 seconds at most. */
async function until(isSo: () => boolean): Promise<void> {
  for (let turn = 0; turn < 1_500 && !isSo(); turn++) await delay(10);
}

function taken({ requests }: Receiving): Map<string, Set<string>> {
  const bodiesById = new Map<string, Set<string>>();
  for (const { body, status } of requests) {
    const text = Buffer.from(body).toString();
    const { messageId } = JSON.parse(text) as { messageId: string };
    const bodies = bodiesById.get(messageId) ?? new Set();
    if (status === 200) bodiesById.set(messageId, bodies.add(text));
  }
  return bodiesById;
}

/** The last answers are with the receiver a moment before they are in the queue. */
async function totalWhenSettled(env: Record<string, string>): Promise<unknown> {
  for (let turn = 0; ; turn++) {
    const { stdout } = await hooks(['queue', 'stats', '-o', 'json'], { env });
    const { total } = JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as { total: { delivered: number } };
    if (total.delivered === CALLS || turn === 10) return total;
  }
}

describe('hooks serve', () => {
  it('delivers every call that it acknowledged, though it is killed and its receiver fails', async () => {
    const receiver = await receiving({ secret: SECRET, respond: ONE_IN_THREE });
    const env = {
      HOOKS_URL: receiver.url,
      HOOKS_SECRET: SECRET,
      HOOKS_WRITE_KEY: WRITE_KEY,
      HOOKS_DATA_DIR: temporaryFolder(),
    };
    const port = await freePort();
    let serve = await startServe(port, env);
    const analytics = new Analytics({ writeKey: WRITE_KEY, host: `http://127.0.0.1:${port}` });
    const calling = call(analytics);
    for (const reached of [20, 200]) {
      await until(() => receiver.requests.length >= reached);
      const { signal } = await serve.stop('SIGKILL');
      expect([signal, taken(receiver).size < CALLS]).toEqual(['SIGKILL', true]);
      serve = await startServe(port, env);
    }
    await analytics.closeAndFlush({ timeout: 15_000 });
    const acknowledged = await calling;
    expect(acknowledged).toHaveLength(CALLS);
    await until(() => taken(receiver).size >= CALLS);

    const bodiesById = taken(receiver);
    expect([...bodiesById.keys()].toSorted()).toEqual(acknowledged.toSorted());
    expect([...bodiesById.values()].every((bodies) => bodies.size === 1)).toBe(true);
    expect(new Set(receiver.requests.map(({ verdict }) => verdict))).toEqual(new Set(['valid']));

    expect(await totalWhenSettled(env)).toEqual({
      pending: 0,
      sending: 0,
      retrying: 0,
      delivered: CALLS,
      dead: 0,
    });
    expect(await serve.stop('SIGTERM')).toMatchObject({ code: 0, stderr: '' });
  }, 60_000);
});
