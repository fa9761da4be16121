// Needs redis-server, postgres.
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../../../src/clock.ts';
import { NO_PROGRESS } from '../../../../src/queue/delivery.ts';
import { QueueError } from '../../../../src/errors.ts';
import type { Claim, Queue } from '../../../../src/queue/queue.ts';
import { ServerInspection } from '../../../../src/stores/server/queue/server-inspection.ts';
import { ServerLanes } from '../../../../src/stores/server/queue/server-lanes.ts';
import { ServerQueue } from '../../../../src/stores/server/queue/server-queue.ts';
import { openServer } from '../../../../src/stores/server/open-server.ts';
import type { Series, Server } from '../../../../src/stores/server/server.ts';
import { until } from '../../../until.ts';
import { describeServers } from '../describe-servers.ts';
import { startServer, type TestServer } from '../servers.ts';
import { queueConformance } from '../../../queue/conformance.ts';
import { inspectionConformance } from '../../../queue/inspection-conformance.ts';
import { LANE, newDelivery } from '../../../queue/new-delivery.ts';
import { PatientQueue, realClock } from '../../../queue/real-time.ts';

/** What must not have passed yet leaves room for a process that gets no turn for two seconds. */
const TIMES = {
  leaseMs: 3_000,
  longLeaseMs: 60_000,
  withinLeaseMs: 400,
  laterMs: 3_000,
  beforeLaterMs: 150,
  soonMs: 2_500,
  farMs: 60_000,
};

describeServers(
  (kind) => kind,
  (kind) => {
    let running: TestServer;
    let server: Server;

    beforeAll(async () => {
      running = await startServer(kind);
      server = await openServer(running.url);
    });

    afterAll(async () => {
      await server.close();
      await running.remove();
    });

    const open = async (): Promise<Queue> => {
      await running.empty();
      return new PatientQueue(new ServerQueue({ server, clock: systemClock, recoverMs: 40 }));
    };

    const modelRuns = kind === 'redis' ? 25 : 8; // a transaction waits for the disk
    const openOther = async (): Promise<Queue> => {
      const other = await openServer(running.url);
      onTestFinished(() => other.close());
      return new ServerQueue({ server: other, clock: systemClock });
    };
    queueConformance(kind, open, { modelRuns, openOther, clock: realClock, times: TIMES, isLoose: true });

    it('announces deliveries again after the server was down', async () => {
      const lanes: unknown[] = [];
      const end = new ServerQueue({ server, clock: systemClock }).watch((lane) => lanes.push(lane));
      const other = await openOther();
      let added = 0;
      const isAnnounced = async (): Promise<boolean> => {
        await other.add([newDelivery(`again-${added++}`)]).catch(() => {});
        return lanes.length > 0;
      };
      await until(isAnnounced, 'an announcement');
      await running.kill();
      await running.start();
      lanes.length = 0;
      await until(isAnnounced, 'an announcement after the start', { seconds: 30 });
      end();
    }, 60_000);

    it('forgets old deliveries in every lane, also in lanes without a claiming process', async () => {
      await running.empty();
      const dead = { state: 'dead', reason: 'invalid' } as const;
      await new ServerQueue({ server, clock: systemClock }).add([
        newDelivery('nowhere', { source: 'gone', destination: '', ...dead }),
        newDelivery('here', { ...dead }),
        newDelivery('waits', { source: 'gone' }),
      ]);
      const clock = { ...systemClock, now: () => systemClock.now() + 60_000 };
      const retention = { deliveredMs: 1_000, deadMs: 1_000 };
      await new ServerQueue({ server, clock, retention }).claim({ ...LANE, limit: 1, leaseMs: 1_000 });
      const inspection = new ServerInspection({ server, clock: systemClock });
      const { deliveries } = await inspection.list({ states: ['pending', 'dead'], limit: 10 });
      expect(deliveries.map(({ id }) => id)).toEqual(['waits']);
    });

    it('detects a changed body, and rejects its retry', async () => {
      await running.empty();
      const rotten: Server = {
        ...asObject(server),
        add: (entries) =>
          server.add(entries.map((entry) => ({ ...entry, text: entry.text.replace('n\\":1', 'n\\":3') }))),
      };
      const queue = new ServerQueue({ server: rotten, clock: systemClock });
      await queue.add([newDelivery('a', { orderKeys: ['u'] }), newDelivery('b', { orderKeys: ['u'] })]);
      const inspection = new ServerInspection({ server, clock: systemClock });
      const damaged = { state: 'dead', reason: 'damaged', isDamaged: true };
      expect(await inspection.get('a')).toMatchObject(damaged);
      expect((await inspection.list({ states: ['pending', 'dead'], limit: 10 })).deliveries).toMatchObject([
        damaged,
        damaged,
      ]);
      const request = { ...LANE, limit: 1, leaseMs: 10_000 };
      const [claim] = (await queue.claim(request)).claims;
      if (claim === undefined) throw new Error('nothing to claim');
      expect(claim.delivery).toMatchObject({ id: 'a', isDamaged: true });
      const { progress } = claim.delivery;
      expect(await queue.settle(claim, { state: 'dead', reason: 'damaged', progress })).toBe(true);
      expect(await inspection.retry(['a'])).toEqual(['damaged']);
      expect((await queue.claim(request)).claims.map(({ delivery }) => delivery.id)).toEqual(['b']);
    });

    it('shows new deliveries after the server lost everything', async () => {
      await running.empty();
      const queue = new ServerQueue({ server, clock: systemClock });
      const inspection = new ServerInspection({ server, clock: systemClock });
      const another = (): ServerInspection => new ServerInspection({ server, clock: systemClock });
      await queue.add([newDelivery('before')]);
      await running.empty();
      expect(await inspection.stats()).toEqual([]);
      await queue.add([newDelivery('after')]);
      for (const each of [inspection, another()]) expect(await each.stats()).toMatchObject([{ pending: 1 }]);
      expect(await new ServerQueue({ server, clock: systemClock }).lanes()).toEqual([LANE]);
    });

    it('registers lost lanes for all processes, and ignores foreign series', async () => {
      await running.empty();
      const lane = { source: 'a/b*%', destination: '' };
      const dead = { state: 'dead', reason: 'invalid' } as const;
      await new ServerQueue({ server, clock: systemClock }).add([
        newDelivery('waits'),
        newDelivery('dead', { ...lane, ...dead }),
      ]);
      await running.loseRegistry();
      const other = { id: 'x', name: 'n', text: '{}', addedAt: 1 };
      await server.add([
        { ...other, series: 'hooks/other' },
        { ...other, series: 'hooks/%/x' },
      ]);
      const inspection = new ServerInspection({ server, clock: systemClock });
      expect(await inspection.stats()).toEqual([]);
      const lanes = new ServerLanes(server);
      expect(await lanes.restore()).toMatch(
        /: 2 of the lanes found on the server were not registered; now they are$/,
      );
      const both = [
        { ...lane, dead: 1 },
        { ...LANE, pending: 1 },
      ];
      expect(await inspection.stats()).toMatchObject(both);
      expect(await new ServerQueue({ server, clock: systemClock }).lanes()).toEqual([LANE]);
      expect(await new ServerInspection({ server, clock: systemClock }).stats()).toMatchObject(both);
    });

    it('adds many deliveries in parts, and each once when the call is repeated', async () => {
      await running.empty();
      const sizes: number[] = [];
      const watched: Server = {
        ...asObject(server),
        add: (entries) => {
          sizes.push(entries.length);
          return sizes.length === 2 ? Promise.reject(new QueueError('gone')) : server.add(entries);
        },
      };
      const many = Array.from({ length: 2_500 }, (_, index) => newDelivery(`many-${index}`));
      const queue = new ServerQueue({ server: watched, clock: systemClock });
      await expect(queue.add(many)).rejects.toThrow(QueueError);
      await queue.add([...many, ...many]);
      expect(Math.max(...sizes)).toBeLessThanOrEqual(1_000);
      const [lane] = await new ServerInspection({ server, clock: systemClock }).stats();
      expect(lane).toMatchObject({ pending: 2_500 });
    });

    it('forgets old deliveries that were dead on arrival in parts, and keeps younger ones', async () => {
      await running.empty();
      const now = Date.now();
      const letters = Array.from({ length: 250 }, (_, index) =>
        newDelivery(`dead-${index}`, {
          state: 'dead',
          reason: 'invalid',
          createdAt: now - 60_000,
          settledAt: index % 5 === 0 ? now : now - 60_000,
        }),
      );
      await new ServerQueue({ server, clock: systemClock }).add(letters);
      const inspection = new ServerInspection({ server, clock: systemClock });
      expect(await inspection.stats()).toMatchObject([{ dead: 250, pending: 0, sending: 0 }]);
      const retention = { deliveredMs: 1_000, deadMs: 50_000 };
      const queue = new ServerQueue({ server, clock: systemClock, retention });
      await queue.claim({ ...LANE, limit: 1, leaseMs: 1_000 });
      expect(await inspection.stats()).toMatchObject([{ dead: 50 }]);
    });

    it('forgets old deliveries with each claim until none are left', async () => {
      await running.empty();
      const keeping = new ServerQueue({ server, clock: systemClock });
      await keeping.add(Array.from({ length: 2_500 }, (_, index) => newDelivery(`many-${index}`)));
      const { claims } = await keeping.claim({ ...LANE, limit: 2_500, leaseMs: 60_000 });
      const settlement = { state: 'delivered', progress: NO_PROGRESS } as const;
      for (let at = 0; at < claims.length; at += 50) {
        await Promise.all(claims.slice(at, at + 50).map((claim) => keeping.settle(claim, settlement)));
      }
      const inspection = new ServerInspection({ server, clock: systemClock });
      expect(await inspection.stats()).toMatchObject([{ delivered: 2_500 }]);
      await wait(20);
      const queue = new ServerQueue({ server, clock: systemClock, retention: { deliveredMs: 10 } });
      const left = async (): Promise<number | undefined> => {
        await queue.claim({ ...LANE, limit: 1, leaseMs: 1_000 });
        return (await inspection.stats())[0]?.delivered;
      };
      expect([await left(), await left(), await left()]).toEqual([1_500, 500, undefined]);
    });

    it('counts a round for each claim, and none for a delivery taken out of order', async () => {
      await running.empty();
      const queue = new ServerQueue({ server, clock: systemClock, recoverMs: 20 });
      const inspection = new ServerInspection({ server, clock: systemClock });
      const before = Date.now();
      await queue.add([newDelivery('a')]);
      const taken = async (): Promise<Claim> => {
        let claim: Claim | undefined;
        await until(async () => {
          // What takes longer than the lease to be claimed is left to others.
          [claim] = (await queue.claim({ ...LANE, limit: 1, leaseMs: 500 })).claims;
          return claim !== undefined;
        }, 'a claim');
        if (claim === undefined) throw new Error('nothing was claimed');
        return claim;
      };
      for (const rounds of [0, 1, 2]) {
        expect((await taken()).delivery.progress.rounds).toBe(rounds);
        const shown = await inspection.get('a');
        expect(shown).toMatchObject({ state: 'sending', progress: { rounds: rounds + 1, attempts: [] } });
        expect(shown?.progress.firstAttemptAt).toBeGreaterThanOrEqual(before);
      }
      const last = await taken();
      const progress = { ...last.delivery.progress, rounds: 4 };
      expect(await queue.settle(last, { state: 'retrying', dueAt: 1, progress })).toBe(true);
      expect(await inspection.get('a')).toMatchObject({ state: 'retrying', progress: { rounds: 4 } });
      expect((await taken()).delivery.progress).toMatchObject({ rounds: 4 });
    });

    it('keeps a claim while its process lives, and soon frees the claims of a dead process', async () => {
      await running.empty();
      const lockMs = 1_500;
      const [living, other] = [1, 2].map(
        () => new ServerQueue({ server, clock: systemClock, recoverMs: 40, lockMs }),
      ) as [ServerQueue, ServerQueue]; // two, as made above
      await living.add([newDelivery('a'), newDelivery('b', { orderKeys: ['u'] })]);
      const request = { ...LANE, limit: 5, leaseMs: 60_000 };
      const { claims } = await living.claim(request);
      expect(claims).toHaveLength(2);
      for (const end = Date.now() + 2 * lockMs; Date.now() < end; await wait(50)) {
        expect((await other.claim(request)).claims).toEqual([]);
      }
      const [first, second] = claims as [Claim, Claim]; // two, as seen above
      expect(await living.renew(first, NO_PROGRESS, 60_000)).toBe(true);
      expect(await living.settle(second, { state: 'delivered', progress: NO_PROGRESS })).toBe(true);
      // It writes nothing any more, as a process that was killed, or is stopped.
      await living.close();
      const closedAt = Date.now();
      await until(async () => (await other.claim(request)).claims.length === 1, 'another to take it');
      expect(Date.now() - closedAt).toBeGreaterThan(lockMs / 2);
      expect(Date.now() - closedAt).toBeLessThan(60_000);
      const woken = new ServerQueue({ server, clock: systemClock });
      expect(await woken.renew(first, NO_PROGRESS, 60_000)).toBe(false);
      expect(await woken.settle(first, { state: 'delivered', progress: NO_PROGRESS })).toBe(false);
    });

    it('leaves deliveries to others if the response came after the lock ended', async () => {
      await running.empty();
      const late: Server = {
        ...asObject(server),
        series: (name) =>
          new Proxy(server.series(name), {
            get: (target, key) =>
              key === 'take'
                ? async (...words: Parameters<Series['take']>) => {
                    const taken = await target.take(...words);
                    await wait(400);
                    return taken;
                  }
                : (Reflect.get(target, key) as (...words: unknown[]) => unknown).bind(target), // all are methods
          }),
      };
      await new ServerQueue({ server, clock: systemClock }).add([newDelivery('a')]);
      const stopped = new ServerQueue({ server: late, clock: systemClock, lockMs: 300 });
      expect((await stopped.claim({ ...LANE, limit: 1, leaseMs: 60_000 })).claims).toEqual([]);
    });

    it('lists the deliveries of an order key in order', async () => {
      await running.empty();
      const queue = new ServerQueue({ server, clock: systemClock });
      const ids = ['z', 'b', 'c'];
      for (const id of ids) await queue.add([newDelivery(id, { orderKeys: ['u'] })]);
      const listed = async (): Promise<readonly string[]> => {
        const inspection = new ServerInspection({ server, clock: systemClock });
        const { deliveries } = await inspection.list({ states: ['pending', 'sending'], limit: 10 });
        return deliveries.map(({ id }) => id);
      };
      expect(await listed()).toEqual(ids);
      await queue.claim({ ...LANE, limit: 1, leaseMs: 60_000 });
      expect(await listed()).toEqual(ids);
    });

    inspectionConformance(
      kind,
      async () => {
        await running.empty();
        const queue = new ServerQueue({ server, clock: systemClock });
        const inspection = new ServerInspection({ server, clock: systemClock });
        return { queue, inspection, clock: realClock(), close: () => queue.close() };
      },
      { isLoose: true },
    );
  },
);

/** Its methods are its class's, which no spread copies. */
function asObject(server: Server): Server {
  return {
    place: server.place,
    series: (name) => server.series(name),
    add: (entries) => server.add(entries),
    facts: server.facts,
    registered: () => server.registered(),
    register: (series) => server.register(series),
    findSeries: (prefix) => server.findSeries(prefix),
    check: () => server.check(),
    watch: (onAdded) => server.watch(onAdded),
    warnings: () => server.warnings(),
    close: () => server.close(),
  };
}
