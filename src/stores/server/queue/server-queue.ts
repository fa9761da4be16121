import { randomBytes } from 'node:crypto';
import type { Clock } from '../../../clock.ts';
import { ClosedError } from '../../../errors.ts';
import type { Server, TakenEntry } from '../server.ts';
import type { Delivery, Progress } from '../../../queue/delivery.ts';
import type { Claim, ClaimResult, ClaimRequest, Lane, Queue, Settlement } from '../../../queue/queue.ts';
import type { RetentionOptions } from '../../../queue/retention.ts';
import { deadSeriesName, seriesName, ServerLanes } from './server-lanes.ts';
import { REPAIR_AFTER_MS, ServerOrder } from './server-order.ts';
import { entryId, HELD_FROM, HELD_UNTIL, noteOf, toNewEntry } from './server-record.ts';
import { lockToken, ServerLeases, takesOf, toClaim } from './server-leases.ts';
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
  /** After how long others finish what a killed process had begun: a change of order lines, or the end of a round. Ms. @default 15,000 */
  readonly repairAfterMs?: number;
  /** How long a claim outlives a process that is killed, or that gets no turn. Ms. @default 10,000 */
  readonly lockMs?: number;
}

const RECOVER_MS = 2_000;
/** With two looks after its end, what a killed process held is taken within 16 s. */
const LOCK_MS = 10_000;
/** Deliveries in one transaction: during it the server serves no other client, and this process builds it in one turn. */
const ADDED_AT_ONCE = 1_000;

/**
 * Claims go over BullMQ's lowest floor and not through its `Worker`. A `Worker` blocks on a connection of its own for each lane, takes
 * by its own pace and fails what throws: our pace, leases of a round and order lines would stand before, behind and around it.
 * It was weighed for its two scripts a message. Without it a message takes three in all (test/queue/server-trips.system.test.ts; 8.1 before).
 * A delivery takes 244 µs of CPU and 129 of the Redis, and one of plain Workers with the same POST 213 and 104 (docs/benchmarks.md).
 * On Redis, entries are taken and locks kept by scripts of our own: one for all that a claim takes, where BullMQ's takes one entry, and also
 * on a full server, where BullMQ's stop. Adding, settling and forgetting stay BullMQ's, so that its tools see their queues.
 *
 * A queue on a server, which processes on any number of hosts may share. Each lane is a series of entries, which BullMQ keeps.
 * Added deliveries are as durable as the server is set to make them; what was claimed, renewed and settled in its last second
 * may be forgotten by a PostgreSQL that crashes, so that it is delivered again. A delivery that becomes due comes behind what waited
 * before it. A process that is killed keeps its claims for `lockMs`, and at most twice `recoverMs` longer.
 */
export class ServerQueue implements Queue {
  readonly #server: Server;
  readonly #clock: Clock;
  readonly #retention: Partial<RetentionOptions>;
  readonly #recoverMs: number;
  readonly #leases: ServerLeases;
  readonly #owner = randomBytes(9).toString('base64url');
  readonly #lanes: ServerLanes;
  readonly #order: ServerOrder;
  readonly #maintenance: ServerMaintenance;
  #tokens = 0;
  #areLanesRestored = false;
  #isClosed = false;

  constructor({
    server,
    clock,
    retention = {},
    recoverMs = RECOVER_MS,
    repairAfterMs = REPAIR_AFTER_MS,
    lockMs = LOCK_MS,
  }: ServerQueueOptions) {
    this.#server = server;
    this.#clock = clock;
    this.#retention = retention;
    this.#recoverMs = recoverMs;
    this.#lanes = new ServerLanes(server);
    this.#order = new ServerOrder(server, this.#lanes, repairAfterMs);
    const [lanes, order] = [this.#lanes, this.#order];
    this.#leases = new ServerLeases({ lanes, clock, lockMs });
    this.#maintenance = new ServerMaintenance({ server, lanes, order, clock, retention, recoverMs });
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
      // Others may have what was taken by now: this process was stopped, or the server.
      if (this.#clock.now() - askedAt >= lockMs) break;
      const inTurn = await this.#inTurn(taken.map((each) => toClaim(each, lane)));
      for (const claim of inTurn) this.#leases.hold(claim, leaseMs);
      await this.#keepFirstTimes(inTurn, taken);
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
    // One after the other: no lock guards a note, and the extended lease protects this one.
    if (!(await this.#extend(claim, this.#leases.lockMs(leaseMs)))) return false;
    this.#leases.hold(claim, leaseMs);
    const note = noteOf({ progress, takes: takesOf(token), dueAt: delivery.dueAt });
    await this.#lanes.series(delivery).writeNote(entryId(delivery.id), note);
    return true;
  }

  async settle(claim: Claim, settlement: Settlement): Promise<boolean> {
    this.#assertOpen();
    const isOurs =
      settlement.state === 'retrying'
        ? await this.#reschedule(claim, settlement)
        : await this.#end(claim, settlement);
    this.#leases.release(claim);
    return isOurs;
  }

  async lanes(): Promise<readonly Lane[]> {
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
  async #addAtOnce(deliveries: readonly Delivery[]): Promise<void> {
    const now = Math.floor(this.#clock.now());
    const entered = await this.#order.enter(deliveries, now);
    const entries = deliveries.map((delivery) => {
      const series = delivery.state !== 'dead' ? seriesName(delivery) : deadSeriesName(delivery);
      return toNewEntry(delivery, { series, isHeld: entered?.held.has(delivery) ?? false, now });
    });
    if (entered !== undefined) await this.#order.entering(entered, Math.floor(this.#clock.now()));
    await this.#server.add(entries);
    if (entered !== undefined) await this.#order.entered(entered);
  }

  /**
   * BullMQ keeps when an entry was taken last. So the retry window of a delivery whose first process was killed in its first
   * round begins with the second claim, which writes that down: a third one changes it no more.
   */
  async #keepFirstTimes(claims: readonly Claim[], taken: readonly TakenEntry[]): Promise<void> {
    const takenAt = new Map(taken.map(({ entry }) => [entry.id, entry.takenAt]));
    for (const { delivery, token } of claims) {
      const { id, progress, dueAt } = delivery;
      const isUnwritten = progress.rounds > 0 && progress.firstAttemptAt === takenAt.get(entryId(id));
      const note = noteOf({ progress, takes: takesOf(token) - 1, dueAt });
      if (isUnwritten) await this.#lanes.series(delivery).writeNote(entryId(id), note);
    }
  }

  /** The claims whose turn it is. Delays the others. */
  async #inTurn(claims: readonly Claim[]): Promise<readonly Claim[]> {
    const keyed = claims.filter(({ delivery }) => delivery.orderKeys.length > 0);
    if (keyed.length === 0) return claims;
    const areFirst = await this.#order.areFirst(keyed.map(({ delivery }) => delivery));
    const now = Math.floor(this.#clock.now());
    const isFirst = new Map(keyed.map((claim, index) => [claim, areFirst[index] !== false]));
    const early = keyed.filter((claim) => isFirst.get(claim) !== true || claim.delivery.dueAt > now + 1);
    const areEarly = new Set(early);
    // To be taken out of its turn, or called early, begins no round.
    const putBack = (some: readonly Claim[], until?: number): Promise<unknown> =>
      Promise.all(some.map((claim) => this.#putBack(claim, claim.delivery, until)));
    await putBack(early.filter((claim) => isFirst.get(claim)));
    const held = early.filter((claim) => !isFirst.get(claim));
    const deliveries = held.map(({ delivery }) => delivery);
    await this.#order.holding(deliveries, now, () => putBack(held, HELD_UNTIL));
    return claims.filter((claim) => !areEarly.has(claim));
  }

  async #putBack(
    { delivery: { id, ...lane }, token }: Claim,
    { progress, dueAt }: Pick<Delivery, 'progress' | 'dueAt'>,
    until = dueAt,
  ): Promise<boolean> {
    const series = this.#lanes.series(lane);
    await series.writeNote(entryId(id), noteOf({ progress, takes: takesOf(token), dueAt }));
    return series.delay(entryId(id), lockToken(token), until);
  }

  async #nextDueAt(
    lane: Lane,
    claims: readonly Claim[],
    nextDelayedAt: number | undefined,
  ): Promise<number | undefined> {
    const isHeld = nextDelayedAt !== undefined && nextDelayedAt >= HELD_FROM;
    const isInFlight = claims.length > 0 || isHeld || (await this.#lanes.hasAny(lane, ['active']));
    const times = [
      ...(nextDelayedAt === undefined || isHeld ? [] : [nextDelayedAt]),
      // The end of a lease is unknown: another process may hold it.
      ...(isInFlight ? [Math.ceil(this.#clock.now() + this.#recoverMs)] : []),
    ];
    return times.length === 0 ? undefined : Math.min(...times);
  }

  #end(
    { delivery, token }: Claim,
    settlement: Exclude<Settlement, { readonly state: 'retrying' }>,
  ): Promise<boolean> {
    const series = this.#lanes.series(delivery);
    const id = entryId(delivery.id);
    const note = noteOf({ progress: settlement.progress, dueAt: delivery.dueAt });
    const { deliveredMs, deadMs } = this.#retention;
    return this.#order.leaving(delivery, Math.floor(this.#clock.now()), () =>
      settlement.state === 'delivered'
        ? series.complete(id, lockToken(token), { note, keepMs: deliveredMs })
        : series.fail(id, lockToken(token), { note, keepMs: deadMs, reason: settlement.reason }),
    );
  }

  async #reschedule(claim: Claim, settlement: Settlement & { readonly state: 'retrying' }): Promise<boolean> {
    return (await this.#extend(claim, this.#leases.lockMs(Infinity))) && this.#putBack(claim, settlement);
  }

  async #extend({ delivery, token }: Claim, lockMs: number): Promise<boolean> {
    const lock = { id: entryId(delivery.id), token: lockToken(token) };
    return (await this.#lanes.series(delivery).extend([lock], lockMs)).length === 0;
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
