import { ReusableMap } from '../../reusable-map.ts';

/** An owner of turns: one in the line of each of its keys. */
export interface Waiter {
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
export class OrderLines<Who extends Waiter> {
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
