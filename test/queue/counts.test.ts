import { describe, expect, it } from 'vitest';
import { NO_PROGRESS } from '../../src/queue/delivery.ts';
import type { Claim } from '../../src/queue/queue.ts';
import type { SqliteInspection } from '../../src/stores/sqlite/queue/sqlite-inspection.ts';
import type { SqliteQueue } from '../../src/stores/sqlite/queue/sqlite-queue.ts';
import { FakeClock } from '../fake-clock.ts';
import { ask } from '../stores/sqlite/ask.ts';
import { claim, newDelivery } from './new-delivery.ts';
import { newQueueFile, openQueueFile } from '../stores/queue-file.ts';

const SECOND_MS = 1_000;
const HOUR_MS = 3_600 * SECOND_MS;
const LEASE_MS = 2 * HOUR_MS;
const ATTEMPT = { at: 1, url: 'https://a.example/', round: 1, result: 'retryable', ms: 2 } as const;
const PROGRESS = { ...NO_PROGRESS, rounds: 1, firstAttemptAt: 1, attempts: [ATTEMPT] };
/** The state of every delivery, read one by one. */
const SEEN = `SELECT source, destination, state, count(*) FROM queue GROUP BY 1, 2, 3 ORDER BY 1, 2, 3`;

async function counted(inspection: SqliteInspection): Promise<readonly string[]> {
  const lanes = await inspection.stats();
  return lanes
    .flatMap(({ source, destination, pending, sending, retrying, delivered, dead }) =>
      Object.entries({ pending, sending, retrying, delivered, dead })
        .filter(([, count]) => count !== 0)
        .map(([state, count]) => `${source}|${destination}|${state}|${count}`),
    )
    .toSorted();
}

/** Deliveries in each state, with and without order keys, in two lanes. */
async function fill(queue: SqliteQueue, clock: FakeClock): Promise<void> {
  const all = Array.from({ length: 30 }, (_, index) =>
    newDelivery(`d${index}`, { orderKeys: index % 3 === 0 ? ['u'] : [] }),
  );
  await queue.add([...all, newDelivery('other', { source: 'app' })]);
  await queue.add([
    ...all.slice(0, 3),
    newDelivery('bad', { state: 'dead', reason: 'invalid', detail: 'no event' }),
  ]);
  const claims = await claim(queue, 12, LEASE_MS);
  await settle(queue, claims.slice(0, 3), { state: 'delivered', progress: PROGRESS });
  await settle(queue, claims.slice(3, 6), { state: 'dead', reason: 'rejected', progress: PROGRESS });
  const again = { state: 'retrying', dueAt: clock.now() - HOUR_MS, progress: PROGRESS } as const;
  await settle(queue, claims.slice(6, 9), again);
  // Two of the tried ones are in flight again.
  await claim(queue, 2, LEASE_MS);
}

async function settle(
  queue: SqliteQueue,
  claims: readonly Claim[],
  settlement: Parameters<SqliteQueue['settle']>[1],
): Promise<void> {
  for (const each of claims) await queue.settle(each, settlement);
}

describe('the counts of a queue', () => {
  it('match the rows after any operations', async () => {
    const [file, clock] = [newQueueFile(), new FakeClock()];
    const retention = { deliveredMs: SECOND_MS, deadMs: SECOND_MS };
    const { queue, inspection } = await openQueueFile(file, { clock, retention });
    const expectRight = async (): Promise<void> =>
      expect(await counted(inspection)).toEqual(await ask(file, SEEN));
    await fill(queue, clock);
    await expectRight();
    expect(await counted(inspection)).toHaveLength(6);
    const dead = await ask(file, "SELECT id FROM queue WHERE state = 'dead'");
    await inspection.retry(dead.slice(0, 2));
    await expectRight();
    await inspection.drop(
      await ask(file, "SELECT id FROM queue WHERE state IN ('retrying', 'pending') LIMIT 4"),
    );
    await inspection.drop(['d0', ...dead.slice(1)]);
    await expectRight();
    await clock.advance(120 * SECOND_MS);
    await expectRight();
    expect((await inspection.stats()).map(({ delivered, dead: letters }) => [delivered, letters])).toEqual([
      [0, 0],
      [0, 0],
    ]);
    const again = { state: 'retrying', dueAt: clock.now(), progress: PROGRESS } as const;
    await settle(queue, await claim(queue, 100, LEASE_MS), again);
    await expectRight();
    await settle(queue, await claim(queue, 100, LEASE_MS), { state: 'delivered', progress: PROGRESS });
    await expectRight();
  });
});
