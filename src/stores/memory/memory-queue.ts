import { ReusableMap } from '../../reusable-map.ts';
import type { Clock } from '../../clock.ts';
import { ClosedError } from '../../errors.ts';
import { withRound, type Delivery, type Progress } from '../../queue/delivery.ts';
import { Heap } from './heap.ts';
import { OrderLines } from './order-lines.ts';
import type {
  Claim,
  ClaimAnswer,
  ClaimRequest,
  Lane,
  Queue,
  QueueDepth,
  Settlement,
} from '../../queue/queue.ts';

/** A queue that lasts as long as its process. What is settled is forgotten; bodies are kept as handed in, not copied. */
export class MemoryQueue implements Queue {
  readonly #clock: Clock;
  #entries = new ReusableMap<Entry>();
  /** By source, then destination: two lookups by a known string are cheaper than one by a new one. */
  readonly #lanes = new Map<string, Map<string, LaneEntries>>();
  #added = 0;
  #claimed = 0;
  #closed = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async add(deliveries: readonly Delivery[]): Promise<void> {
    this.#assertOpen();
    for (const delivery of deliveries) {
      // Settled deliveries are forgotten, and a dead letter is settled from the start.
      if (delivery.state === 'dead' || this.#entries.has(delivery.id)) continue;
      const entry = new Entry(delivery, this.#added++);
      this.#entries.set(delivery.id, entry);
      this.#laneOf(delivery).add(entry);
    }
  }

  async claim(request: ClaimRequest): Promise<ClaimAnswer> {
    this.#assertOpen();
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

  async settle(claim: Claim, settlement: Settlement): Promise<boolean> {
    this.#assertOpen();
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

  async lanes(): Promise<readonly Lane[]> {
    this.#assertOpen();
    return [...this.#lanes].flatMap(([source, destinations]) =>
      [...destinations]
        .filter(([, entries]) => entries.nextDueAt !== undefined)
        .map(([destination]) => ({ source, destination })),
    );
  }

  /** How many deliveries wait, by state. One that is out counts as `sending` until its lease has been seen to end. */
  async depth(): Promise<QueueDepth> {
    this.#assertOpen();
    const depth = { pending: 0, sending: 0, retrying: 0, delivered: 0, dead: 0 };
    for (const entry of this.#entries.values()) depth[entry.state]++;
    return depth;
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#entries = new ReusableMap();
    this.#lanes.clear();
  }

  #laneOf({ source, destination }: Lane): LaneEntries {
    let destinations = this.#lanes.get(source);
    if (destinations === undefined) this.#lanes.set(source, (destinations = new Map()));
    let entries = destinations.get(destination);
    if (entries === undefined) destinations.set(destination, (entries = new LaneEntries()));
    return entries;
  }

  /** Undefined: the token is void. */
  #entryOf({ delivery, token }: Claim): Entry | undefined {
    const entry = this.#entries.get(delivery.id);
    return entry?.token === token ? entry : undefined;
  }

  #assertOpen(): void {
    if (this.#closed) throw new ClosedError('The queue is closed');
  }
}

/** One lane. An unsettled entry is in `due`, or leased, or held back by an order key and in neither. */
class LaneEntries {
  readonly due = new Heap<Entry>(
    (a, b) => a.dueAt < b.dueAt || (a.dueAt === b.dueAt && a.sequence < b.sequence),
  );
  readonly #leased = new Heap<Entry>((a, b) => a.leaseEndsAt < b.leaseEndsAt);
  readonly #lines = new OrderLines<Entry>();

  get nextDueAt(): number | undefined {
    const [due, leased] = [this.due.first, this.#leased.first];
    if (due === undefined || leased === undefined) return due?.dueAt ?? leased?.leaseEndsAt;
    return Math.min(due.dueAt, leased.leaseEndsAt);
  }

  add(entry: Entry): void {
    this.#lines.join(entry);
    if (entry.heldBy === 0) this.due.push(entry);
  }

  lease(entry: Entry, endsAt: number): void {
    this.#take(entry);
    entry.leaseEndsAt = endsAt;
    this.#leased.push(entry);
  }

  /** An entry whose lease has ended is due as it was before; its token is void from the next claim on. */
  endLeases(now: number): void {
    for (let entry = this.#leased.first; entry !== undefined; entry = this.#leased.first) {
      if (entry.leaseEndsAt > now) return;
      if (entry.claimedAt !== undefined) entry.progress = withRound(entry.progress, entry.claimedAt);
      this.reschedule(entry, entry.dueAt);
    }
  }

  reschedule(entry: Entry, dueAt: number): void {
    this.#take(entry);
    entry.dueAt = dueAt;
    this.due.push(entry);
  }

  remove(entry: Entry): void {
    this.#take(entry);
    this.#lines.leave(entry, (next) => this.due.push(next));
  }

  #take(entry: Entry): void {
    if (entry.leaseEndsAt === NOT_LEASED) this.due.remove(entry);
    else this.#leased.remove(entry);
    entry.leaseEndsAt = NOT_LEASED;
  }
}

const NOT_LEASED = -1;

class Entry {
  readonly delivery: Delivery;
  readonly orderKeys: readonly string[];
  readonly sequence: number;
  progress: Progress;
  dueAt: number;
  /** Of the claim that is out. */
  token: string | undefined = undefined;
  /** Until it is renewed: the claim has begun a round that `progress` does not count. */
  claimedAt: number | undefined = undefined;
  leaseEndsAt = NOT_LEASED;
  heldBy = 0;
  place = -1;

  constructor(delivery: Delivery, sequence: number) {
    this.delivery = delivery;
    this.orderKeys = delivery.orderKeys;
    this.progress = delivery.progress;
    this.sequence = sequence;
    this.dueAt = delivery.dueAt;
  }

  get state(): 'pending' | 'sending' | 'retrying' {
    if (this.leaseEndsAt !== NOT_LEASED) return 'sending';
    return this.progress.rounds === 0 ? 'pending' : 'retrying';
  }

  toDelivery(): Delivery {
    // Field by field: a spread costs more than all the rest of a claim.
    const { id, source, destination, messageId, type, body, orderKeys, createdAt } = this.delivery;
    const { dueAt, progress } = this;
    return {
      id,
      source,
      destination,
      messageId,
      type,
      body,
      orderKeys,
      createdAt,
      dueAt,
      state: 'sending',
      progress,
    };
  }
}
