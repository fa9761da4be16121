import * as fc from 'fast-check';
import { expect } from 'vitest';
import { NO_PROGRESS, withRound, type Delivery, type Progress } from '../../src/queue/delivery.ts';
import type { Claim, LaneId, Queue, Settlement } from '../../src/queue/queue.ts';
import type { TestClock } from './conformance.ts';
import { newDelivery } from './new-delivery.ts';

type Command =
  | { readonly kind: 'add'; readonly deliveries: readonly AddedFields[] }
  | { readonly kind: 'claim'; readonly lane: number; readonly limit: number; readonly leaseMs: number }
  | { readonly kind: 'renew'; readonly pick: number; readonly rounds: number; readonly leaseMs: number }
  | { readonly kind: 'settle'; readonly pick: number; readonly state: 'delivered' | 'dead' }
  | { readonly kind: 'retry'; readonly pick: number; readonly inMs: number; readonly rounds: number }
  | { readonly kind: 'advance'; readonly ms: number };

interface AddedFields {
  readonly id: number;
  readonly lane: number;
  readonly orderKeys: readonly string[];
  readonly inMs: number;
}

const LANES: readonly LaneId[] = [
  { source: 's', destination: 'd' },
  { source: 's', destination: 'e' },
];

const milliseconds = fc.integer({ min: 0, max: 12 });
const pick = fc.nat(30);
const rounds = fc.nat(5);

/** Short times, few keys and few ids, so that they collide. */
export const commands = commandsWith({
  inMs: fc.integer({ min: -5, max: 8 }),
  retryInMs: milliseconds,
  leaseMs: fc.integer({ min: 1, max: 12 }),
});

const LONG_MS = 600_000;

/** Everything is due, and no lease ends: for a queue in real time. */
export const timelessCommands = commandsWith({
  inMs: fc.constant(0),
  retryInMs: fc.constant(0),
  leaseMs: fc.constant(LONG_MS),
});

interface CommandTimes {
  readonly inMs: fc.Arbitrary<number>;
  readonly retryInMs: fc.Arbitrary<number>;
  readonly leaseMs: fc.Arbitrary<number>;
}

function commandsWith({ inMs, retryInMs, leaseMs }: CommandTimes): fc.Arbitrary<readonly Command[]> {
  return fc.array(
    fc.oneof(
      {
        weight: 3,
        arbitrary: fc.record({
          kind: fc.constant('add' as const),
          deliveries: fc.array(
            fc.record({
              id: fc.nat(25),
              lane: fc.nat(1),
              orderKeys: fc.array(fc.constantFrom('u', 'v', 'w'), { maxLength: 3 }),
              inMs,
            }),
            { maxLength: 5 },
          ),
        }),
      },
      {
        weight: 4,
        arbitrary: fc.record({
          kind: fc.constant('claim' as const),
          lane: fc.nat(1),
          limit: fc.integer({ min: 1, max: 4 }),
          leaseMs,
        }),
      },
      {
        weight: 1,
        arbitrary: fc.record({
          kind: fc.constant('renew' as const),
          pick,
          rounds,
          leaseMs,
        }),
      },
      {
        weight: 3,
        arbitrary: fc.record({
          kind: fc.constant('settle' as const),
          pick,
          state: fc.constantFrom('delivered' as const, 'dead' as const),
        }),
      },
      {
        weight: 2,
        arbitrary: fc.record({ kind: fc.constant('retry' as const), pick, inMs: retryInMs, rounds }),
      },
      { weight: 2, arbitrary: fc.record({ kind: fc.constant('advance' as const), ms: milliseconds }) },
    ),
    { maxLength: 60 },
  );
}

interface Row {
  readonly added: Delivery;
  dueAt: number;
  progress: Progress;
  claimedBy: Claim | undefined;
  leaseEndsAt: number;
}

interface ModelOptions {
  readonly clock: TestClock;
  readonly list: readonly Command[];
  /** See ConformanceOptions: claimable deliveries may come in any order. */
  readonly isLoose: boolean;
}

/** Runs the commands on the queue and on a plain list, and expects the same of both after each. */
export async function checkAgainstModel(queue: Queue, { clock, list, isLoose }: ModelOptions): Promise<void> {
  const check = new Check(queue, clock, isLoose);
  for (const command of list) await check.run(command);
}

class Check {
  readonly #queue: Queue;
  readonly #clock: TestClock;
  /** Settled deliveries may be forgotten or remembered, so an id is never used for a second delivery. */
  readonly #used = new Set<string>();
  readonly #claims: Claim[] = [];
  readonly #isLoose: boolean;
  #rows: Row[] = [];

  constructor(queue: Queue, clock: TestClock, isLoose: boolean) {
    this.#queue = queue;
    this.#clock = clock;
    this.#isLoose = isLoose;
  }

  async run(command: Command): Promise<void> {
    switch (command.kind) {
      case 'add':
        await this.#add(command.deliveries);
        break;
      case 'claim':
        await this.#claim(command);
        break;
      case 'renew':
        await this.#renew(command);
        break;
      case 'settle':
        await this.#settle(command);
        break;
      case 'retry':
        await this.#retry(command);
        break;
      case 'advance':
        await this.#clock.advance(command.ms);
        break;
      default:
        command satisfies never;
    }
    expect(lanesOf(await this.#queue.lanes())).toEqual(lanesOf(this.#rows.map(({ added }) => added)));
  }

  async #add(fields: readonly AddedFields[]): Promise<void> {
    const now = this.#clock.now();
    const isThere = (id: string): boolean => this.#rows.some(({ added }) => added.id === id);
    const added = fields
      .map((each) => toDelivery(this.#isLoose ? { ...each, lane: each.id % 2 } : each, now))
      .filter(({ id }) => !this.#used.has(id) || isThere(id));
    await this.#queue.add(added);
    for (const each of added) {
      if (!this.#used.has(each.id)) this.#rows.push(toRow(each));
      this.#used.add(each.id);
    }
  }

  async #claim({ lane: index, limit, leaseMs }: Extract<Command, { kind: 'claim' }>): Promise<void> {
    const lane = LANES[index] as LaneId;
    const now = this.#clock.now();
    const all = claimable(this.#rows, lane, now);
    const { claims, nextDueAt } = await this.#queue.claim({ ...lane, limit, leaseMs });
    const expected = this.#isLoose ? named(all, claims) : all.slice(0, limit);
    expect(expected).toHaveLength(Math.min(limit, all.length));
    expect(claims.map(({ delivery }) => [delivery.id, delivery.dueAt, delivery.progress.rounds])).toEqual(
      expected.map(({ added, dueAt, progress }) => [added.id, dueAt, progress.rounds]),
    );
    for (const [position, row] of expected.entries()) {
      row.claimedBy = claims[position];
      row.progress = withRound(row.progress, now);
      row.leaseEndsAt = now + leaseMs;
    }
    this.#claims.push(...claims);
    const next = nextDueAtOf(this.#rows, lane, now);
    if (!this.#isLoose || next === undefined) expect(nextDueAt).toBe(next);
    else expect(nextDueAt).toBeLessThan(Math.max(next, this.#clock.now()) + LONG_MS);
  }

  async #renew({ pick: index, rounds: count, leaseMs }: Extract<Command, { kind: 'renew' }>): Promise<void> {
    const claim = this.#claimAt(index);
    if (claim === undefined) return;
    const row = this.#rowOf(claim);
    const progress = { ...NO_PROGRESS, rounds: count };
    expect(await this.#queue.renew(claim, progress, leaseMs)).toBe(row !== undefined);
    if (row !== undefined) Object.assign(row, { progress, leaseEndsAt: this.#clock.now() + leaseMs });
  }

  async #settle({ pick: index, state }: Extract<Command, { kind: 'settle' }>): Promise<void> {
    const claim = this.#claimAt(index);
    if (claim === undefined) return;
    const row = this.#rowOf(claim);
    const settlement: Settlement =
      state === 'dead'
        ? { state, reason: 'rejected', progress: NO_PROGRESS }
        : { state, progress: NO_PROGRESS };
    expect(await this.#queue.settle(claim, settlement)).toBe(row !== undefined);
    this.#rows = this.#rows.filter((other) => other !== row);
  }

  async #retry({ pick: index, inMs, rounds: count }: Extract<Command, { kind: 'retry' }>): Promise<void> {
    const claim = this.#claimAt(index);
    if (claim === undefined) return;
    const row = this.#rowOf(claim);
    const change = { dueAt: this.#clock.now() + inMs, progress: { ...NO_PROGRESS, rounds: count } };
    expect(await this.#queue.settle(claim, { state: 'retrying', ...change })).toBe(row !== undefined);
    if (row !== undefined) Object.assign(row, { ...change, claimedBy: undefined });
  }

  /** Undefined also between the end of a lease and the next claim, when a queue may or may not accept the token. */
  #claimAt(index: number): Claim | undefined {
    const claim = this.#claims[index % this.#claims.length];
    const row = claim && this.#rowOf(claim);
    return row !== undefined && row.leaseEndsAt <= this.#clock.now() ? undefined : claim;
  }

  #rowOf(claim: Claim): Row | undefined {
    return this.#rows.find(({ claimedBy }) => claimedBy === claim);
  }
}

function toDelivery({ id, lane, orderKeys, inMs }: AddedFields, now: number): Delivery {
  return newDelivery(String(id), { ...LANES[lane], orderKeys, createdAt: now, dueAt: now + inMs });
}

function toRow(added: Delivery): Row {
  return { added, dueAt: added.dueAt, progress: NO_PROGRESS, claimedBy: undefined, leaseEndsAt: 0 };
}

/** The rows of the claims, in their order. */
function named(rows: readonly Row[], claims: readonly Claim[]): Row[] {
  return claims.flatMap(({ delivery }) => rows.filter(({ added }) => added.id === delivery.id));
}

/** The rows are in the order of adding, and sorting is stable. */
function claimable(rows: readonly Row[], lane: LaneId, now: number): Row[] {
  return firstInTheirKeys(rows, lane)
    .filter((row) => row.dueAt <= now && (row.claimedBy === undefined || row.leaseEndsAt <= now))
    .toSorted((a, b) => a.dueAt - b.dueAt);
}

function nextDueAtOf(rows: readonly Row[], lane: LaneId, now: number): number | undefined {
  // A row whose lease has ended, and that the limit left out, is due as before.
  const times = firstInTheirKeys(rows, lane).map((row) =>
    row.claimedBy === undefined || row.leaseEndsAt <= now ? row.dueAt : row.leaseEndsAt,
  );
  return times.length === 0 ? undefined : Math.min(...times);
}

function firstInTheirKeys(rows: readonly Row[], lane: LaneId): Row[] {
  const inLane = rows.filter(
    ({ added }) => added.source === lane.source && added.destination === lane.destination,
  );
  return inLane.filter((row, index) =>
    row.added.orderKeys.every(
      (key) => !inLane.slice(0, index).some(({ added }) => added.orderKeys.includes(key)),
    ),
  );
}

function lanesOf(lanes: readonly LaneId[]): string[] {
  return [...new Set(lanes.map(({ source, destination }) => `${source}/${destination}`))].toSorted();
}
