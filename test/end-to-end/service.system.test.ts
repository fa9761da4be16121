// Takes minutes: it sends 10,000 calls to a service and kills it.
import { join } from 'node:path';
import { Analytics } from '@segment/analytics-node';
import { describe, expect, it } from 'vitest';
import { expectNothingLeft } from '../queue/nothing-left.ts';
import { randomFrom } from '../random.ts';
import { ask } from '../stores/sqlite/ask.ts';
import { IS_LONG, SEED } from '../torture.ts';
import { until } from '../until.ts';
import { failingReceiver } from './failing-receiver.ts';
import { front, type Front } from './front.ts';
import { receiving, SECRET } from './receiving.ts';
import { expectedBody, segmentCalls, userOf } from './segment-calls.ts';
import { settings, startReady, untilSettled, WRITE_KEY } from './serve-and-worker.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const CALLS = 10_000;
/** Calls while the service is killed. A multiple of 15, the batch size of the client, which delays the rest for 10 s. */
const [CALLS_UNDER_FIRE, KILLS] = IS_LONG ? [CALLS, 20] : [1_995, 3];
/** Number of calls without a response. So few that a kill meets some in flight, and others follow. */
const AT_ONCE = 500;

/** Number of deliveries that can be in flight when the service is killed. */
const CONCURRENCY = 32;

/** Creates a client of which only the host is set. */
function client(host: string): { readonly analytics: Analytics; readonly failures: readonly unknown[] } {
  const analytics = new Analytics({ writeKey: WRITE_KEY, host });
  const failures: unknown[] = [];
  analytics.on('error', (error) => failures.push(error));
  return { analytics, failures };
}

/** Expects each body to be that of the call of its user. */
function expectBodies(came: readonly string[]): void {
  const calls = new Map(segmentCalls(CALLS).map((call) => [call.userId, call]));
  const wrong = came.filter((body) => {
    const call = calls.get(userOf(body));
    return call === undefined || expectedBody(call, body) !== body;
  });
  expect(wrong.slice(0, 3)).toEqual([]);
}

describe(`hooks serve, called by the unmodified @segment/analytics-node (seed ${SEED})`, () => {
  it(`delivers ${CALLS} calls of all types once each, signed and with the documented body`, async () => {
    const receiver = await receiving({ secret: SECRET });
    const serve = await startReady('serve', settings({ url: receiver.url, dataDir: temporaryFolder() }));
    const { analytics, failures } = client(serve.url);
    for (const { call } of segmentCalls(CALLS)) call(analytics);
    await analytics.closeAndFlush();
    await until(() => receiver.requests.length >= CALLS, 'all calls', { seconds: 60 });
    expect(await serve.stop('SIGTERM')).toMatchObject({ code: 0, stderr: '' });

    expect(failures).toEqual([]);
    expect(receiver.requests.filter(({ verdict }) => verdict !== 'valid')).toEqual([]);
    const bodies = receiver.bodies();
    expect(new Set(bodies.map(userOf)).size).toBe(CALLS);
    expect(bodies).toHaveLength(CALLS);
    expectBodies(bodies);
  }, 90_000);

  it(`delivers every one of ${CALLS_UNDER_FIRE} acknowledged calls, though it is killed and its receiver fails one in three`, async ({
    annotate,
  }) => {
    const random = randomFrom(SEED);
    const receiver = await failingReceiver(random);
    const dataDir = temporaryFolder();
    const env = settings({ url: receiver.url, dataDir });
    const between = await front();
    const { analytics, failures } = client(between.url);
    let serve = await startReady('serve', env);
    between.lead(serve.url);
    const calling = callSteadily(analytics, between);
    for (let kill = 0; kill < KILLS; kill++) {
      const enough = between.acknowledged.size + random() * 0.8 * (CALLS_UNDER_FIRE / KILLS);
      await until(() => between.acknowledged.size >= enough, `${enough} calls`, { seconds: 30 });
      expect((await serve.stop('SIGKILL')).stderr).toBe('');
      serve = await startReady('serve', env);
      between.lead(serve.url);
    }
    await calling;
    await analytics.closeAndFlush();
    const { acknowledged } = between;
    const file = join(dataDir, 'hooks.db');
    await untilSettled(file);
    expect(await serve.stop('SIGTERM')).toMatchObject({ code: 0, stderr: '' });
    await expectNothingLeft(file);
    await annotate(
      `${CALLS_UNDER_FIRE} calls, ${acknowledged.size} responded with 200, ${between.broken} batches cut off by ${KILLS} kills; ` +
        `${receiver.failed} of ${receiver.requests} requests failed, ${receiver.duplicates} duplicates`,
    );

    expect([failures, between.refused, acknowledged.size]).toEqual([[], [], CALLS_UNDER_FIRE]);
    expect(between.broken).toBeGreaterThan(0);
    const { arrivals } = receiver;
    expect([...acknowledged].filter((id) => !arrivals.get(id)?.taken)).toEqual([]);
    expectBodies([...arrivals.values()].map(({ body }) => body));
    expect(receiver).toMatchObject({ taken: CALLS_UNDER_FIRE, unsigned: 0, changed: 0 });
    // A batch that was repeated because its response was lost was recognized.
    expect(await ask(file, 'SELECT count(*) FROM deliveries')).toEqual([String(CALLS_UNDER_FIRE)]);
    expect(receiver.failed / receiver.requests).toBeGreaterThan(0.3);
    expect(receiver.duplicates).toBeLessThanOrEqual(KILLS * CONCURRENCY);
  }, 180_000);
});

/** Makes all calls, with a limited number without a response. */
async function callSteadily(analytics: Analytics, { acknowledged }: Front): Promise<void> {
  for (const [index, { call }] of segmentCalls(CALLS_UNDER_FIRE).entries()) {
    if (index - acknowledged.size >= AT_ONCE) {
      await until(() => index - acknowledged.size < AT_ONCE, 'answers', { seconds: 60 });
    }
    call(analytics);
  }
}
