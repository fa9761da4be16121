import { waitsInVain } from '../../queue/make-lane-due.ts';
import { ReusableMap } from '../../queue/reusable-map.ts';
import type { Clock } from '../../clock.ts';
import { ClosedError } from '../../errors.ts';
import type { Delivery, Progress } from '../../queue/delivery.ts';
import { MemoryEntry, MemoryLane } from './memory-lane.ts';
import type { LaneStats } from '../../queue/inspection.ts';
import type { Claim, ClaimResult, ClaimRequest, LaneId, Queue, Settlement } from '../../queue/queue.ts';

const NOTHING_WAITS = { pending: 0, sending: 0, retrying: 0, delivered: 0, dead: 0 };

/**
 * A queue in memory, which ends with its process. It forgets settled deliveries, and does not copy bodies. Claims and settles
 * without promises, because a replay would spend several on each message.
 */
export class MemoryQueue implements Queue {
  readonly #clock: Clock;
  #entries = new ReusableMap<MemoryEntry>();
  /** The lanes by source, then by destination: looking up two existing strings is cheaper than joining them to one key. */
  readonly #lanes = new Map<string, Map<string, MemoryLane>>();
  #added = 0;
  #claimed = 0;
  #closed = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async add(deliveries: readonly Delivery[]): Promise<void> {
    this.#assertOpen();
    for (const delivery of deliveries) {
      // Skips a dead letter, because a dead letter counts as settled, and this queue forgets settled deliveries.
      if (delivery.state === 'dead' || this.#entries.has(delivery.id)) continue;
      const entry = new MemoryEntry(delivery, this.#added++);
      this.#entries.set(delivery.id, entry);
      this.#laneOf(delivery).add(entry);
    }
  }

  claim(request: ClaimRequest): Promise<ClaimResult> | ClaimResult {
    if (this.#closed) return Promise.reject(closedError());
    const { limit, leaseMs } = request;
    const entries = this.#laneOf(request);
    const now = this.#clock.now();
    entries.endLeases(now);
    const claims: Claim[] = [];
    for (let entry = entries.due.first; entry !== undefined; entry = entries.due.first) {
      if (entry.dueAt > now || claims.length === limit) break;
      entry.token = String(this.#claimed++);
      entry.claimedAt = now;
      entries.lease(entry, now + leaseMs);
      claims.push({ delivery: entry.toDelivery(), token: entry.token });
    }
    return { claims, nextDueAt: entries.nextDueAt };
  }

  async renew(claim: Claim, progress: Progress, leaseMs: number): Promise<boolean> {
    this.#assertOpen();
    const entry = this.#entryOf(claim);
    if (entry === undefined) return false;
    entry.progress = progress;
    entry.claimedAt = undefined;
    this.#laneOf(entry.delivery).lease(entry, this.#clock.now() + leaseMs);
    return true;
  }

  settle(claim: Claim, settlement: Settlement): Promise<boolean> | boolean {
    if (this.#closed) return Promise.reject(closedError());
    const entry = this.#entryOf(claim);
    if (entry === undefined) return false;
    const lane = this.#laneOf(entry.delivery);
    entry.token = undefined;
    if (settlement.state === 'retrying') {
      entry.progress = settlement.progress;
      lane.reschedule(entry, settlement.dueAt);
    } else {
      this.#entries.delete(entry.delivery.id);
      lane.remove(entry);
    }
    return true;
  }

  /** Makes the deliveries of a lane that wait for a retry due now, except those whose webhook asked for a longer wait. */
  makeDue({ source, destination }: LaneId): void {
    const now = this.#clock.now();
    for (const entry of this.#entries.values()) {
      const { delivery, state } = entry;
      const isOfLane = delivery.source === source && delivery.destination === destination;
      if (!isOfLane || state !== 'retrying' || !waitsInVain(entry, now)) continue;
      this.#laneOf(delivery).reschedule(entry, now);
    }
  }

  async lanes(): Promise<readonly LaneId[]> {
    this.#assertOpen();
    return [...this.#lanes].flatMap(([source, destinations]) =>
      [...destinations]
        .filter(([, entries]) => entries.nextDueAt !== undefined)
        .map(([destination]) => ({ source, destination })),
    );
  }

  /** Counts the deliveries by lane and state. An expired claim counts as `sending` until the next claim of its lane. */
  stats(): readonly LaneStats[] {
    this.#assertOpen();
    const lanes = new Map<string, LaneStats>();
    for (const { delivery, state } of this.#entries.values()) {
      const { source, destination } = delivery;
      const key = JSON.stringify([source, destination]);
      const counted = lanes.get(key) ?? { source, destination, ...NOTHING_WAITS };
      lanes.set(key, { ...counted, [state]: counted[state] + 1 });
    }
    return [...lanes.values()];
  }

  oldestAt(): number | undefined {
    this.#assertOpen();
    let oldest: number | undefined;
    for (const { delivery } of this.#entries.values()) {
      oldest = Math.min(oldest ?? Infinity, delivery.createdAt);
    }
    return oldest;
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#entries = new ReusableMap();
    this.#lanes.clear();
  }

  #laneOf({ source, destination }: LaneId): MemoryLane {
    let destinations = this.#lanes.get(source);
    if (destinations === undefined) this.#lanes.set(source, (destinations = new Map()));
    let entries = destinations.get(destination);
    if (entries === undefined) destinations.set(destination, (entries = new MemoryLane()));
    return entries;
  }

  /** Returns the entry of a claim. Undefined if the claim was lost, so that its token is not the current one. */
  #entryOf({ delivery, token }: Claim): MemoryEntry | undefined {
    const entry = this.#entries.get(delivery.id);
    return entry?.token === token ? entry : undefined;
  }

  #assertOpen(): void {
    if (this.#closed) throw closedError();
  }
}

const closedError = () => new ClosedError('The queue is closed');
