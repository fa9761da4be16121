import type { Signer } from '../signature/schemes/signer.ts';
import type { CheckResponseKind } from './check-response.ts';
import type { CheckRequest, Sample } from './sample.ts';

/** One thing that a receiver must do: what is sent, what is expected, and how to fix a failure. */
export interface Check {
  /** Stable: what `--only` and `--skip` name. */
  readonly code: string;
  /** Describes what is sent, for people. */
  readonly title: string;
  /** The title when there is no secret, so that nothing is signed. */
  readonly titleUnsigned?: string;
  readonly expects: Expected;
  /** The check is skipped without a secret. */
  readonly needsSecret?: true;
  /** Returns why the check does not apply to this URL. */
  readonly skip?: (url: URL) => string | undefined;
  readonly requests: (sample: Sample) => readonly CheckRequest[];
  /** Sends the requests concurrently instead of one after the other. */
  readonly atOnce?: true;
  /** The mistakes that an unexpected response shows in this check, if more specific than in any other. */
  readonly mistakes?: Readonly<Partial<Record<CheckResponseKind, ReceiverMistake>>>;
  /** The same by the status of a rejection, where that says more. */
  readonly statusMistakes?: Readonly<Partial<Record<number, ReceiverMistake>>>;
  /** The code of the check of a plain message: where that one failed alike, what is special about this one is not the reason. */
  readonly plain?: string;
  /** A rejection shows the mistake of this check, whatever else the receiver accepts instead. */
  readonly isOwnMistake?: true;
  /** A rejection is no failure, but worth knowing. */
  readonly isAdvice?: true;
  /** The part of the timeout that the slowest response may take. @default 1 */
  readonly withinShare?: number;
}

/** The expected response. `taken`: 2xx. `rejected`: a final 4xx. `decided`: either. `direct`: anything but a redirect. `secure`: anything over TLS. */
export type Expected = 'taken' | 'rejected' | 'decided' | 'direct' | 'secure';

/** The titles of a check whose requests are signed when there is a secret. */
export function signedTitles(what: string): Pick<Check, 'title' | 'titleUnsigned'> {
  return { title: `${what}, signed`, titleUnsigned: `${what}, unsigned` };
}

/** The check as it runs without a secret. */
export function unsigned(check: Check): Check {
  return { ...check, title: check.titleUnsigned ?? check.title };
}

/** A mistake of a receiver, as far as it can be seen from outside. */
export interface ReceiverMistake {
  /** Stable. */
  readonly code: string;
  /** What is wrong: a sentence about the receiver, without its full stop. */
  readonly says: string;
  /** How to fix it, likewise. */
  readonly fix: string;
}

export interface MistakeOptions {
  /** All that were given, of which the first signs. */
  readonly secrets: readonly string[];
  /** Signs by the schemes that are named; undefined: the default one. */
  readonly signer: Signer | undefined;
  readonly runId: string;
}

/** A request that a receiver accepts only by a mistake, and the mistake. */
export interface MistakenRequest {
  readonly request: CheckRequest;
  readonly mistake: ReceiverMistake;
}

export type CheckOutcome = 'passed' | 'failed' | 'skipped' | 'unsent';

export interface CheckResult {
  readonly check: string;
  readonly title: string;
  readonly outcome: CheckOutcome;
  /** Absent when the check was not made. */
  readonly expected?: Expected;
  /** The status of the response that decided. */
  readonly status?: number;
  /** The code of a network error. */
  readonly error?: string;
  /** How long the slowest response took. */
  readonly ms?: number;
  /** The response's body, unescaped and without secrets; only of a failed check. */
  readonly reply?: string;
  readonly mistake?: ReceiverMistake;
  /** What is worth knowing about a check that passed. */
  readonly advice?: ReceiverMistake;
  /** Why the check was skipped or not sent. */
  readonly reason?: string;
}
