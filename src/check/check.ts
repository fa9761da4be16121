import type { Confidence } from '../confidence.ts';
import type { SignatureScheme } from '../signature/schemes/scheme.ts';
import type { CheckRequest, Sample, SampleOptions } from './sample.ts';

/** One requirement for a receiver: the requests and the expected response. */
export interface Check {
  /** Stable code for `--only` and `--skip`. */
  readonly code: string;
  /** Description of the requests that the check sends. */
  readonly title: string;
  /** Title if there is no secret and requests are unsigned. @default `title` */
  readonly titleUnsigned?: string;
  readonly expects: Expected;
  /** Marks a check that is skipped if there is no secret. */
  readonly needsSecret?: true;
  /** Returns why the check does not apply to this URL. Undefined if it applies. */
  readonly skip?: (url: URL) => string | undefined;
  /** Makes the requests. `round` is above 0 if they are sent again, which needs other message ids. */
  readonly requests: (sample: Sample, round?: number) => readonly CheckRequest[];
  /** Sends the requests concurrently instead of one after the other. */
  readonly atOnce?: true;
  /** Marks a check whose own mistake explains a rejection, so that the run does not probe how the receiver verifies. */
  readonly isOwnMistake?: true;
  /** Advice for a receiver that hashes the JSON-stringified body. The check passes nevertheless. */
  readonly advice?: ReceiverMistake;
  /** Maximum share of the timeout that the slowest response may take. @default 1 */
  readonly withinShare?: number;
}

/**
 * The expected response. `taken`: 2xx. `rejected`: a final 4xx. `decided`: either. `direct`: anything but a redirect.
 * `secure`: anything over TLS.
 */
export type Expected = 'taken' | 'rejected' | 'decided' | 'direct' | 'secure';

/** The titles of a check whose requests are signed when there is a secret. */
export function signedTitles(what: string): Pick<Check, 'title' | 'titleUnsigned'> {
  return { title: `${what}, signed`, titleUnsigned: `${what}, unsigned` };
}

/** The check with its title for a run without a secret. */
export function unsigned(check: Check): Check {
  return { ...check, title: check.titleUnsigned ?? check.title };
}

/** A mistake of a receiver, as far as it is visible from outside. */
export interface ReceiverMistake {
  /** Stable code of the mistake. */
  readonly code: string;
  /** Sentence about what the receiver does wrong, without a full stop. */
  readonly says: string;
  /** Sentence that tells how to fix the mistake, without a full stop. */
  readonly fix: string;
  /** @default 'proved' */
  readonly confidence?: Confidence | undefined;
}

/** How the requests of a run are signed. */
export interface MistakeOptions extends Omit<SampleOptions, 'now'> {
  /** URL of the receiver, parts of which it may sign. */
  readonly url: string;
}

/** A request that a receiver accepts only because of a mistake, and the mistake. */
export interface MistakenRequest {
  readonly request: CheckRequest;
  readonly mistake: ReceiverMistake;
}

/** A rejected request, and the texts in which its receiver may show the digest that it computed. */
export interface ShownTexts {
  /** The body of its response and its output, unescaped. */
  readonly shown: string;
  readonly request: { readonly body: Uint8Array; readonly headers: readonly string[] };
  /** @default the schemes of the request's headers */
  readonly schemes?: readonly SignatureScheme[];
  readonly secrets: readonly string[];
}

/** A digest that a receiver computed and showed. Without a mistake if no change of secret or body explains it. */
export interface ShownDigest {
  readonly mistake?: ReceiverMistake;
}

export type CheckOutcome = 'passed' | 'failed' | 'skipped' | 'unsent';

export interface CheckResult {
  readonly check: string;
  readonly title: string;
  readonly outcome: CheckOutcome;
  /** Expected response; absent if no request was sent. */
  readonly expected?: Expected;
  /** Status of the decisive response: the first unexpected one, else the slowest. */
  readonly status?: number;
  /** Code of the network error, if the decisive request got no response. */
  readonly error?: string;
  /** Milliseconds that the slowest response took. */
  readonly ms?: number;
  /** Body of the response, unescaped and without secrets, if the check failed. */
  readonly reply?: string;
  /** The program that responded, as its headers name it, if the check failed. */
  readonly server?: string;
  readonly mistake?: ReceiverMistake;
  /** Mistake that is only advice: the check passed. */
  readonly advice?: ReceiverMistake;
  /** Why the check was skipped or not sent. */
  readonly reason?: string;
}
