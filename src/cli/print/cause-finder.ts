import type { Outcome } from '../../app/pipeline/outcomes.ts';
import type { FailureCause } from './failure-cause.ts';

/** Finds the causes of failures. Loads the code for this at the first failure. */
export class CauseFinder {
  /** Resolves after every call of `use` that waits for the code. Undefined before the first failure. */
  loading: Promise<void> | undefined;
  #causeOf: ((outcome: Outcome) => FailureCause | undefined) | undefined;

  /**
   * Calls `use` with the cause of an outcome, before `find` returns. Calls `use` later only while the code loads: then the
   * outcomes without a cause wait too, so that all outcomes keep their order.
   */
  find(outcome: Outcome, use: (cause: FailureCause | undefined) => Promise<void> | undefined) {
    const hasCause = outcome.outcome === 'failed' || outcome.outcome === 'filtered';
    const isWaiting = this.#causeOf === undefined && (hasCause || this.loading !== undefined);
    if (!isWaiting) return use(this.#causeOf?.(outcome));
    this.loading ??= import('./failure-cause.ts').then(
      (loaded) => void (this.#causeOf = loaded.failureCause),
    );
    return this.loading.then(() => use(this.#causeOf?.(outcome)));
  }
}
