// Takes minutes: it stops workers.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { expectNothingLeft } from '../queue/nothing-left.ts';
import { randomFrom } from '../random.ts';
import { ask } from '../stores/sqlite/ask.ts';
import { IS_LONG, SEED } from '../torture.ts';
import { until } from '../until.ts';
import type { HooksResult } from './hooks.ts';
import { Load } from './load.ts';
import { settings, startReady, untilSettled } from './serve-and-worker.ts';
import { slowAndFailingReceiver, type SlowAndFailingReceiver } from './slow-and-failing-receiver.ts';
import { temporaryFolder } from '../temporary-folder.ts';

/** Number of stops, besides two at the end. */
const STOPS = IS_LONG ? 50 : 2;
const TIMEOUT_MS = 2_000;
/** Most messages that are acknowledged but have not reached the receiver. */
const BACKLOG = 400;

type Running = Awaited<ReturnType<typeof startReady>>;

const TURN_MS = 20;
const TURNS = (TIMEOUT_MS + 1_000) / TURN_MS;

/**
 * Sends SIGTERM, and fails unless the process ends within the timeout of an attempt and a second. The time is counted in
 * turns, which a machine without a free processor delays, too.
 */
async function stopInTime(running: Running): Promise<HooksResult & { readonly ms: number }> {
  const { child } = running;
  const from = performance.now();
  const result = running.stop('SIGTERM');
  for (let turn = 0; child.exitCode === null && child.signalCode === null; turn++) {
    if (turn === TURNS) throw new Error(`it has not ended after ${performance.now() - from} ms`);
    await delay(TURN_MS);
  }
  const ms = performance.now() - from;
  return { ...(await result), ms };
}

/** Expects that every attempt is recorded, and that no delivered message was sent again. */
async function expectEveryAttemptRecorded(
  file: string,
  { requests }: SlowAndFailingReceiver,
): Promise<{ attempts: number; timeouts: number }> {
  const rows = await ask(
    file,
    `SELECT message_id, coalesce(json_array_length(attempts), 0),
       (SELECT count(*) FROM json_each(attempts) WHERE value ->> 'result' = 'delivered'),
       (SELECT count(*) FROM json_each(attempts) WHERE value ->> 'error' = 'timeout'), state
     FROM queue WHERE reason IS NOT 'invalid'`,
  );
  const unlike: string[] = [];
  let [attempts, timeouts] = [0, 0];
  for (const row of rows) {
    const [messageId = '', made, delivered, timedOut, state] = row.split('|');
    const isOnce = Number(delivered) === (state === 'delivered' ? 1 : 0);
    if (Number(made) !== requests.get(messageId) || !isOnce) {
      unlike.push(`${row}, got ${requests.get(messageId)}`);
    }
    attempts += Number(made);
    timeouts += Number(timedOut);
  }
  expect(unlike).toEqual([]);
  return { attempts, timeouts };
}

it(
  `hooks serve and hooks worker lose and repeat no message when stopped by SIGTERM ${STOPS} times under load (seed ${SEED})`,
  async ({ annotate }) => {
    const random = randomFrom(SEED);
    const dataDir = temporaryFolder();
    const [file, config] = [join(dataDir, 'hooks.db'), join(dataDir, 'config.json')];
    writeFileSync(config, JSON.stringify({ delivery: { timeout: `${TIMEOUT_MS}ms` } }));
    const receiver = await slowAndFailingReceiver(random, TIMEOUT_MS / 2);
    const env = { ...settings({ url: receiver.url, dataDir }), HOOKS_CONFIG: config };
    const running = { serve: await startReady('serve', env), worker: await startReady('worker', env) };
    const load = new Load({
      random,
      url: () => running.serve.url,
      isFull: () => load.acknowledged.size - receiver.requests.size > BACKLOG,
    });
    load.start();

    const times: number[] = [];
    while (times.length < STOPS) {
      const command = times.length % 2 === 0 ? 'serve' : 'worker';
      const enough = receiver.count + random() * 200;
      await until(() => receiver.count >= enough && receiver.held > 0, 'requests in flight');
      const { pid } = running[command].child;
      const { code, signal, stderr, ms } = await stopInTime(running[command]);
      expect({ command, code, signal, stderr }).toEqual({ command, code: 0, signal: null, stderr: '' });
      // The process has released its deliveries, so that no other process waits for its leases.
      expect(await ask(file, `SELECT * FROM owners WHERE pid = ${pid}`)).toEqual([]);
      times.push(ms);
      running[command] = await startReady(command, env);
    }
    await load.stop();
    receiver.recover();
    await untilSettled(file);
    for (const each of Object.values(running)) expect(await stopInTime(each)).toMatchObject({ code: 0 });

    const { attempts, timeouts } = await expectEveryAttemptRecorded(file, receiver);
    await annotate(
      `${STOPS} stops, the longest ${Math.round(Math.max(...times))} ms; ${load.acknowledged.size} responded with 200, ` +
        `${load.unanswered} calls unanswered, ${load.otherAnswers.length} rejected; ${attempts} attempts, ${timeouts} of them timeouts`,
    );
    const settled = new Set(
      await ask(file, "SELECT message_id FROM queue WHERE state IN ('delivered', 'dead')"),
    );
    expect([...load.acknowledged, ...load.invalid].filter((id) => !settled.has(id))).toEqual([]);
    expect(new Set(load.otherAnswers.map((text) => text.slice(0, 3)))).toEqual(
      new Set(load.otherAnswers.length > 0 ? ['503'] : []),
    );
    await expectNothingLeft(file);
  },
  120_000 + STOPS * 8_000,
);
