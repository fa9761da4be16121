import type { IdempotenceMistakeCode } from './mistakes.ts';
import type { ScheduleCode } from './plan/schedule.ts';

export interface ProofResult {
  readonly check: ScheduleCode;
  readonly title: string;
  readonly outcome: 'passed' | 'failed' | 'skipped' | 'unsent';
  /** Number of schedules of this code that ran. */
  readonly schedules: number;
  /** Milliseconds that the schedules of this code took. */
  readonly ms: number;
  readonly mistake?: { readonly code: IdempotenceMistakeCode; readonly says: string; readonly fix: string };
  readonly counterexample?: Counterexample;
  /** Why the check was skipped or not run. */
  readonly reason?: string;
}

/** The smallest series of requests found that ends in a wrong state. */
export interface Counterexample {
  /** Number of the schedule. The number, the code and the seed together identify the schedule. */
  readonly schedule: number;
  readonly requests: readonly ShownRequest[];
  /** The correct state after the requests. Secrets are redacted; control characters are not escaped. */
  readonly expected: string;
  /** The actual state after the requests. */
  readonly state: string;
}

export interface ShownRequest {
  /** Label of the message: its type, numbered from the second of a type. */
  readonly message: string;
  readonly messageId: string;
  /**
   * Milliseconds from the first request of the counterexample to this request. Only the place of the request, from 0, if the
   * times are not measured.
   */
  readonly atMs: number;
  readonly status?: number;
  /** Code of a network error, or `cut` if the connection was cut on purpose. */
  readonly error?: string;
  /** Number of times that the request was sent, if it was retried. */
  readonly tries?: number;
  /** Status of the first response that made the sender retry the request. */
  readonly failedWith?: number | undefined;
  /** Milliseconds from the request to the kill of the receiver. */
  readonly killedAfterMs?: number;
}
