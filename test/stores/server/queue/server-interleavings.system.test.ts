// Needs redis-server, postgres.
import { expect, it } from 'vitest';
import { systemClock } from '../../../../src/clock.ts';
import { NO_PROGRESS, type Delivery } from '../../../../src/queue/delivery.ts';
import type { Settlement } from '../../../../src/queue/queue.ts';
import { ServerQueue } from '../../../../src/stores/server/queue/server-queue.ts';
import type { Series, Server } from '../../../../src/stores/server/server.ts';
import { LANE, newDelivery } from '../../../queue/new-delivery.ts';
import { randomFrom } from '../../../random.ts';
import { SEED } from '../../../torture.ts';
import { describeServers } from '../describe-servers.ts';
import { useServer } from '../use-server.ts';

/** For how long, seed by seed. */
const SPAN_MS = Number(process.env['HOOKS_INTERLEAVINGS_MS'] ?? 15_000);
const LEASE_MS = 60_000;
/** How often the process that has the turn keeps it: long runs of one are what a machine does. */
const KEEPS_TURN = 0.75;
const RETRIED = 0.2;

/** Waits for the turn of a process to ask the server for something. */
type Step = (what: string) => Promise<void>;

describeServers(
  (kind) => `processes that take turns in all that they ask of ${kind} (from seed ${SEED})`,
  (kind) => {
    const empty = useServer(kind);

    it(
      'deliver an order key in the order of adding, although one is woken out of its turn',
      async () => {
        const server = await empty();
        const end = Date.now() + SPAN_MS;
        for (let seed = SEED; seed === SEED || Date.now() < end; seed++) {
          const ids = [1, 2, 3, 4].map((number) => `${seed}-${number}`);
          const all = ids.map((id) => newDelivery(id, { orderKeys: [`user-${seed}`] }));
          const delivered = new Delivered(randomFrom(seed));
          await failToAdd(server, all.slice(0, 2));
          const series = server.series('hooks/web/Webhooks');
          const trace = await interleave(seed, {
            adds: async (step) => {
              const queue = open(stepped(server, step));
              await queue.add(all.slice(0, 2));
              await queue.add(all.slice(2, 3));
              await queue.add(all.slice(3));
            },
            wakes: async (step) => {
              const note = JSON.stringify({ progress: NO_PROGRESS });
              for (const id of ids.toReversed()) {
                await step('wake');
                await series.wake('delayed', [{ id: `d-${id}`, note }]);
              }
            },
            repeats: (step) => deliver(open(stepped(server, step)), delivered),
            delivers: (step) => deliver(open(stepped(server, step)), delivered),
          });
          const last = open(server);
          for (let count = 0; count < 50 && (await last.lanes()).length > 0; count++) {
            await deliver(last, delivered);
          }
          expect(delivered, `seed ${seed}: ${trace.join(' ')}`).toMatchObject({ begun: ids, together: [] });
        }
      },
      SPAN_MS + 60_000,
    );
  },
);

class Delivered {
  /** Each once, when it was first tried. */
  readonly begun: string[] = [];
  /** Those that were begun while another one was under way. */
  readonly together: string[] = [];
  readonly underWay = new Set<string>();
  readonly #random: () => number;

  constructor(random: () => number) {
    this.#random = random;
  }

  claimed(id: string): void {
    if (this.underWay.size > 0) this.together.push(id);
    this.underWay.add(id);
    if (!this.begun.includes(id)) this.begun.push(id);
  }

  /** It may have to be tried again. */
  ended(id: string): Settlement {
    this.underWay.delete(id);
    const progress = NO_PROGRESS;
    return this.#random() < RETRIED
      ? { state: 'retrying', dueAt: Date.now(), progress }
      : { state: 'delivered', progress };
  }
}

function open(server: Server): ServerQueue {
  return new ServerQueue({ server, clock: systemClock, recoverMs: 0 });
}

/** What a server that goes away leaves behind: nothing. */
async function failToAdd(server: Server, deliveries: readonly Delivery[]): Promise<void> {
  const lost = { ...server, add: () => Promise.reject(new Error('cut off')) };
  await expect(open(lost).add(deliveries)).rejects.toThrow('cut off');
}

async function deliver(queue: ServerQueue, delivered: Delivered): Promise<void> {
  for (let count = 0; count < 3; count++) {
    const { claims } = await queue.claim({ ...LANE, limit: 5, leaseMs: LEASE_MS });
    for (const { delivery } of claims) delivered.claimed(delivery.id);
    for (const claim of claims) await queue.settle(claim, delivered.ended(claim.delivery.id));
  }
}

/** The same server, which waits for a turn before each thing that it is asked. */
function stepped(server: Server, step: Step): Server {
  const wrapped = <T extends object>(parts: T): T =>
    new Proxy(parts, {
      get: (target, name): unknown => {
        const part: unknown = Reflect.get(target, name);
        if (typeof part !== 'function') return part;
        return async (...args: unknown[]): Promise<unknown> => {
          await step(String(name));
          return Reflect.apply(part, target, args) as unknown;
        };
      },
    });
  const { add } = wrapped({ add: (...args: Parameters<Server['add']>) => server.add(...args) });
  const known = new Map<string, Series>();
  const series = (name: string): Series => {
    const one = known.get(name) ?? wrapped(server.series(name));
    known.set(name, one);
    return one;
  };
  return {
    ...server,
    add,
    series,
  };
}

/** Runs processes of which one has the turn at any time, by a seed. Returns who has asked for what, in order. */
async function interleave(
  seed: number,
  processes: Readonly<Record<string, (step: Step) => Promise<void>>>,
): Promise<readonly string[]> {
  const random = randomFrom(seed);
  const trace: string[] = [];
  const live = new Map<string, { readonly what: string; readonly go: () => void }[]>();
  let changed: (() => void) | undefined;
  const runs = Object.entries(processes).map(async ([name, run]) => {
    const waiting: { what: string; go: () => void }[] = [];
    live.set(name, waiting);
    const step: Step = (what) =>
      new Promise((go) => {
        waiting.push({ what, go });
        changed?.();
      });
    await run(step).finally(() => {
      live.delete(name);
      changed?.();
    });
  });
  const all = Promise.all(runs);
  for (let last = ''; live.size > 0;) {
    // What was asked last is answered before another one asks.
    if ([...live.values()].some((waiting) => waiting.length === 0)) {
      await new Promise<void>((resolve) => (changed = resolve));
      continue;
    }
    const names = [...live.keys()];
    if (!live.has(last) || random() > KEEPS_TURN) last = names[Math.floor(random() * names.length)] ?? '';
    const next = live.get(last)?.shift();
    trace.push(`${last}:${next?.what}`);
    next?.go();
  }
  await all;
  return trace;
}
