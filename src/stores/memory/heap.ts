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
