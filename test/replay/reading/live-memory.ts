import { collectGarbage } from '../../collect-garbage.ts';

/** By how much what is in use, in V8's heap and in buffers outside it, has grown since the beginning. */
export class LiveMemory {
  readonly #before = LiveMemory.#bytes();
  mostBytes = 0;

  measure(): void {
    this.mostBytes = Math.max(this.mostBytes, LiveMemory.#bytes() - this.#before);
  }

  static #bytes(): number {
    // Buffers are given back in the background, which the next collection waits for.
    collectGarbage();
    collectGarbage();
    const { heapUsed, arrayBuffers } = process.memoryUsage();
    return heapUsed + arrayBuffers;
  }
}
