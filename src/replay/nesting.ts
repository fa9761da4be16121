import { CLOSE_BRACE, CLOSE_BRACKET, OPEN_BRACE } from './bytes.ts';

/** Deeper brackets are counted, not remembered: messages nested deeper than 512 are refused when they are parsed. */
const REMEMBERED = 1024;

/** The open brackets of one JSON value. */
export class Nesting {
  readonly #closers = new Uint8Array(REMEMBERED);
  #depth = 0;

  get depth(): number {
    return this.#depth;
  }

  get isInObject(): boolean {
    return this.#depth > 0 && this.#depth <= REMEMBERED && this.#closers[this.#depth - 1] === CLOSE_BRACE;
  }

  /** The bracket that has to come next of all closing ones; undefined too deep down to know. */
  get closer(): number | undefined {
    return this.#closers[this.#depth - 1];
  }

  open(bracket: number): void {
    if (this.#depth < REMEMBERED)
      this.#closers[this.#depth] = bracket === OPEN_BRACE ? CLOSE_BRACE : CLOSE_BRACKET;
    this.#depth++;
  }

  /** False, and nothing changed: this is not the bracket that closes the innermost one. */
  close(bracket: number): boolean {
    const expected = this.closer;
    if (expected !== undefined && expected !== bracket) return false;
    this.#depth--;
    return true;
  }

  clear(): void {
    this.#depth = 0;
  }
}
