import type { IdempotenceFaultCode } from './faults.ts';
import type { ScheduleCode } from './plan/schedule.ts';

export interface ProofResult {
  readonly check: ScheduleCode;
  readonly title: string;
  readonly outcome: 'passed' | 'failed' | 'skipped' | 'unsent';
  /** How many schedules ran. */
  readonly schedules: number;
  /** How long they took. */
  readonly ms: number;
  readonly fault?: { readonly code: IdempotenceFaultCode; readonly says: string; readonly fix: string };
  readonly counterexample?: Counterexample;
  /** Why it was skipped or not run. */
  readonly reason?: string;
}

/** The fewest requests found that end in another state than they must. */
export interface Counterexample {
  /** Names the schedule, together with the code and the seed. */
  readonly schedule: number;
  readonly requests: readonly ShownRequest[];
  /** The state in which the requests must end. Unescaped, without secrets. */
  readonly expected: string;
  /** The state in which they ended. */
  readonly state: string;
}

export interface ShownRequest {
  /** Its type, numbered from the second. */
  readonly message: string;
  readonly messageId: string;
  /** From the first request. */
  readonly atMs: number;
  readonly status?: number;
  /** The code of a network error; `cut` where the connection was cut on purpose. */
  readonly error?: string;
  /** How often it was sent, where more than once. */
  readonly tries?: number;
  /** The first status that asked for it again. */
  readonly failedWith?: number | undefined;
  /** The receiver was killed this long after the request was sent. */
  readonly killedAfterMs?: number;
}
