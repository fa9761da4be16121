import { copyFileSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import { Engine } from '../../src/engine/engine.ts';
import { DELIVERY_DEFAULTS, type Sources } from '../../src/engine/options.ts';
import { openDurableQueue } from '../../src/stores/open.ts';
import type { DurableQueue } from '../../src/stores/opened-queue.ts';
import { randomFrom } from '../random.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const LONGEST_TEST_MS = 5 * 60_000;
const MESSAGES = 120;
const LANES = ['a', 'b', 'c'];
/** A lane that a flip has cut off never becomes quiet. */
const LONGEST_RUN_MS = 500;

const destination = (name: string): Sources[string]['destinations'][string] => ({
  enabled: true,
  sharedSecrets: [name],
  webhooks: [{ url: `http://${name}.example/`, headers: {} }],
  delivery: DELIVERY_DEFAULTS,
});
const SOURCES: Sources = {
  web: { destinations: Object.fromEntries(LANES.map((name) => [name, destination(name)])) },
};

interface Sent {
  readonly url: string;
  readonly body: string;
}

/** One to a lane, some of them longer than a page. */
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

function engineOver({ queue }: DurableQueue, sent: Sent[]): Engine {
  return new Engine({
    sources: SOURCES,
    queue,
    clock: systemClock,
    userAgent: 'test',
    transport: {
      send: async ({ url, body }) => {
        sent.push({ url, body: Buffer.from(body).toString() });
        return { kind: 'response', status: 200, ms: 1, reconnected: false };
      },
      close: async () => {},
    },
  });
}

async function acknowledge(file: string): Promise<DurableQueue> {
  const durable = await open(file);
  const engine = engineOver(durable, []);
  for (const [index, { body }] of MESSAGES_SENT.entries()) {
    await engine.submit('web', [
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

/** What comes out of a file; nothing, when it cannot even be opened. */
async function deliverAll(file: string): Promise<readonly Sent[]> {
  const sent: Sent[] = [];
  const durable = await open(file).catch(() => undefined);
  if (durable === undefined) return sent;
  const engine = engineOver(durable, sent);
  engine.start();
  await Promise.race([engine.idle(), delay(LONGEST_RUN_MS)]);
  await engine.close();
  await durable.close();
  return sent;
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

/** Flips one bit at a time, `flips` times in the file of a queue and `logFlips` times in its log, and delivers what is left of it. */
export function bitRot({ flips, logFlips }: { readonly flips: number; readonly logFlips: number }): void {
  describe('a bit that flips', () => {
    it(
      'in the file of a queue has nothing altered sent, and most of the rest is',
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
      'in the log of a queue that was killed has nothing altered sent',
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
