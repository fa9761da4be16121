/** Number of equal parts into which a load is divided to count acknowledgments, and so the precision of the rate. */
const PARTS = 200;

/**
 * Measures the most acknowledgments in any period as long as messages were due. A constant latency only moves that period,
 * and one early or late response does not move it. A receiver that falls behind spreads its responses over a longer time.
 */
export class SustainedRate {
  readonly #partMs: number;
  /** Number of acknowledgments by part of the load. Later parts follow its end. */
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
    // A period has one more part, because its first acknowledgment need not open a part.
    const more = Math.ceil(sentMs / this.#partMs);
    const parts = [...this.#acknowledged];
    const counts = parts.map(([from]) =>
      parts.reduce((sum, [part, count]) => (part < from || part > from + more ? sum : sum + count), 0),
    );
    return counts.length === 0 ? 0 : (counts.reduce((one, other) => Math.max(one, other)) * 1_000) / sentMs;
  }
}
