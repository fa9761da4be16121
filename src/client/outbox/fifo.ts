/** A first-in, first-out queue whose `shift()` takes constant time; Array.shift() moves every element of a large array. */
export class Fifo<Item> {
  #incoming: Item[] = [];
  #outgoing: Item[] = [];
  #next = 0;

  get length(): number {
    return this.#incoming.length + this.#outgoing.length - this.#next;
  }

  push(item: Item): void {
    this.#incoming.push(item);
  }

  peek(): Item | undefined {
    if (this.#next === this.#outgoing.length) this.#turn();
    return this.#outgoing[this.#next];
  }

  shift(): Item | undefined {
    const item = this.peek();
    if (item !== undefined) this.#next++;
    return item;
  }

  #turn(): void {
    this.#outgoing = this.#incoming;
    this.#incoming = [];
    this.#next = 0;
  }
}
