import { copyDelivery, withRound, type Delivery, type Progress } from '../../queue/delivery.ts';
import { ReusableMap } from '../../queue/reusable-map.ts';

/** One lane. An unsettled entry is in `due`, or leased, or held back by an order key and in neither. */
export class MemoryLane {
  readonly due = new Heap<MemoryEntry>(
    (a, b) => a.dueAt < b.dueAt || (a.dueAt === b.dueAt && a.sequence < b.sequence),
  );
  readonly #leased = new Heap<MemoryEntry>((a, b) => a.leaseEndsAt < b.leaseEndsAt);
  readonly #lines = new OrderLines<MemoryEntry>();

  get nextDueAt(): number | undefined {
    const [due, leased] = [this.due.first, this.#leased.first];
    if (due === undefined || leased === undefined) return due?.dueAt ?? leased?.leaseEndsAt;
    return Math.min(due.dueAt, leased.leaseEndsAt);
  }

  add(entry: MemoryEntry): void {
    this.#lines.join(entry);
    if (entry.heldBy === 0) this.due.push(entry);
  }

  lease(entry: MemoryEntry, endsAt: number): void {
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

  reschedule(entry: MemoryEntry, dueAt: number): void {
    this.#take(entry);
    entry.dueAt = dueAt;
    this.due.push(entry);
  }

  remove(entry: MemoryEntry): void {
    this.#take(entry);
    this.#lines.leave(entry, (next) => this.due.push(next));
  }

  #take(entry: MemoryEntry): void {
    if (entry.leaseEndsAt === NOT_LEASED) this.due.remove(entry);
    else this.#leased.remove(entry);
    entry.leaseEndsAt = NOT_LEASED;
  }
}

const NOT_LEASED = -1;

/** A delivery of the lane. */
export class MemoryEntry {
  readonly delivery: Delivery;
  readonly orderKeys: readonly string[];
  readonly sequence: number;
  progress: Progress;
  dueAt: number;
  token: string | undefined = undefined;
  /** Set until the claim is renewed: it has begun a round that `progress` does not count. */
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
    const claimed = copyDelivery(this.delivery);
    claimed.dueAt = this.dueAt;
    claimed.state = 'sending';
    claimed.progress = this.progress;
    return claimed;
  }
}

/** An owner of turns: one in the line of each of its keys. */
interface Waiter {
  readonly orderKeys: readonly string[];
  /** The number of its lines in which another is before it. */
  heldBy: number;
}

interface Turn<Who> {
  readonly who: Who;
  next: Turn<Who> | undefined;
}

interface Line<Who> {
  first: Turn<Who>;
  last: Turn<Who>;
}

/** The order keys of one lane: a line per key, first come first served, in constant time per key. */
class OrderLines<Who extends Waiter> {
  readonly #lines = new ReusableMap<Line<Who>>();

  /** Sets `heldBy`. A key that is named twice counts once, or its owner would wait for itself. */
  join(who: Who): void {
    for (const key of who.orderKeys) {
      const line = this.#lines.get(key);
      if (line?.last.who === who) continue;
      const turn: Turn<Who> = { who, next: undefined };
      if (line === undefined) {
        this.#lines.set(key, { first: turn, last: turn });
      } else {
        line.last.next = turn;
        line.last = turn;
        who.heldBy++;
      }
    }
  }

  /** Removes `who` from the lines that it is first in. Calls `onFree` for each successor that is now first in all its lines. */
  leave(who: Who, onFree: (next: Who) => void): void {
    for (const key of who.orderKeys) {
      const line = this.#lines.get(key);
      if (line?.first.who !== who) continue;
      const { next } = line.first;
      if (next === undefined) {
        this.#lines.delete(key);
      } else {
        line.first = next;
        if (--next.who.heldBy === 0) onFree(next.who);
      }
    }
  }
}

/** An item knows where it lies, so that it can be taken out of the middle. */
export interface HeapItem {
  /** Kept by the heap; -1 while it is in none. */
  place: number;
}

/** A binary heap: the first item at hand, everything else in O(log n). */
export class Heap<Item extends HeapItem> {
  readonly #items: Item[] = [];
  readonly #isBefore: (a: Item, b: Item) => boolean;

  constructor(isBefore: (a: Item, b: Item) => boolean) {
    this.#isBefore = isBefore;
  }

  get first(): Item | undefined {
    return this.#items[0];
  }

  push(item: Item): void {
    this.#items.push(item);
    this.#rise(item, this.#items.length - 1);
  }

  remove(item: Item): void {
    const last = this.#items.pop();
    const { place } = item;
    item.place = -1;
    if (last === undefined || last === item) return;
    this.#rise(last, place);
    this.#sink(last, last.place);
  }

  #rise(item: Item, from: number): void {
    let place = from;
    while (place > 0) {
      const parentPlace = (place - 1) >> 1;
      const parent = this.#items[parentPlace];
      if (parent === undefined || !this.#isBefore(item, parent)) break;
      this.#put(parent, place);
      place = parentPlace;
    }
    this.#put(item, place);
  }

  #sink(item: Item, from: number): void {
    let place = from;
    for (let child = this.#earlierChild(place); child !== undefined; child = this.#earlierChild(place)) {
      if (!this.#isBefore(child, item)) break;
      const childPlace = child.place;
      this.#put(child, place);
      place = childPlace;
    }
    this.#put(item, place);
  }

  #earlierChild(place: number): Item | undefined {
    const left = this.#items[2 * place + 1];
    const right = this.#items[2 * place + 2];
    return left !== undefined && right !== undefined && this.#isBefore(right, left) ? right : left;
  }

  #put(item: Item, place: number): void {
    this.#items[place] = item;
    item.place = place;
  }
}
