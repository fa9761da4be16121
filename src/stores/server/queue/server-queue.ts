import { randomBytes } from 'node:crypto';
import type { Clock } from '../../../clock.ts';
import { ClosedError } from '../../../errors.ts';
import { HELD_UNTIL, type Server, type TakenEntry } from '../server.ts';
import type { Delivery, Progress } from '../../../queue/delivery.ts';
import type { Claim, ClaimResult, ClaimRequest, LaneId, Queue, Settlement } from '../../../queue/queue.ts';
import type { RetentionOptions } from '../../../queue/retention.ts';
import { deadSeriesName, seriesName, ServerLanes } from './server-lanes.ts';
import { entryId, noteOf, toNewEntry } from './server-record.ts';
import { lockOf, ServerLeases, takesOf, toClaim } from './server-leases.ts';
import { ServerMaintenance } from './server-maintenance.ts';

export interface ServerQueueOptions {
  /** Stays open when the queue is closed. */
  readonly server: Server;
  /** Real time: the server goes by its own. */
  readonly clock: Clock;
  /** How long settled deliveries are remembered. @default forever */
  readonly retention?: Partial<RetentionOptions>;
  /** How often to look for leases that have run out; the second look after the end finds one. Ms. @default 2,000 */
  readonly recoverMs?: number;
  /** How long a claim outlives a process that is killed, or that gets no turn. Ms. @default 10,000 */
  readonly lockMs?: number;
}

const RECOVER_MS = 2_000;
/** With two looks after its end, what a killed process held is taken within 16 s. */
const LOCK_MS = 10_000;
/** Deliveries in one transaction: during it the server serves no other client, and this process builds it in one turn. */
const ADDED_AT_ONCE = 1_000;

/**
 * Claims go over BullMQ's tables and keys and not through its `Worker`. A `Worker` blocks on a connection of its own for each lane, takes
 * by its own pace and fails what throws: our pace, leases of a round and order lines would stand before, behind and around it.
 * It was weighed for its two scripts a message. Without it a message alone takes three in all (test/queue/server-trips.system.test.ts), and many at a time
 * fewer: what ends in one turn of the event loop is settled in one. A delivery takes 88 µs of CPU and 49 of the Redis, and one of plain Workers
 * with the same POST 93 and 58; on PostgreSQL 160 and 256, and 273 and 532 (docs/benchmarks.md).
 *
 * Each change of an entry is one step on the server, with the lines that it joins or leaves in the same step: so a process that is killed leaves
 * nothing half done, and no other must repair what it was about to do. On PostgreSQL that is a transaction of BullMQ's functions.
 * On Redis adding is a transaction of BullMQ's scripts and one of ours; the other scripts are ours, in BullMQ's keys, since BullMQ's stop on a
 * full server, know no lines and take one entry each. With an order key a message takes five scripts in all. Lines and entries in steps of their
 * own needed 480 lines more of code, to write down each operation before it began and to repair what was left between its steps.
 *
 * A queue on a server, which processes on any number of hosts may share. Each lane is a series of entries, which BullMQ keeps.
 * Added deliveries are as durable as the server is set to make them; what was claimed, renewed and settled in its last second
 * may be forgotten by a PostgreSQL that crashes, so that it is delivered again. A delivery that becomes due comes behind what waited
 * before it. A process that is killed keeps its claims for `lockMs`, and at most twice `recoverMs` longer.
 */
export class ServerQueue implements Queue {
  readonly #server: Server;
  readonly #clock: Clock;
  readonly #recoverMs: number;
  readonly #leases: ServerLeases;
  readonly #owner = randomBytes(9).toString('base64url');
  readonly #lanes: ServerLanes;
  readonly #maintenance: ServerMaintenance;
  #tokens = 0;
  #areLanesRestored = false;
  #isClosed = false;

  constructor({
    server,
    clock,
    retention = {},
    recoverMs = RECOVER_MS,
    lockMs = LOCK_MS,
  }: ServerQueueOptions) {
    this.#server = server;
    this.#clock = clock;
    this.#recoverMs = recoverMs;
    this.#lanes = new ServerLanes(server);
    const lanes = this.#lanes;
    this.#leases = new ServerLeases({ lanes, clock, lockMs });
    this.#maintenance = new ServerMaintenance({ lanes, clock, retention, recoverMs });
  }

  async add(all: readonly Delivery[]): Promise<void> {
    this.#assertOpen();
    const deliveries = firstOfEach(all);
    for (let at = 0; at < deliveries.length; at += ADDED_AT_ONCE) {
      await this.#addAtOnce(deliveries.slice(at, at + ADDED_AT_ONCE));
    }
  }

  async claim({ source, destination, limit, leaseMs }: ClaimRequest): Promise<ClaimResult> {
    this.#assertOpen();
    const lane = { source, destination };
    await this.#maintenance.maintain(lane);
    const claims: Claim[] = [];
    while (claims.length < limit) {
      const tokens = Array.from({ length: limit - claims.length }, () => `${this.#owner}-${this.#tokens++}`);
      const askedAt = this.#clock.now();
      const lockMs = this.#leases.lockMs(leaseMs);
      const { taken, nextDueAt } = await this.#lanes.series(lane).take(tokens, lockMs);
      const inTurn = await this.#inTurn(
        taken.map((each) => toClaim(each, lane)),
        lane,
      );
      // Others may have what was taken by now: this process was stopped, or the server.
      if (this.#clock.now() - askedAt >= lockMs) break;
      for (const claim of inTurn) this.#leases.hold(claim, leaseMs);
      await this.#keepFirstTimes(inTurn, { taken, lane, lockMs });
      claims.push(...inTurn);
      if (taken.length < tokens.length) {
        return { claims, nextDueAt: await this.#nextDueAt(lane, claims, nextDueAt) };
      }
    }
    // The next claim finds out whether there are more.
    return { claims, nextDueAt: Math.floor(this.#clock.now()) };
  }

  async renew(claim: Claim, progress: Progress, leaseMs: number): Promise<boolean> {
    this.#assertOpen();
    const { delivery, token } = claim;
    const note = noteOf({ progress, takes: takesOf(token), dueAt: delivery.dueAt });
    const lock = { ...lockOf(claim), note };
    const lost = await this.#lanes.series(delivery).extend([lock], this.#leases.lockMs(leaseMs));
    if (lost.length > 0) return false;
    this.#leases.hold(claim, leaseMs);
    return true;
  }

  async settle(claim: Claim, settlement: Settlement): Promise<boolean> {
    this.#assertOpen();
    const { delivery, token } = claim;
    const { state, progress } = settlement;
    const series = this.#lanes.series(delivery);
    const isOurs =
      state === 'retrying'
        ? await series.delay(lockOf(claim), {
            dueAt: settlement.dueAt,
            note: noteOf({ progress, takes: takesOf(token), dueAt: settlement.dueAt }),
          })
        : await series.settle(lockOf(claim), {
            note: noteOf({ progress, dueAt: delivery.dueAt }),
            ...(state === 'dead' && { reason: settlement.reason }),
          });
    this.#leases.release(claim);
    return isOurs;
  }

  async lanes(): Promise<readonly LaneId[]> {
    this.#assertOpen();
    if (!this.#areLanesRestored) await this.#lanes.restore();
    this.#areLanesRestored = true;
    return this.#lanes.unsettled();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#leases.close();
  }

  /** Adds all or none. */
  #addAtOnce(deliveries: readonly Delivery[]): Promise<void> {
    const now = Math.floor(this.#clock.now());
    const entries = deliveries.map((delivery) => {
      const series = delivery.state !== 'dead' ? seriesName(delivery) : deadSeriesName(delivery);
      return toNewEntry(delivery, { series, now });
    });
    return this.#server.add(entries);
  }

  /**
   * BullMQ keeps when an entry was taken last. So the retry window of a delivery whose first process was killed in its first
   * round begins with the second claim, which writes that down: a third one changes it no more.
   */
  async #keepFirstTimes(
    claims: readonly Claim[],
    {
      taken,
      lane,
      lockMs,
    }: { readonly taken: readonly TakenEntry[]; readonly lane: LaneId; readonly lockMs: number },
  ): Promise<void> {
    const takenAt = new Map(taken.map(({ entry }) => [entry.id, entry.takenAt]));
    const unwritten = claims.filter(
      ({ delivery: { id, progress } }) =>
        progress.rounds > 0 && progress.firstAttemptAt === takenAt.get(entryId(id)),
    );
    if (unwritten.length === 0) return;
    const locks = unwritten.map((claim) => {
      const { progress, dueAt } = claim.delivery;
      return { ...lockOf(claim), note: noteOf({ progress, takes: takesOf(claim.token) - 1, dueAt }) };
    });
    await this.#lanes.series(lane).extend(locks, lockMs);
  }

  /** The claims whose turn it is: one may have been called that waits in another line, too. */
  async #inTurn(claims: readonly Claim[], lane: LaneId): Promise<readonly Claim[]> {
    const locks = claims.map(lockOf).filter(({ lines = [] }) => lines.length > 0);
    if (locks.length === 0) return claims;
    const held = new Set(await this.#lanes.series(lane).hold(locks));
    return claims.filter(({ delivery: { id } }) => !held.has(entryId(id)));
  }

  async #nextDueAt(
    lane: LaneId,
    claims: readonly Claim[],
    nextDelayedAt: number | undefined,
  ): Promise<number | undefined> {
    const isHeld = nextDelayedAt !== undefined && nextDelayedAt >= HELD_UNTIL;
    const isInFlight = claims.length > 0 || isHeld || (await this.#lanes.hasAny(lane, ['active']));
    const times = [
      ...(nextDelayedAt === undefined || isHeld ? [] : [nextDelayedAt]),
      // The end of a lease is unknown: another process may hold it.
      ...(isInFlight ? [Math.ceil(this.#clock.now() + this.#recoverMs)] : []),
    ];
    return times.length === 0 ? undefined : Math.min(...times);
  }

  #assertOpen(): void {
    if (this.#isClosed) throw new ClosedError('The queue is closed');
  }
}

/** Drops the later ones of those with the same id. */
function firstOfEach(deliveries: readonly Delivery[]): readonly Delivery[] {
  const firstAt = new Map(deliveries.map(({ id }, index) => [id, index] as const).toReversed());
  return deliveries.filter(({ id }, index) => firstAt.get(id) === index);
}
