// Needs redis-server and PostgreSQL.
import { expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import { NO_PROGRESS } from '../../src/queue/delivery.ts';
import type { Claim, Queue, Settlement } from '../../src/queue/queue.ts';
import { openServer } from '../../src/stores/server/open-server.ts';
import { ServerInspection } from '../../src/stores/server/queue/server-inspection.ts';
import { ServerQueue } from '../../src/stores/server/queue/server-queue.ts';
import { hooks, startHooks } from '../end-to-end/hooks.ts';
import { LANE, newDelivery } from '../queue/new-delivery.ts';
import { describeServers } from '../stores/server/describe-servers.ts';
import { startServer } from '../stores/server/servers.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';

const TO = { webhooks: ['http://127.0.0.1:9/'], sharedSecret: 's' };
const CONFIG = {
  '.hooksrc.json': JSON.stringify({
    sources: { [LANE.source]: { destinations: { [LANE.destination]: TO } } },
  }),
};
/** Number of rejected deliveries, large enough to kill the command before it has retried all. */
const REJECTED = 3_000;
const CANCELLED = 1_000;
const KEYS = 10;
const DEAD: Settlement = { state: 'dead', reason: 'rejected', progress: NO_PROGRESS };
const DELIVERED: Settlement = { state: 'delivered', progress: NO_PROGRESS };

const REJECTED_ONES = Array.from({ length: REJECTED }, (_, number) =>
  newDelivery(`rejected-${number}`, {
    createdAt: number,
    orderKeys: number % 3 === 0 ? [`u${number % KEYS}`] : [],
  }),
);
const ARRIVED_DEAD = Array.from({ length: CANCELLED }, (_, number) =>
  newDelivery(`cancelled-${number}`, { state: 'dead', reason: 'cancelled' }),
);

/** Claims and settles deliveries until none is left, and returns the ids in the order of claiming. */
async function settleAll(queue: Queue, settlement: Settlement, count: number): Promise<readonly string[]> {
  const settled: string[] = [];
  const settle = async (claim: Claim): Promise<void> => {
    settled.push(claim.delivery.id);
    expect(await queue.settle(claim, settlement)).toBe(true);
  };
  const areAll = async (): Promise<boolean> => {
    const { claims } = await queue.claim({ ...LANE, limit: 100, leaseMs: 60_000 });
    await Promise.all(claims.map(settle));
    return claims.length === 0 && settled.length >= count;
  };
  await until(areAll, 'all to be settled', { seconds: 120 });
  return settled;
}

describeServers(
  (kind) => `queue retry --all on ${kind}`,
  (kind) => {
    it(
      'continues after it was killed: every message is delivered once, in the order of its keys',
      { timeout: 600_000 },
      async () => {
        const running = await startServer(kind);
        const server = await openServer(running.url);
        onTestFinished(async () => {
          await server.close();
          await running.remove();
        });
        const parts = { server, clock: systemClock };
        const [queue, inspection] = [
          new ServerQueue({ ...parts, recoverMs: 100 }),
          new ServerInspection(parts),
        ];
        await queue.add([...REJECTED_ONES, ...ARRIVED_DEAD]);
        await settleAll(queue, DEAD, REJECTED);
        const countDead = async (): Promise<number> => (await inspection.stats())[0]?.dead ?? 0;
        expect(await countDead()).toBe(REJECTED + CANCELLED);

        const retry = ['queue', 'retry', '--all', '--yes', '--store', running.url, '-o', 'json'];
        const cwd = temporaryFolder(CONFIG);
        const killed = startHooks(retry, { cwd });
        await until(async () => (await countDead()) < REJECTED + CANCELLED, 'some to be retried', {
          seconds: 60,
        });
        expect(await killed.stop('SIGKILL')).toMatchObject({ signal: 'SIGKILL' });
        expect(await countDead()).toBeGreaterThan(0);
        expect(await hooks(retry, { cwd })).toMatchObject({ code: 0 });
        expect(await countDead()).toBe(0);

        const delivered = await settleAll(queue, DELIVERED, REJECTED + CANCELLED);
        expect(delivered.toSorted()).toEqual(
          [...REJECTED_ONES, ...ARRIVED_DEAD].map(({ id }) => id).toSorted(),
        );
        const places = new Map(delivered.map((id, place) => [id, place]));
        for (const key of new Set(REJECTED_ONES.flatMap(({ orderKeys }) => orderKeys))) {
          const line = REJECTED_ONES.filter(({ orderKeys }) => orderKeys.includes(key));
          const taken = line.map(({ id }) => places.get(id));
          expect(taken).toEqual(taken.toSorted((one = 0, other = 0) => one - other));
        }
      },
    );
  },
);
