import { copyDelivery, withRound, type Delivery, type Progress } from '../../queue/delivery.ts';
import { ReusableMap } from '../../queue/reusable-map.ts';

/**
 * The entries of one lane. An entry is either in `due` or in `#leased`. An entry that waits for an earlier one with its
 * order key is in neither.
 */
export class MemoryLane {
  readonly due = new Heap<MemoryEntry>(
    (a, b) => a.dueAt < b.dueAt || (a.dueAt === b.dueAt && a.sequence < b.sequence),
  );
  readonly #leased = new Heap<MemoryEntry>((a, b) => a.leaseEndsAt < b.leaseEndsAt);
  readonly #lines = new OrderLines();

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

  /**
   * Makes entries whose leases have ended due again. The token of such an entry stays valid until the next claim of the
   * entry.
   */
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

/** A delivery in a lane, with its changing state: progress, due time and claim. */
export class MemoryEntry {
  readonly delivery: Delivery;
  readonly orderKeys: readonly string[];
  readonly sequence: number;
  progress: Progress;
  dueAt: number;
  token: string | undefined = undefined;
  /** When the claimed round began. Undefined after a renewal, because the renewal has added this round to `progress`. */
  claimedAt: number | undefined = undefined;
  leaseEndsAt = NOT_LEASED;
  /** Number of order keys for which an earlier delivery is still unsettled. The entry is claimable at 0. */
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

interface Turn {
  readonly entry: MemoryEntry;
  next: Turn | undefined;
}

interface Line {
  first: Turn;
  last: Turn;
}

/** One line (first come, first served) for each order key of a lane. Joining and leaving take constant time per key. */
class OrderLines {
  readonly #lines = new ReusableMap<Line>();

  /**
   * Adds the entry to the line of each of its order keys and sets `heldBy`. Ignores duplicate keys, because an entry that is
   * in a line twice would wait for itself.
   */
  join(entry: MemoryEntry): void {
    for (const key of entry.orderKeys) {
      const line = this.#lines.get(key);
      if (line?.last.entry === entry) continue;
      const turn: Turn = { entry, next: undefined };
      if (line === undefined) {
        this.#lines.set(key, { first: turn, last: turn });
      } else {
        line.last.next = turn;
        line.last = turn;
        entry.heldBy++;
      }
    }
  }

  /** Removes an entry from the lines where it is first. Calls `onFree` for entries that are now first in all their lines. */
  leave(entry: MemoryEntry, onFree: (next: MemoryEntry) => void): void {
    for (const key of entry.orderKeys) {
      const line = this.#lines.get(key);
      if (line?.first.entry !== entry) continue;
      const { next } = line.first;
      if (next === undefined) {
        this.#lines.delete(key);
      } else {
        line.first = next;
        if (--next.entry.heldBy === 0) onFree(next.entry);
      }
    }
  }
}

/** An item that stores its index, so that the heap can remove it from the middle. */
export interface HeapItem {
  /** Index of the item in the heap; -1 if it is not in a heap. Only the heap changes it. */
  place: number;
}

/** A binary heap. Reading the first item takes constant time, and other operations take O(log n). */
export class Heap<Item extends HeapItem> {
  readonly #items: Item[] = [];
  readonly #isBefore: (a: Item, b: Item) => boolean;

  constructor(isBefore: (a: Item, b: Item) => boolean) {
    this.#isBefore = isBefore;
  }

  get first(): Item | undefined {
    return this.#items.at(0);
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
