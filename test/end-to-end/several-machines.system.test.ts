// Needs redis-server, postgres.
import { readFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import { ServerInspection } from '../../src/stores/server/queue/server-inspection.ts';
import { openServer } from '../../src/stores/server/open-server.ts';
import { CANARY, hasServer, SERVER_KINDS, startServer, type TestServer } from '../stores/server/servers.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { IS_LONG } from '../torture.ts';
import { until } from '../until.ts';
import { startHooks, type RunningHooks } from './hooks.ts';
import { receiving, sorted } from './receiving.ts';
import { nextJson } from './running-command.ts';

const MESSAGES = IS_LONG ? 100_000 : 600;
const BATCH = 100;
const WRITE_KEY = 'wk-of-the-machines';
const AGAIN = { timeout: 120_000, retry: 2 };
const LONGEST_MS = IS_LONG ? 1_800_000 : 90_000;
/** So slow that no worker takes nearly all of a few hundred messages. */
const RESPOND = IS_LONG ? '200' : '200@delay=300ms';
/** Delay of a machine under load. */
const MACHINE_MS = 10_000;

for (const kind of SERVER_KINDS) {
  describe.skipIf(!hasServer(kind))(`serve and worker on several machines, with a store on ${kind}`, () => {
    let server: TestServer;

    beforeAll(async () => {
      server = await startServer(kind);
    }, 30_000);

    afterAll(() => server.remove());

    /** The processes of one test. None may claim the deliveries of the next test. */
    const started: RunningHooks[] = [];
    afterEach(() => {
      for (const { child } of started.splice(0)) child.kill('SIGKILL');
    });

    const start = (command: 'serve' | 'worker', url: string, flags: readonly string[] = []): RunningHooks => {
      // Each has its own data folder: all that they share is the server.
      const env = { HOOKS_URL: url, HOOKS_WRITE_KEY: WRITE_KEY, HOOKS_DATA_DIR: temporaryFolder() };
      const all = [command, '-o', 'json', '--allow-private', '--store', server.url, ...flags];
      const running = startHooks(all, { env, timeoutMs: LONGEST_MS });
      started.push(running);
      return running;
    };
    it(
      `share ${MESSAGES} messages evenly, while one worker joins late and one leaves`,
      async ({ annotate }) => {
        const receiver = await receiving({ respond: RESPOND });
        const serves = [1, 2].map(() => start('serve', receiver.url, ['--port', '0', '--no-deliver', '-q']));
        const urls = await Promise.all(serves.map(async (each) => String((await nextJson(each))['url'])));
        await Promise.all(urls.map((url, side) => feed(url, side)));

        const workers = [1, 2, 3].map(() => start('worker', receiver.url));
        const counts = workers.map(count);
        await Promise.all(workers.map(async (each, index) => counts[index]?.begin(await nextJson(each))));
        await until(() => receiver.requests.length >= MESSAGES / 8, 'some', { seconds: LONGEST_MS / 2_000 });
        const late = start('worker', receiver.url);
        const lateCount = count(late);
        lateCount.begin(await nextJson(late));
        // More messages, so that the late worker gets some, however fast the others were.
        await Promise.all(urls.map((url, side) => feed(url, side + urls.length)));
        const leaving = workers[0];
        const left = await leaving?.stop('SIGTERM');
        expect(left).toMatchObject({ code: 0 });
        const isAll = (): boolean =>
          receiver.requests.length >= MESSAGES && new Set(receiver.field('userId')).size === MESSAGES;
        await until(isAll, 'all messages', { seconds: LONGEST_MS / 2_000 });
        await untilSettled(server.url, MESSAGES);
        const ends = await Promise.all(
          [late, ...workers.slice(1), ...serves].map((each) => each.stop('SIGTERM')),
        );
        expect(ends.map(({ code }) => code)).toEqual(ends.map(() => 0));

        const [, second = 0, third = 0] = counts.map((each) => each.delivered());
        const joined = lateCount.delivered();
        await annotate(
          `${receiver.requests.length - MESSAGES} duplicates; each worker ${counts.map((each) => each.delivered()).join(', ')}, late ${joined}`,
        );
        // No process was killed, so nothing is sent twice.
        expect(receiver.requests).toHaveLength(MESSAGES);
        // The queue may be empty before the slowest worker polls again.
        expect(Math.max(second, third)).toBeLessThan((IS_LONG ? 2 : 10) * Math.min(second, third));
        expect(joined).toBeGreaterThan(0);
        expect([...ends, left].map((end) => `${end?.stdout}${end?.stderr}`).join('')).not.toContain(CANARY);
      },
      LONGEST_MS,
    );

    // A worker that is suspended while it holds a lock of the server keeps the other waiting: this is repeated.
    it(
      'take over the deliveries of a suspended worker within 16 s, and ignore its late results',
      AGAIN,
      async () => {
        const receiver = await receiving({ respond: '200@delay=4s' });
        const serve = start('serve', receiver.url, ['--port', '0', '--no-deliver', '-q']);
        const url = String((await nextJson(serve))['url']);
        await server.empty();
        const asleep = start('worker', receiver.url);
        await nextJson(asleep);
        expect(await call(url, 'held')).toBe(200);
        await until(() => receiver.requests.length === 1, 'the attempt of the first worker');
        // For the server this is the same as a kill.
        asleep.child.kill('SIGSTOP');
        const stoppedAt = performance.now();
        const awake = start('worker', receiver.url);
        await nextJson(awake);
        const isTaken = (): boolean => receiver.requests.length === 2;
        await until(isTaken, 'the attempt of the second worker', { seconds: 60 }).catch(async (error) => {
          throw new Error(await stateOf(server.url, { asleep, awake }), { cause: error });
        });
        const takenAfterMs = performance.now() - stoppedAt;
        await untilSettled(server.url, 1);
        asleep.child.kill('SIGCONT');
        expect(await call(url, 'next')).toBe(200);
        await untilSettled(server.url, 2);
        const ends = await Promise.all([asleep, awake, serve].map((each) => each.stop('SIGTERM')));
        expect(ends.map(({ code }) => code)).toEqual([0, 0, 0]);
        // The suspended worker can report a query that was in flight: its time is over when the worker continues.
        const others = ends.slice(1).map(({ stderr }) => stderr);
        expect(others.join('')).not.toContain('"level":"error"');
        // Each message once, except the one that was in flight.
        expect(sorted(receiver.field('userId'))).toEqual(['held', 'held', 'next']);
        const outputs = ends.map(({ stdout }) => stdout).join('');
        expect(outputs.match(/"outcome":"delivered"/g)).toHaveLength(2);
        expect(takenAfterMs).toBeLessThan(16_000 + MACHINE_MS);
      },
    );

    it('respond with 503 while the server is down, and continue when it is back', async () => {
      const receiver = await receiving();
      const serve = start('serve', receiver.url, ['--port', '0']);
      const url = String((await nextJson(serve))['url']);
      expect(await call(url, 'before')).toBe(200);
      // A delivery in flight when the server goes down is repeated when its lease ends.
      await until(() => receiver.requests.length === 1, 'the first message');
      await server.kill();
      expect(await call(url, 'while')).toBe(503);
      expect((await fetch(`${url}/readyz`)).status).toBe(503);
      await server.start();
      await until(async () => (await call(url, 'after')) === 200, 'a call to be taken', { seconds: 30 });
      // The id of an earlier message is still known.
      expect(await call(url, 'before')).toBe(200);
      await until(() => new Set(receiver.field('userId')).size === 2, 'both messages', { seconds: 40 });
      expect((await fetch(`${url}/readyz`)).status).toBe(200);
      const { code, stderr, stdout } = await serve.stop('SIGTERM');
      expect(code).toBe(0);
      expect(new Set(receiver.field('userId'))).toEqual(new Set(['before', 'after']));
      expect(stdout + stderr).not.toContain(CANARY);
    }, 90_000);

    async function feed(url: string, side: number): Promise<void> {
      const quarter = MESSAGES / 4;
      for (let at = 0; at < quarter; at += BATCH) {
        const batch = Array.from({ length: Math.min(BATCH, quarter - at) }, (_, index) => {
          const userId = `${side}-${at + index}`;
          return { type: 'track', event: 'Signup', userId, messageId: userId };
        });
        const body = JSON.stringify({ batch, writeKey: WRITE_KEY });
        const answer = await fetch(`${url}/v1/batch`, { method: 'POST', body });
        expect(answer.status).toBe(200);
      }
    }
  });
}

async function call(url: string, userId: string): Promise<number> {
  const body = JSON.stringify({ userId, event: 'Signup', messageId: userId, writeKey: WRITE_KEY });
  return (await fetch(`${url}/v1/track`, { method: 'POST', body })).status;
}

/** Counts the deliveries that a worker reports. */
function count({ lines }: RunningHooks): { begin(ready: unknown): void; delivered(): number } {
  let delivered = 0;
  const read = async (): Promise<void> => {
    for (let next = await lines.next(); next.done !== true; next = await lines.next()) {
      if (next.value.includes('"outcome":"delivered"')) delivered++;
    }
  };
  return { begin: () => void read(), delivered: () => delivered };
}

/** Describes workers and the queue that they share, to explain a delivery that is not sent. */
async function stateOf(url: string, workers: Readonly<Record<string, RunningHooks>>): Promise<string> {
  const server = await openServer(url);
  const lanes = await new ServerInspection({ server, clock: systemClock }).stats();
  await server.close();
  const states = Object.entries(workers).map(([name, { child, stderr }]) => {
    const { pid, exitCode, signalCode } = child;
    const isRunning = exitCode === null && signalCode === null;
    const status = isRunning ? readFileSync(`/proc/${pid}/status`, 'utf8') : '';
    return { name, exitCode, signalCode, state: /^State:.*/m.exec(status)?.[0], stderr: stderr() };
  });
  return JSON.stringify({ lanes, states }, undefined, 2);
}

async function untilSettled(url: string, total: number): Promise<void> {
  const server = await openServer(url);
  const inspection = new ServerInspection({ server, clock: systemClock });
  await until(async () => (await inspection.stats())[0]?.delivered === total, 'all to be settled', {
    seconds: 60,
  });
  await server.close();
}
