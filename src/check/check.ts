import type { CheckResponseKind } from './check-response.ts';
import type { CheckRequest, Sample } from './sample.ts';

/** One thing that a receiver must do: what is sent, what is expected, how to fix it. */
export interface Check {
  /** Stable: what `--only` and `--skip` name. */
  readonly code: string;
  /** What is sent, for people. */
  readonly title: string;
  /** The same where there is no secret, so that what would be signed is not. */
  readonly titleUnsigned?: string;
  readonly expects: Expected;
  /** Without one it is skipped. */
  readonly needsSecret?: true;
  /** Why there is nothing to be tried at this URL. */
  readonly skip?: (url: URL) => string | undefined;
  readonly requests: (sample: Sample) => readonly CheckRequest[];
  /** All of them together instead of one after the other. */
  readonly atOnce?: true;
  /** What an unexpected answer means here, where that is more than it means anywhere. */
  readonly faults?: Readonly<Partial<Record<CheckResponseKind, Fault>>>;
  /** The part of the timeout that the slowest answer may take. @default 1 */
  readonly withinShare?: number;
}

/** `taken`: 2xx. `refused`: a final 4xx. `answered`: either. `direct`: anything but a redirect. `secure`: anything over TLS. */
export type Expected = 'taken' | 'refused' | 'answered' | 'direct' | 'secure';

/** The titles of a check whose requests are signed when there is a secret. */
export function signedTitles(what: string): Pick<Check, 'title' | 'titleUnsigned'> {
  return { title: `${what}, signed`, titleUnsigned: `${what}, unsigned` };
}

/** The check as it is made without a secret. */
export function unsigned(check: Check): Check {
  return { ...check, title: check.titleUnsigned ?? check.title };
}

/** What is wrong with a receiver, as far as can be seen from outside. */
export interface Fault {
  /** Stable. */
  readonly code: string;
  /** A sentence about the receiver without its full stop. */
  readonly says: string;
  /** The way out, likewise. */
  readonly fix: string;
}

export type CheckOutcome = 'passed' | 'failed' | 'skipped' | 'unsent';

export interface CheckResult {
  readonly check: string;
  readonly title: string;
  readonly outcome: CheckOutcome;
  /** Of what was made. */
  readonly expected?: Expected;
  /** Of the answer that decided. */
  readonly status?: number;
  /** The code of a network error. */
  readonly error?: string;
  /** Of the slowest answer. */
  readonly ms?: number;
  /** What the receiver said, unescaped and without secrets; only of a failed check. */
  readonly reply?: string;
  readonly fault?: Fault;
  /** Why it was skipped or not sent. */
  readonly reason?: string;
}
