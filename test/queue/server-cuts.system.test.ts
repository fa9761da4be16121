// Needs redis-server and PostgreSQL.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import { moveDeliveries } from '../../src/queue/move.ts';
import { NO_PROGRESS, type Delivery } from '../../src/queue/delivery.ts';
import type { Claim, LaneId, Queue, Settlement } from '../../src/queue/queue.ts';
import { MemoryQueue } from '../../src/stores/memory/memory-queue.ts';
import { openServer } from '../../src/stores/server/open-server.ts';
import { ServerInspection } from '../../src/stores/server/queue/server-inspection.ts';
import { ServerQueue } from '../../src/stores/server/queue/server-queue.ts';
import type { Server } from '../../src/stores/server/server.ts';
import { cuttingLinkTo, type CuttingLink } from '../stores/server/cutting-link.ts';
import { describeServers } from '../stores/server/describe-servers.ts';
import { startServer, type TestServer } from '../stores/server/servers.ts';
import { IS_LONG } from '../torture.ts';
import { until } from '../until.ts';
import { newDelivery } from './new-delivery.ts';

const MOST_COMMANDS = IS_LONG ? 60 : 6;
const LEASE_MS = 60_000;
const SHORT_LEASE_MS = 500;
const RECOVER_MS = 20;
/** What was locked over the way that is cut is free so much later: a retry is written under a new lock. */
const CUT_LOCK_MS = 500;
const DELIVERED: Settlement = { state: 'delivered', progress: NO_PROGRESS };
const DEAD: Settlement = { state: 'dead', reason: 'rejected', progress: NO_PROGRESS };
const RETRYING: Settlement = { state: 'retrying', dueAt: 1, progress: NO_PROGRESS };
/** Two of each order key, and as many as there are keys without: in the long form so many that they take 60 commands to settle. */
const KEYS = IS_LONG ? 10 : 1;
const NAMES = Array.from({ length: 3 * KEYS }, (_, index) => `n${index}`);

interface Side {
  readonly queue: Queue;
  readonly inspection: ServerInspection;
  readonly check: () => Promise<void>;
}

/** What is cut, and what must hold afterwards. */
interface Operation {
  readonly prepare?: (round: Round) => Promise<void>;
  readonly act: (round: Round) => Promise<unknown>;
  /** What the caller does that got no answer. @default nothing */
  readonly again?: (round: Round) => Promise<unknown>;
  readonly check: (round: Round) => Promise<void>;
}

interface Round {
  readonly lane: LaneId;
  readonly ids: readonly string[];
  readonly deliveries: readonly Delivery[];
  /** Over the way that is cut, and over another. */
  readonly cut: Side;
  readonly calm: Side;
  readonly claims: Claim[];
  /** Those whose settlement was acknowledged. */
  readonly settled: string[];
  readonly to: MemoryQueue;
}

const add = async ({ calm, deliveries }: Round): Promise<void> => {
  await calm.queue.add(deliveries);
};
/** Of one order key only the first is claimed, so there is one more round for the second. */
const settleAll = (settlement: Settlement): Operation => ({
  prepare: async (round) => {
    await add(round);
    // What takes longer than the lease to be claimed is left to others.
    const isClaimed = async (): Promise<boolean> => {
      const { claims } = await round.cut.queue.claim({ ...round.lane, limit: 100, leaseMs: SHORT_LEASE_MS });
      round.claims.push(...claims);
      return claims.length > 0;
    };
    await until(isClaimed, 'a claim');
  },
  act: async ({ cut, claims, settled }) => {
    for (const claim of claims) {
      if (await cut.queue.settle(claim, settlement)) settled.push(claim.delivery.id);
    }
  },
  check: async (round) => {
    const drained = await drain(round.calm.queue, round);
    if (settlement.state !== 'retrying') {
      expect(drained.filter((id) => round.settled.includes(id))).toEqual([]);
    }
    expect(new Set(drained).size).toBe(drained.length);
    const states = await round.calm.inspection.states(round.ids);
    for (const id of round.ids) {
      expect(states.get(id)).toBe(drained.includes(id) ? 'delivered' : settlement.state);
    }
  },
});

const OPERATIONS: Readonly<Record<string, Operation>> = {
  add: { act: ({ cut, deliveries }) => cut.queue.add(deliveries), again: add, check: expectEachOnce },
  claim: {
    prepare: add,
    act: async ({ cut, lane }) => cut.queue.claim({ ...lane, limit: 100, leaseMs: SHORT_LEASE_MS }),
    check: expectEachOnce,
  },
  settle: settleAll(DELIVERED),
  'mark dead': settleAll(DEAD),
  reschedule: settleAll(RETRYING),
  retry: {
    prepare: async (round) => {
      await add(round);
      await drain(round.calm.queue, round, DEAD);
    },
    act: ({ cut, ids }) => cut.inspection.retry(ids),
    again: ({ calm, ids }) => calm.inspection.retry(ids),
    check: expectEachOnce,
  },
  drop: {
    prepare: add,
    act: ({ cut, ids }) => cut.inspection.drop(ids),
    again: ({ calm, ids }) => calm.inspection.drop(ids),
    check: async (round) => {
      expect((await round.calm.inspection.states(round.ids)).size).toBe(0);
      // Nothing holds back what comes later.
      const later = newDelivery(`${round.lane.source}-later`, { ...round.lane, orderKeys: ['u0'] });
      await round.calm.queue.add([later]);
      expect(await drain(round.calm.queue, { ...round, ids: [later.id] })).toEqual([later.id]);
    },
  },
  move: {
    prepare: add,
    act: (round) => move(round.cut, round),
    again: (round) => move(round.calm, round),
    check: async (round) => {
      expect((await round.calm.inspection.states(round.ids)).size).toBe(0);
      await expectEachOnce({ ...round, calm: { ...round.calm, queue: round.to } });
    },
  },
};

function move({ inspection }: Side, { to, ids }: Round): Promise<unknown> {
  // Of this lane only: others of the test lie on the same server.
  const from = Object.assign(Object.create(inspection) as ServerInspection, {
    stats: () => inspection.stats(),
    list: async () => {
      const found = await inspection.getAll(ids);
      return { deliveries: found.filter((each) => each !== undefined), next: undefined };
    },
    drop: (some: readonly (string | Delivery)[]) => inspection.drop(some),
  });
  return moveDeliveries({ from, to, signal: new AbortController().signal });
}

async function expectEachOnce(round: Round): Promise<void> {
  const drained = await drain(round.calm.queue, round);
  expect(drained.toSorted()).toEqual(round.ids.toSorted());
  for (const [index, first] of round.ids.slice(0, KEYS).entries()) {
    expect(drained.indexOf(first)).toBeLessThan(drained.indexOf(round.ids[index + KEYS] ?? ''));
  }
}

/** Settles what can be claimed until nothing is left, and answers the ids in the order of claiming. */
async function drain(
  queue: Queue,
  { lane, ids, calm }: Pick<Round, 'lane' | 'ids' | 'calm'>,
  settlement = DELIVERED,
): Promise<readonly string[]> {
  const drained: string[] = [];
  const isOver = async (): Promise<boolean> => {
    const { claims } = await queue.claim({ ...lane, limit: 100, leaseMs: LEASE_MS });
    for (const claim of claims) {
      drained.push(claim.delivery.id);
      expect(await queue.settle(claim, settlement)).toBe(true);
    }
    if (claims.length > 0) return false;
    if (queue !== calm.queue) return drained.length >= ids.length;
    const states = [...(await calm.inspection.states(ids)).values()];
    return states.every((state) => state === 'delivered' || state === 'dead');
  };
  await until(isOver, 'all to be settled', { seconds: 30 });
  return drained;
}

function side(server: Server | undefined, lockMs?: number): Side {
  if (server === undefined) throw new Error('it is not open');
  const parts = { server, clock: systemClock };
  const queue = new ServerQueue({ ...parts, recoverMs: RECOVER_MS, ...(lockMs !== undefined && { lockMs }) });
  const inspection = new ServerInspection(parts);
  return { queue, inspection, check: () => server.check() };
}

describeServers(
  (kind) => `a connection to ${kind} that is cut after the n-th command`,
  (kind) => {
    let running: TestServer;
    let link: CuttingLink;
    let [direct, linked]: readonly (Server | undefined)[] = [];

    beforeAll(async () => {
      running = await startServer(kind);
      link = await cuttingLinkTo(running.url);
      direct = await openServer(running.url);
      linked = await openServer(link.url);
    });

    afterAll(async () => {
      await Promise.all([direct?.close(), linked?.close()]);
      await link.close();
      await running.remove();
    });

    /** Whether the operation took so many commands that it was cut. */
    const isCut = async (name: string, operation: Operation, count: number): Promise<boolean> => {
      const lane = { source: `${name} ${count}`, destination: 'D' };
      const ids = NAMES.map((each) => `${name}-${count}-${each}`);
      const deliveries = ids.map((id, index) =>
        newDelivery(id, {
          ...lane,
          createdAt: index + 1,
          orderKeys: index < 2 * KEYS ? [`u${index % KEYS}`] : [],
        }),
      );
      const to = new MemoryQueue(systemClock);
      const round = {
        lane,
        ids,
        deliveries,
        cut: side(linked, CUT_LOCK_MS),
        calm: side(direct),
        claims: [],
        settled: [],
        to,
      };
      await operation.prepare?.(round);
      link.cutAfter(count);
      const error: unknown = await operation.act(round).then(
        () => undefined,
        (caught: unknown) => caught,
      );
      const wasCut = link.stopCutting();
      const isWell = (): Promise<boolean> =>
        round.cut.check().then(
          () => true,
          () => false,
        );
      await until(isWell, 'the store to be well again');
      if (error !== undefined) await operation.again?.(round);
      await operation.check(round);
      return wasCut;
    };

    for (const [name, operation] of Object.entries(OPERATIONS)) {
      it(`loses nothing and doubles nothing in ${name}`, { timeout: 1_200_000 }, async ({ annotate }) => {
        let cuts = 0;
        while (cuts < MOST_COMMANDS && (await isCut(name, operation, cuts + 1))) cuts++;
        expect(cuts).toBeGreaterThan(0);
        await annotate(`${cuts} cuts`);
      });
    }
  },
);
