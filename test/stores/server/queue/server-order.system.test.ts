// Needs redis-server, postgres.
import { beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../../src/clock.ts';
import { NO_PROGRESS, type Delivery } from '../../../../src/queue/delivery.ts';
import type { Claim } from '../../../../src/queue/queue.ts';
import { ServerQueue } from '../../../../src/stores/server/queue/server-queue.ts';
import type { Lines, Server } from '../../../../src/stores/server/server.ts';
import { hasServer, SERVER_KINDS } from '../servers.ts';
import { useServer } from '../use-server.ts';
import { until } from '../../../until.ts';
import { LANE, newDelivery } from '../../../queue/new-delivery.ts';

const SERIES = 'hooks/web/Webhooks';
const LEASE_MS = 60_000;
const REPAIR_AFTER_MS = 100;
const DELIVERED = { state: 'delivered', progress: NO_PROGRESS } as const;
const first = newDelivery('first', { orderKeys: ['user'] });
const second = newDelivery('second', { orderKeys: ['user'] });

describe.each(SERVER_KINDS)(
  'what a process had begun with an order key when it was killed, on %s',
  (kind) => {
    if (!hasServer(kind)) return it.skip('needs the server');
    const empty = useServer(kind);
    let server: Server;
    let others: ServerQueue;
    beforeEach(async () => {
      server = await empty();
      others = open(server);
    });

    /** Others come to it in time. */
    async function untilSecond(): Promise<void> {
      await until(
        async () => {
          const { claims } = await others.claim({ ...LANE, limit: 5, leaseMs: LEASE_MS });
          for (const claim of claims) await others.settle(claim, DELIVERED);
          return claims.some(({ delivery }) => delivery.id === 'second');
        },
        'the second to be delivered',
        { seconds: 20 },
      );
    }

    it('is finished by others: it had settled the first', async () => {
      await others.add([first, second]);
      const killed = open(interrupted(server, { leave: () => Promise.reject(new Error('killed')) }));
      const claim = await onlyClaim(killed);
      await expect(killed.settle(claim, DELIVERED)).rejects.toThrow('killed');
      // So was the process that was about to finish it.
      await until(async () => {
        const now = Date.now();
        return (await server.intents.take({ now, againAt: now + 50, limit: 1 })).length > 0;
      }, 'the intent to be due');
      await untilSecond();
    });

    it('is finished by others: it had put off the second, of which the first had just gone', async () => {
      await others.add([first, second]);
      const taken = await onlyClaim(others);
      await server.series(SERIES).wake('delayed', [{ id: 'd-second' }]);
      const killed = open(
        interrupted(server, {
          firsts: async (lines) => {
            const firsts = await server.lines.firsts(lines);
            await others.settle(taken, DELIVERED);
            return firsts;
          },
          join: () => Promise.reject(new Error('killed')),
        }),
      );
      await expect(killed.claim({ ...LANE, limit: 5, leaseMs: LEASE_MS })).rejects.toThrow('killed');
      expect(await server.series(SERIES).ids('delayed', 0, -1)).toEqual(['d-second']);
      await untilSecond();
    });

    it('is finished by others: version 0.1 had settled the first', async () => {
      await others.add([first, second]);
      const killed = open(interrupted(server, { leave: () => Promise.reject(new Error('killed')) }));
      const claim = await onlyClaim(killed);
      await expect(killed.settle(claim, DELIVERED)).rejects.toThrow('killed');
      // What is left is written as that version did, in a series of entries.
      const againAt = Date.now() + 3_600_000;
      const [intent] = await server.intents.take({ now: againAt, againAt, limit: 1 });
      await server.intents.remove(intent?.id ?? '');
      const entry = { series: 'hooks-errands', id: 'e-old', name: 'errand', text: intent?.text ?? '' };
      await server.add([{ ...entry, addedAt: 1, dueAt: Date.now() + 3_600_000 }]);
      others = open(server);
      await untilSecond();
      expect(await server.series('hooks-errands').get(['e-old'])).toEqual([undefined]);
    });

    it('is right when it was only suspended, and others took its second out of the line meanwhile', async () => {
      await others.add([first]);
      let [isAdding, isLeft] = [false, false];
      others = open(
        interrupted(server, {
          leave: async (ids) => {
            const firsts = await server.lines.leave(ids);
            isLeft ||= ids.some(({ id }) => id === 'second');
            return firsts;
          },
        }),
      );
      const suspended = open({
        ...interrupted(server, {}),
        add: async (entries) => {
          isAdding = true;
          await until(() => isLeft, 'the line to be left');
          await server.add(entries);
        },
      });
      let isAdded = false;
      const adding = suspended.add([second]).then(() => (isAdded = true));
      await until(() => isAdding, 'the line to be joined');
      // A claiming process runs repairs.
      const taken = await onlyClaim(others);
      await until(async () => {
        await others.claim({ ...LANE, limit: 1, leaseMs: LEASE_MS });
        return isAdded;
      }, 'the second to be added');
      await adding;
      expect((await others.claim({ ...LANE, limit: 5, leaseMs: LEASE_MS })).claims).toEqual([]);
      await others.settle(taken, DELIVERED);
      await untilSecond();
    });

    it('is right when a repair finds missing what is added before it goes on', async () => {
      await failToAdd(server, [first]);
      let isAdded = false;
      const repairing = open(
        interrupted(server, {
          leave: async (ids) => {
            if (!isAdded) await others.add([first]);
            const firsts = await server.lines.leave(ids);
            if (!isAdded) await others.add([second]);
            isAdded = true;
            return firsts;
          },
        }),
      );
      const claimed: Claim[] = [];
      await until(async () => {
        claimed.push(...(await repairing.claim({ ...LANE, limit: 5, leaseMs: LEASE_MS })).claims);
        return claimed.length > 0;
      }, 'the repair');
      expect(claimed.map(({ delivery }) => delivery.id)).toEqual(['first']);
    });

    it('is right when a repair empties the line between the steps of adding, and others claim before the last', async () => {
      await failToAdd(server, [first, second]);
      let isLeft = false;
      const repairing = open(
        interrupted(server, {
          leave: async (ids) => {
            const firsts = await server.lines.leave(ids);
            isLeft = true;
            return firsts;
          },
        }),
      );
      const claimed: Claim[] = [];
      const adding = open({
        ...interrupted(server, {
          join: async (ids, options) => {
            const behind = await server.lines.join(ids, options);
            await until(async () => {
              await repairing.claim({ ...LANE, limit: 1, leaseMs: LEASE_MS });
              return isLeft;
            }, 'the repair');
            return behind;
          },
        }),
        add: async (entries) => {
          await server.add(entries);
          claimed.push(await onlyClaim(others));
        },
      });
      await adding.add([first, second]);
      expect(claimed.map(({ delivery }) => delivery.id)).toEqual(['first']);
      for (const claim of claimed) await others.settle(claim, DELIVERED);
      await untilSecond();
    });
  },
);

/** What a server that goes away leaves behind: they are in their line, and are not added. */
async function failToAdd(server: Server, deliveries: readonly Delivery[]): Promise<void> {
  const cut = open({ ...interrupted(server, {}), add: () => Promise.reject(new Error('cut off')) });
  await expect(cut.add(deliveries)).rejects.toThrow('cut off');
}

function open(server: Server): ServerQueue {
  return new ServerQueue({ server, clock: systemClock, recoverMs: 20, repairAfterMs: REPAIR_AFTER_MS });
}

/** Of the first, while it holds back the second. */
async function onlyClaim(queue: ServerQueue): Promise<Claim> {
  const { claims } = await queue.claim({ ...LANE, limit: 5, leaseMs: LEASE_MS });
  const [claim] = claims;
  expect(claims).toHaveLength(1);
  if (claim === undefined) throw new Error('nothing was claimed');
  return claim;
}

/** The same server, of which some of what is asked ends otherwise. */
function interrupted(server: Server, lines: Partial<Lines>): Server {
  return {
    place: server.place,
    series: (name) => server.series(name),
    add: (entries) => server.add(entries),
    intents: server.intents,
    facts: server.facts,
    registered: () => server.registered(),
    register: (series) => server.register(series),
    findSeries: (prefix) => server.findSeries(prefix),
    lines: { ...server.lines, ...lines },
    check: () => server.check(),
    warnings: () => server.warnings(),
    close: () => server.close(),
  };
}
