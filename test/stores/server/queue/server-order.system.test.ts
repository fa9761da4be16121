// Needs redis-server, postgres.
import { beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../../src/clock.ts';
import { NO_PROGRESS } from '../../../../src/queue/delivery.ts';
import type { Claim } from '../../../../src/queue/queue.ts';
import { ServerInspection } from '../../../../src/stores/server/queue/server-inspection.ts';
import { ServerQueue } from '../../../../src/stores/server/queue/server-queue.ts';
import { lineName, type Series, type Server } from '../../../../src/stores/server/server.ts';
import { hasServer, SERVER_KINDS } from '../servers.ts';
import { useServer } from '../use-server.ts';
import { until } from '../../../until.ts';
import { LANE, newDelivery } from '../../../queue/new-delivery.ts';

const SERIES = 'hooks/web/Webhooks';
const LEASE_MS = 60_000;
const DELIVERED = { state: 'delivered', progress: NO_PROGRESS } as const;
const first = newDelivery('first', { orderKeys: ['user'] });
const second = newDelivery('second', { orderKeys: ['user'] });
const third = newDelivery('third', { orderKeys: ['user'] });

describe.each(SERVER_KINDS)('an order key, on %s,', (kind) => {
  if (!hasServer(kind)) return it.skip('needs the server');
  const empty = useServer(kind);
  let server: Server;
  let others: ServerQueue;
  beforeEach(async () => {
    server = await empty();
    others = open(server);
  });

  /** Settles what others claim, until they have delivered it. Returns the ids in the order of claiming. */
  async function deliverUntil(last: string): Promise<readonly string[]> {
    const ids: string[] = [];
    await until(
      async () => {
        const { claims } = await others.claim({ ...LANE, limit: 5, leaseMs: LEASE_MS });
        for (const claim of claims) {
          ids.push(claim.delivery.id);
          await others.settle(claim, DELIVERED);
        }
        return ids.includes(last);
      },
      `${last} to be delivered`,
      { seconds: 20 },
    );
    return ids;
  }

  it('is kept when a process is killed after it took the second out of order', async () => {
    await others.add([first, second]);
    const taken = await onlyClaim(others);
    await wakeSecond(server);
    const killed = open(interrupted(server, { hold: () => Promise.reject(new Error('killed')) }), 100);
    await expect(killed.claim({ ...LANE, limit: 5, leaseMs: LEASE_MS })).rejects.toThrow('killed');
    await until(async () => {
      expect((await others.claim({ ...LANE, limit: 5, leaseMs: LEASE_MS })).claims).toEqual([]);
      return (await server.series(SERIES).ids('delayed', 0, -1)).includes('d-second');
    }, 'the second to be held again');
    await others.settle(taken, DELIVERED);
    expect(await deliverUntil('second')).toEqual(['second']);
  });

  it('is kept when the first ends just before the second is put back', async () => {
    await others.add([first, second]);
    const taken = await onlyClaim(others);
    await wakeSecond(server);
    const slow = open(
      interrupted(server, {
        hold: async (locks) => {
          await others.settle(taken, DELIVERED);
          return server.series(SERIES).hold(locks);
        },
      }),
    );
    const { claims } = await slow.claim({ ...LANE, limit: 5, leaseMs: LEASE_MS });
    expect(claims.map(({ delivery }) => delivery.id)).toEqual(['second']);
    expect(claims[0]?.delivery.progress.rounds).toBe(0);
  });

  it('continues when a person deletes the first on the server', async () => {
    await others.add([first, second]);
    await server.series(SERIES).remove([{ id: 'd-first' }]);
    await others.add([third]);
    expect(await deliverUntil('third')).toEqual(['second', 'third']);
  });

  it('does not change when a delivery is added again', async () => {
    await others.add([first, second]);
    await others.add([{ ...second, orderKeys: ['another'] }, first]);
    await others.add([newDelivery('free', { orderKeys: ['another'] })]);
    expect(await deliverUntil('second')).toEqual(['first', 'free', 'second']);
  });

  it('follows the ids of a retry, also for deliveries that were dead on arrival', async () => {
    const names = ['a', 'b', 'c', 'd'];
    const dead = { state: 'dead', reason: 'cancelled', orderKeys: ['user'] } as const;
    for (const name of names) {
      const arrives = name === 'a' || name === 'c';
      await others.add([newDelivery(name, arrives ? dead : { orderKeys: ['user'] })]);
      if (!arrives) {
        const claim = await onlyClaim(others);
        await others.settle(claim, { state: 'dead', reason: 'rejected', progress: NO_PROGRESS });
      }
    }
    const results = await new ServerInspection({ server, clock: systemClock }).retry(names.toReversed());
    expect(results).toEqual(names.map(() => 'retried'));
    expect(await deliverUntil('a')).toEqual(names.toReversed());
  });

  it('holds back one of two order keys until it is first in both', async () => {
    await others.add([first, newDelivery('other', { orderKeys: ['another'] })]);
    await others.add([newDelivery('both', { orderKeys: ['user', 'another', 'user'] })]);
    const { claims } = await others.claim({ ...LANE, limit: 5, leaseMs: LEASE_MS });
    expect(claims.map(({ delivery }) => delivery.id)).toEqual(['first', 'other']);
    for (const claim of claims) {
      expect((await others.claim({ ...LANE, limit: 5, leaseMs: LEASE_MS })).claims).toEqual([]);
      await others.settle(claim, DELIVERED);
    }
    expect(await deliverUntil('both')).toEqual(['both']);
  });

  it('can be any text, however long and odd', async () => {
    const series = 'hooks-line';
    const lines = ['x'.repeat(20_000), 'nul \u0000'].map(lineName);
    const entry = { series, lines, name: 'n', text: '{}', addedAt: 1 };
    await server.add([
      { ...entry, id: 'd-a' },
      { ...entry, id: "d-b's" },
    ]);
    expect(await server.series(series).ids('waiting', 0, -1)).toEqual(['d-a']);
    expect(await server.series(series).ids('delayed', 0, -1)).toEqual(["d-b's"]);
    expect(await server.series(series).remove([{ id: 'd-a', lines }])).toEqual([true]);
    expect(await server.series(series).ids('waiting', 0, -1)).toEqual(["d-b's"]);
  });
});

function open(server: Server, lockMs = 10_000): ServerQueue {
  return new ServerQueue({ server, clock: systemClock, recoverMs: 20, lockMs });
}

/** As a person may who sees what waits in a tool of BullMQ. */
async function wakeSecond(server: Server): Promise<void> {
  const note = JSON.stringify({ progress: NO_PROGRESS });
  expect(await server.series(SERIES).wake('delayed', [{ id: 'd-second', note }])).toEqual([true]);
}

async function onlyClaim(queue: ServerQueue): Promise<Claim> {
  const { claims } = await queue.claim({ ...LANE, limit: 5, leaseMs: LEASE_MS });
  const [claim] = claims;
  expect(claims).toHaveLength(1);
  if (claim === undefined) throw new Error('nothing was claimed');
  return claim;
}

/** The same server, of which some of what is asked ends otherwise. */
function interrupted(server: Server, parts: Partial<Series>): Server {
  return { ...server, series: (name) => ({ ...server.series(name), ...parts }) };
}
