import type { Outcome } from '../../app/pipeline/outcomes.ts';
import type { FailureCause } from './failure-cause.ts';

/** Finds the causes of failures. Loads the code for this at the first failure. */
export class CauseFinder {
  /**
   * Promise of the import of the code that finds causes. Code that awaits it continues after all calls that `find` deferred
   * until then. Undefined before the first failure.
   */
  loading: Promise<void> | undefined;
  #causeOf: ((outcome: Outcome) => FailureCause | undefined) | undefined;

  /**
   * Calls `use` with the cause of an outcome, undefined for an outcome without one. Usually calls `use` before `find`
   * returns. While the code that finds causes loads, defers every call, even for an outcome without a cause, so that all
   * outcomes keep their order.
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
