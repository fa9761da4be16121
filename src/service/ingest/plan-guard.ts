import type { Message } from '../../message/types.ts';

/** Checks the messages of a source with its tracking plan. The service does not know plans: its caller passes this in. */
export interface PlanGuard {
  /**
   * Returns how a message violates the plan, as a sentence without a full stop, and counts and logs the violation.
   * Undefined if it follows the plan. Synchronous, so that the order of messages stays.
   */
  check(message: Message): string | undefined;
  /** Whether a message that violates the plan is rejected, and kept as a dead letter. */
  readonly rejects: boolean;
}
