import { CLOSE_BRACE, CLOSE_BRACKET, OPEN_BRACE } from './bytes.ts';

/** Deeper brackets are counted, not remembered: the parser rejects messages nested deeper than 512. */
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

  /** The closing bracket that must come next; undefined beyond the remembered depth. */
  get closer(): number | undefined {
    return this.#closers[this.#depth - 1];
  }

  open(bracket: number): void {
    if (this.#depth < REMEMBERED)
      this.#closers[this.#depth] = bracket === OPEN_BRACE ? CLOSE_BRACE : CLOSE_BRACKET;
    this.#depth++;
  }

  /** Closes the innermost bracket. Returns false and changes nothing when this one does not match. */
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
