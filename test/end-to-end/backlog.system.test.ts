// Takes minutes: it delivers a large backlog.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import { SqliteQueue } from '../../src/stores/sqlite/queue/sqlite-queue.ts';
import { TABLES } from '../../src/stores/sqlite/tables.ts';
import { openStore } from '../../src/stores/sqlite/file/open-store.ts';
import { newDelivery } from '../queue/new-delivery.ts';
import { hooks, startHooks, type RunningHooks } from './hooks.ts';
import { jsonLines, receiving } from './receiving.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';

/** The long form: HOOKS_TORTURE_BACKLOG=1000000. */
const WAITING = Number(process.env['HOOKS_TORTURE_BACKLOG'] ?? 20_000);
const SPREAD = 10_000;
const LONGEST_MS = 240_000 + WAITING / 5;
const STARTS_WITHIN_MS = 10_000;
const MOST_BYTES = 300e6;
const HOUR_MS = 3_600_000;

let dataDir: string;

/** Adds deliveries that were due in the last hour, in another order than that of adding. */
async function fill(file: string): Promise<void> {
  const store = await openStore(file, { clock: systemClock, tables: TABLES });
  const queue = new SqliteQueue({ store, clock: systemClock });
  const body = Buffer.from(JSON.stringify({ version: 1, type: 'track', note: 'x'.repeat(400) }));
  const now = Date.now();
  for (let from = 0; from < WAITING; from += 1_000) {
    await queue.add(
      Array.from({ length: 1_000 }, (_, index) => {
        const dueAt = now - 1_000 - (((from + index) * 7_919_993) % HOUR_MS);
        const lane = { source: 'default', destination: 'Webhooks' };
        return newDelivery(`d${from + index}`, { ...lane, body, createdAt: now - HOUR_MS, dueAt });
      }),
    );
  }
  await queue.close();
  await store.close();
}

beforeAll(async () => {
  dataDir = temporaryFolder();
  await fill(join(dataDir, 'hooks.db'));
}, LONGEST_MS);

/** Starts a command, and waits for its first line. */
async function start(command: readonly string[], url: string) {
  const env = { HOOKS_DATA_DIR: dataDir, HOOKS_URL: url, HOOKS_WRITE_KEY: 'wk', HOOKS_SECRET: 's' };
  const running = startHooks([...command, '-o', 'json', '-q'], { env, timeoutMs: LONGEST_MS });
  onTestFinished(async () => {
    await running.stop('SIGKILL');
  });
  const first = await Promise.race([running.lines.next(), delay(STARTS_WITHIN_MS)]);
  return { running, first: first?.value ?? 'not ready' };
}

/** Returns the peak memory of the process, as the kernel counts it. */
function peakBytes({ child }: RunningHooks): number {
  const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
  return Number(/^VmHWM:\s+(\d+) kB/m.exec(status)?.[1]) * 1024;
}

async function depth(url: string): Promise<Record<string, number>> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const lines = text.matchAll(/^hooks_queue_deliveries\{.*state="(\w+)"\} (\d+)$/gm);
  return Object.fromEntries([...lines].map(([, state = '', count]) => [state, Number(count)]));
}

const sum = (counts: Readonly<Record<string, number>>): number =>
  Object.values(counts).reduce((total, count) => total + count, 0);

describe(`${WAITING.toLocaleString('en-US')} overdue deliveries`, () => {
  it(
    'let serve start at once, and are not all sent within a second',
    async ({ annotate }) => {
      const times: number[] = [];
      const receiver = await receiving({ onRequest: () => times.push(performance.now()) });
      const { running, first } = await start(['serve', '--port', '0', '--allow-private'], receiver.url);
      expect(JSON.parse(first)).toMatchObject({ ready: true });
      const { url } = JSON.parse(first) as { url: string };
      expect(sum(await depth(url))).toBe(WAITING);
      await until(() => times.length >= SPREAD, `${SPREAD} requests`, { seconds: 180 });
      const [earliest = 0, last = 0] = [times[0], times[SPREAD - 1]];
      // 32 in the first second, and twice as many in each further second, take at least five seconds.
      expect(last - earliest).toBeGreaterThan(3_000);
      expect(sum(await depth(url))).toBe(WAITING);
      await annotate(
        `${Math.round(peakBytes(running) / 1e6)} MB at most, ${Math.round(last - earliest)} ms for ${SPREAD}`,
      );
      expect(peakBytes(running)).toBeLessThan(MOST_BYTES);
      expect(await running.stop('SIGTERM')).toMatchObject({ code: 0, stderr: '' });
    },
    LONGEST_MS,
  );

  it(
    'let worker start at once, and queue stats counts them meanwhile',
    async () => {
      const receiver = await receiving();
      const { running, first } = await start(['worker', '--allow-private'], receiver.url);
      expect(JSON.parse(first)).toMatchObject({ ready: true });
      await until(() => receiver.requests.length >= 100, 'a hundred requests', { seconds: 20 });
      const { stdout } = await hooks(['queue', 'stats', '-o', 'json'], { env: { HOOKS_DATA_DIR: dataDir } });
      const { total = {} } = jsonLines<{ total: Record<string, number> }>(stdout).at(-1) ?? {};
      expect(sum(total)).toBe(WAITING);
      expect(total['delivered']).toBeGreaterThanOrEqual(SPREAD);
      expect(peakBytes(running)).toBeLessThan(MOST_BYTES);
      expect(await running.stop('SIGTERM')).toMatchObject({ code: 0 });
    },
    LONGEST_MS,
  );
});
