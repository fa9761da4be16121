import { copyFileSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import { Engine } from '../../src/engine/engine.ts';
import { openDurableQueue } from '../../src/stores/open.ts';
import type { DurableQueue } from '../../src/stores/opened-queue.ts';
import type { Transport } from '../../src/transport/transport.ts';
import { answer } from '../engine/harness.ts';
import { randomFrom } from '../random.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { fakeTransport, sourceWith } from './set-up.ts';

const LONGEST_TEST_MS = 5 * 60_000;
const MESSAGES = 120;
const LANES = ['a', 'b', 'c'];
/** A lane that a flip cut off never becomes idle. */
const LONGEST_RUN_MS = 500;

const SOURCES = sourceWith(Object.fromEntries(LANES.map((name) => [name, `http://${name}.example/`])));

interface Sent {
  readonly url: string;
  readonly body: string;
}

/** Messages for the lanes in turn, some longer than a page. */
const MESSAGES_SENT: readonly Sent[] = Array.from({ length: MESSAGES }, (_, index) => ({
  url: `http://${laneOf(index)}.example/`,
  body: JSON.stringify({ n: index, text: `${index} `.repeat(index % 40 === 0 ? 3_000 : 100) }),
}));

function laneOf(index: number): string {
  return LANES[index % LANES.length] ?? '';
}

function open(file: string): Promise<DurableQueue> {
  return openDurableQueue({ store: file, dataDir: '', clock: systemClock });
}

function engineOver({ queue }: DurableQueue, transport: Transport): Engine {
  return new Engine({ sources: SOURCES, queue, clock: systemClock, userAgent: 'test', transport });
}

async function acknowledge(file: string): Promise<DurableQueue> {
  const durable = await open(file);
  const engine = engineOver(
    durable,
    fakeTransport(() => answer(200)),
  );
  for (const [index, { body }] of MESSAGES_SENT.entries()) {
    await engine.submit('default', [
      {
        messageId: `message-${index}`,
        type: 'track',
        body: Buffer.from(body),
        orderKeys: [`user-${index % 7}`],
        integrations: { All: false, [laneOf(index)]: true },
      },
    ]);
  }
  return durable;
}

/** The requests that are sent from the queue in a file; none if the file cannot be opened. */
async function deliverAll(file: string): Promise<readonly Sent[]> {
  const durable = await open(file).catch(() => undefined);
  if (durable === undefined) return [];
  const transport = fakeTransport(() => answer(200));
  const engine = engineOver(durable, transport);
  engine.start();
  await Promise.race([engine.idle(), delay(LONGEST_RUN_MS)]);
  await engine.close();
  await durable.close();
  return transport.requests.map(({ url, body }) => ({ url, body: Buffer.from(body).toString() }));
}

function flip(from: string, to: string, at: number): void {
  const bytes = readFileSync(from);
  const [byte, bit] = [Math.floor(at / 8), at % 8];
  bytes[byte] = (bytes[byte] ?? 0) ^ (1 << bit);
  writeFileSync(to, bytes);
}

function altered(sent: readonly Sent[]): readonly Sent[] {
  const known = new Set(MESSAGES_SENT.map((each) => JSON.stringify(each)));
  return sent.filter((each) => !known.has(JSON.stringify(each)));
}

/** Flips one bit in the file of a queue, `flips` times, or in its log, `logFlips` times, and delivers from each damaged copy. */
export function bitRot({ flips, logFlips }: { readonly flips: number; readonly logFlips: number }): void {
  describe('a flipped bit', () => {
    it(
      'in the file of a queue causes no altered request, and most messages are sent',
      async () => {
        const folder = temporaryFolder();
        const file = join(folder, 'whole.db');
        await (await acknowledge(file)).close();
        const random = randomFrom(9);
        let sentTotal = 0;
        for (let turn = 0; turn < flips; turn++) {
          const damaged = join(folder, `${turn}.db`);
          flip(file, damaged, Math.floor(random() * statSync(file).size * 8));
          const sent = await deliverAll(damaged);
          expect(altered(sent), `flip ${turn}`).toEqual([]);
          sentTotal += sent.length;
        }
        expect(sentTotal / (flips * MESSAGES)).toBeGreaterThan(0.8);
      },
      LONGEST_TEST_MS,
    );

    it(
      'in the log of a killed queue causes no altered request',
      async () => {
        const folder = temporaryFolder();
        const file = join(folder, 'whole.db');
        const durable = await acknowledge(file);
        const killed = join(folder, 'killed.db');
        for (const end of ['', '-wal']) if (existsSync(file + end)) copyFileSync(file + end, killed + end);
        await durable.close();
        const random = randomFrom(10);
        for (let turn = 0; turn < logFlips; turn++) {
          const damaged = join(folder, `${turn}.db`);
          copyFileSync(killed, damaged);
          flip(`${killed}-wal`, `${damaged}-wal`, Math.floor(random() * statSync(`${killed}-wal`).size * 8));
          expect(altered(await deliverAll(damaged)), `flip ${turn}`).toEqual([]);
        }
      },
      LONGEST_TEST_MS,
    );
  });
}
