import { randomBytes } from 'node:crypto';
import type { Clock } from '../../../clock.ts';
import { ClosedError } from '../../../errors.ts';
import { HELD_UNTIL, isSameServer, type Series, type Server, type TakenEntry } from '../server.ts';
import type { Delivery, Progress } from '../../../queue/delivery.ts';
import type { Claim, ClaimResult, ClaimRequest, LaneId, Queue, Settlement } from '../../../queue/queue.ts';
import type { RetentionOptions } from '../../../queue/retention.ts';
import { firstIds, laneOfSeries, ServerLanes } from './server-lanes.ts';
import { entryId, toNewEntry } from './server-record.ts';
import { notedLockOf, ServerLeases, toClaim } from './server-leases.ts';
import { ServerMaintenance } from './server-maintenance.ts';

export interface ServerQueueOptions {
  /** The server, which stays open when the queue is closed. */
  readonly server: Server;
  /** A clock that shows real time, because the server uses a clock of its own. */
  readonly clock: Clock;
  /** The known lanes, to share them with the inspection of this process. @default the registered lanes */
  readonly lanes?: ServerLanes;
  /** How long settled deliveries are kept. @default forever */
  readonly retention?: Partial<RetentionOptions>;
  /** Ms between searches for expired leases. The second search after the end of a lease finds it. @default 2,000 */
  readonly recoverMs?: number;
  /** Ms that a claim outlives a process that was killed or gets no CPU time. @default 10,000 */
  readonly lockMs?: number;
}

const RECOVER_MS = 2_000;
/** Ms that a claim outlives its killed process. Others can claim its delivery at most two searches (RECOVER_MS) later. */
const LOCK_MS = 10_000;
/** Maximum deliveries per transaction, during which the server serves no other client and this process no other callback. */
const ADDED_AT_ONCE = 1_000;

/**
 * A queue on a server, which processes on any number of hosts can share. Each lane is a queue of BullMQ. Added deliveries
 * are as durable as the settings of the server make them. A PostgreSQL that crashes may forget the claims, renewals and
 * settlements of its last second; their deliveries are then sent again. A delivery that becomes due joins the end of the
 * queue. The claims of a killed process last for `lockMs`, and at most twice `recoverMs` longer.
 *
 * Claims use BullMQ's tables and keys, not its `Worker`, which blocks one connection per lane, takes entries at its own pace
 * and fails entries whose callback throws. A `Worker` runs two scripts per message. This class runs three for a single
 * message (test/queue/server-trips.system.test.ts), but fewer per message under load, because it settles together all
 * deliveries that end in one turn of the event loop. In a warm process, a delivery takes 111 µs of CPU and 63 µs in Redis;
 * with plain Workers that make the same POST, 123 and 81. On PostgreSQL it takes 213 and 387, and with Workers 349 and 807
 * (docs/benchmarks.md).
 *
 * Each change of an entry and of its lines is one step on the server, so a killed process leaves no half-done change to
 * repair. Separate steps for lines and entries needed 480 more lines of code. On PostgreSQL, a step is a transaction of
 * BullMQ's functions. On Redis, adding is a transaction of BullMQ's scripts and one script of hooks. All other steps are
 * scripts of hooks on BullMQ's keys, because BullMQ's scripts fail on a full server, do not know lines and take one entry
 * each. A message with an order key takes five scripts in all.
 */
export class ServerQueue implements Queue {
  readonly #lanes: ServerLanes;
  readonly #clock: Clock;
  readonly #recoverMs: number;
  readonly #leases: ServerLeases;
  readonly #maintenance: ServerMaintenance;
  readonly #owner = randomBytes(9).toString('base64url');
  #tokens = 0;
  #endWatch: (() => void) | undefined;
  #isClosed = false;

  constructor({
    server,
    clock,
    lanes = new ServerLanes(server),
    retention = {},
    recoverMs = RECOVER_MS,
    lockMs = LOCK_MS,
  }: ServerQueueOptions) {
    this.#lanes = lanes;
    this.#clock = clock;
    this.#recoverMs = recoverMs;
    this.#leases = new ServerLeases({ lanes, clock, lockMs });
    this.#maintenance = new ServerMaintenance({ lanes, clock, retention, recoverMs });
  }

  async add(all: readonly Delivery[]): Promise<void> {
    this.#assertOpen();
    const byId = new Map<string, Delivery>();
    for (const each of all) if (!byId.has(each.id)) byId.set(each.id, each);
    const deliveries = [...byId.values()];
    for (let at = 0; at < deliveries.length; at += ADDED_AT_ONCE) {
      const now = Math.floor(this.#clock.now());
      const some = deliveries.slice(at, at + ADDED_AT_ONCE);
      await this.#lanes.server.add(some.map((each) => toNewEntry(each, now)));
    }
  }

  async claim({ source, destination, limit, leaseMs }: ClaimRequest): Promise<ClaimResult> {
    this.#assertOpen();
    const lane = { source, destination };
    await this.#maintenance.maintain(lane);
    const series = this.#lanes.series(lane);
    const lockMs = this.#leases.lockMs(leaseMs);
    const claims: Claim[] = [];
    while (claims.length < limit) {
      const tokens = Array.from({ length: limit - claims.length }, () => `${this.#owner}-${this.#tokens++}`);
      const askedAt = this.#clock.now();
      const { taken, nextDueAt } = await series.take(tokens, lockMs);
      const all = taken.map((each) => toClaim(each, lane));
      const inTurn = await holdOthers(series, all);
      // Drops the claims if their locks may have expired, because this process or the server was suspended meanwhile.
      if (this.#clock.now() - askedAt >= lockMs) break;
      for (const claim of inTurn) this.#leases.hold(claim, leaseMs);
      await keepFirstTimes(inTurn, { taken, series, lockMs });
      claims.push(...inTurn);
      if (taken.length < tokens.length) {
        return { claims, nextDueAt: await this.#nextDueAt(series, claims, nextDueAt) };
      }
    }
    // The caller claims again at once, because only another claim finds out whether more deliveries wait.
    return { claims, nextDueAt: Math.floor(this.#clock.now()) };
  }

  async renew(claim: Claim, progress: Progress, leaseMs: number): Promise<boolean> {
    this.#assertOpen();
    const series = this.#lanes.series(claim.delivery);
    const lost = await series.extend([notedLockOf(claim, { progress })], this.#leases.lockMs(leaseMs));
    if (lost.length > 0) return false;
    this.#leases.hold(claim, leaseMs);
    return true;
  }

  async settle(claim: Claim, settlement: Settlement): Promise<boolean> {
    this.#assertOpen();
    const { state, progress } = settlement;
    const series = this.#lanes.series(claim.delivery);
    const isRetrying = state === 'retrying';
    const { note, ...lock } = notedLockOf(claim, {
      progress,
      ...(isRetrying && { dueAt: settlement.dueAt }),
    });
    const isOurs = isRetrying
      ? await series.delay(lock, { note, dueAt: settlement.dueAt })
      : await series.settle(lock, { note, ...(state === 'dead' && { reason: settlement.reason }) });
    this.#leases.release(claim);
    return isOurs;
  }

  async lanes(): Promise<readonly LaneId[]> {
    this.#assertOpen();
    return this.#lanes.unsettled();
  }

  watch(onAdded: (lane: LaneId) => void): () => void {
    this.#endWatch = this.#lanes.server.watch((series) => {
      const lane = laneOfSeries(series);
      if (lane !== undefined) onAdded(lane);
    });
    return this.#endWatch;
  }

  /** Whether another queue is on the same server, whatever their URLs are. */
  async isOnServerOf(other: Queue): Promise<boolean> {
    return other instanceof ServerQueue && isSameServer(this.#lanes.server, other.#lanes.server);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#endWatch?.();
    this.#leases.close();
  }

  async #nextDueAt(
    series: Series,
    claims: readonly Claim[],
    nextDelayedAt = Infinity,
  ): Promise<number | undefined> {
    const isHeld = nextDelayedAt !== Infinity && nextDelayedAt >= HELD_UNTIL;
    const isInFlight = claims.length > 0 || isHeld || (await firstIds(series, ['active'])).length > 0;
    // Asks for a claim after `recoverMs` at the latest, because it is unknown when the leases of other processes end.
    const nextLookAt = isInFlight ? Math.ceil(this.#clock.now() + this.#recoverMs) : Infinity;
    const nextDueAt = Math.min(nextLookAt, isHeld ? Infinity : nextDelayedAt);
    return nextDueAt === Infinity ? undefined : nextDueAt;
  }

  #assertOpen(): void {
    if (this.#isClosed) throw new ClosedError('The queue is closed');
  }
}

/** Delays claimed deliveries that are not first in all of their lines: being first in one wakes them. Returns the others. */
async function holdOthers(series: Series, claims: readonly Claim[]): Promise<readonly Claim[]> {
  const inLines = claims.filter(({ delivery }) => delivery.orderKeys.length > 0);
  if (inLines.length === 0) return claims;
  // Writes notes with the number of takes, so that the take of a held entry does not count as a round.
  const held = new Set(await series.hold(inLines.map((claim) => notedLockOf(claim))));
  return claims.filter(({ delivery: { id } }) => !held.has(entryId(id)));
}

/**
 * Stores the start of the retry window of a delivery whose first claim was lost with its process before a note was written.
 * BullMQ stores only the last take, so the second claim starts the window, and a third would start it again.
 */
async function keepFirstTimes(
  claims: readonly Claim[],
  { taken, series, lockMs }: { taken: readonly TakenEntry[]; series: Series; lockMs: number },
): Promise<void> {
  const entries = new Map(taken.map(({ entry }) => [entry.id, entry]));
  const locks = claims.flatMap((claim) => {
    const { id, progress } = claim.delivery;
    const { takenAt, takes = 1 } = entries.get(entryId(id)) ?? {};
    const isUnwritten = progress.rounds > 0 && progress.firstAttemptAt === takenAt;
    return isUnwritten ? notedLockOf(claim, { takes: takes - 1 }) : [];
  });
  if (locks.length > 0) await series.extend(locks, lockMs);
}
