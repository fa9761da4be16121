/** A range of whole numbers from `start` up to, but not including, `end`. */
export type IndexRange = readonly [start: number, end: number];

/** A set of whole numbers, stored as ranges. Its memory grows with the number of gaps, not with the number of members. */
export class IndexRanges {
  /** The ranges in ascending order, with a gap between neighboring ranges. */
  readonly #ranges: [start: number, end: number][];

  constructor(ranges: readonly IndexRange[] = []) {
    this.#ranges = ranges.map(([start, end]) => [start, end]);
  }

  has(index: number): boolean {
    return (this.#ranges[this.#after(index) - 1]?.[1] ?? -Infinity) > index;
  }

  add(index: number): void {
    const at = this.#after(index);
    const [before, after] = [this.#ranges[at - 1], this.#ranges[at]];
    if (before !== undefined && before[1] > index) return;
    const [joinsBefore, joinsAfter] = [before?.[1] === index, after?.[0] === index + 1];
    if (before !== undefined && joinsBefore) {
      before[1] = joinsAfter && after !== undefined ? after[1] : index + 1;
      if (joinsAfter) this.#ranges.splice(at, 1);
    } else if (after !== undefined && joinsAfter) after[0] = index;
    else this.#ranges.splice(at, 0, [index, index + 1]);
  }

  toJSON(): readonly IndexRange[] {
    return this.#ranges;
  }

  /** Returns the position in `#ranges` of the first range that starts after `index`, or `#ranges.length` if none does. */
  #after(index: number): number {
    let [low, high] = [0, this.#ranges.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#ranges[middle]?.[0] ?? 0) <= index) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
