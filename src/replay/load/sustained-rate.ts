/** Number of equal parts into which a load is divided to count acknowledgments, and so the precision of the rate. */
const PARTS = 200;

/**
 * Measures the maximum number of acknowledgments in any period as long as the time for which messages were due. A constant
 * latency only shifts that period, and a single early or late response does not shift it. A receiver that falls behind spreads
 * its responses over a longer time, so that fewer are in any such period.
 */
export class SustainedRate {
  readonly #partMs: number;
  /** Number of acknowledgments by the number of the part, from 0. Parts after the end of the load are numbered on. */
  readonly #acknowledged = new Map<number, number>();

  /** @param durationMs planned duration of the load */
  constructor(durationMs: number) {
    this.#partMs = durationMs / PARTS;
  }

  add(at: number): void {
    const part = Math.floor(at / this.#partMs);
    this.#acknowledged.set(part, (this.#acknowledged.get(part) ?? 0) + 1);
  }

  /** Returns the acknowledgments per second. `sentMs`: how long messages were due. */
  perSecond(sentMs: number): number {
    // Includes one more part, because the first acknowledgment of the period can be in the middle of a part.
    const more = Math.ceil(sentMs / this.#partMs);
    const parts = [...this.#acknowledged];
    const counts = parts.map(([from]) =>
      parts.reduce((sum, [part, count]) => (part < from || part > from + more ? sum : sum + count), 0),
    );
    return counts.length === 0 ? 0 : (counts.reduce((one, other) => Math.max(one, other)) * 1_000) / sentMs;
  }
}
