/** Counts what was replaced, and what only a person can review. */
export class RedactionTally {
  /** Number of replaced values by kind. */
  readonly counts = new Map<string, number>();
  /** Number of texts that can have names, by their path. */
  readonly review = new Map<string, number>();

  readonly count = (kind: string): void => increase(this.counts, kind, 1);

  /** Adds what another request has. */
  add({ counts, review }: RedactionTally): void {
    for (const [kind, count] of counts) increase(this.counts, kind, count);
    for (const [path, count] of review) this.addReview(path, count);
  }

  addReview(path: string, count = 1): void {
    increase(this.review, path, count);
  }
}

function increase(counts: Map<string, number>, name: string, by: number): void {
  counts.set(name, (counts.get(name) ?? 0) + by);
}
