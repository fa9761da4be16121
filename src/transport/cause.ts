import type { Confidence } from '../confidence.ts';

/**
 * The parts of a response from which its cause is determined. `headers` has only EVIDENCE_HEADERS, with lower-case names,
 * and `:forwarded` if a proxy forwarded the request.
 * All texts are from the receiver: secrets are removed, but the texts are not escaped.
 */
export interface ResponseEvidence {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** The beginning of the response body. */
  readonly body: string;
  /** Whether the request was signed. */
  readonly isSigned: boolean;
}

/** The program that responded, by its own words: Server, else Via or X-Powered-By. Not escaped. */
export function serverOf(headers: ResponseEvidence['headers']): string | undefined {
  return headers['server'] || headers['via'] || headers['x-powered-by'];
}

/** The facts of an attempt that the explanation of a cause may mention: few, because every attempt stores them. */
export interface CauseFacts {
  readonly status: number;
  /** The URL of the request, redacted. */
  readonly url: string;
  /** The `Server` header of the response, else Via or X-Powered-By. */
  readonly server?: string | undefined;
  /** The target of a redirect. */
  readonly location?: string | undefined;
  readonly retryAfter?: string | undefined;
  /** The receiver's own message, extracted from the response body. */
  readonly quotation?: string | undefined;
  /** The variable that names the proxy, such as `https_proxy`. @default by the protocol of `url`, in upper case */
  readonly proxy?: string | undefined;
  /** Results of probes, by the name that the sentence quotes. */
  readonly shown?: Readonly<Record<string, string>> | undefined;
}

/**
 * The subject of a cause. `way`: a system before the receiver rejects every message. `busy`: such a system rejects messages
 * temporarily. `receiver`: the receiver itself rejects, and names a reason. `status`: only the status is known, so a caller
 * that knows more about the message can explain more.
 */
export type CauseKind = 'way' | 'busy' | 'receiver' | 'status';

/** The likely reason for a failed response, and how to fix it. */
export interface ResponseCause {
  readonly code: string;
  readonly kind: CauseKind;
  readonly confidence: Confidence;
  /** A sentence without its full stop. Begins with "probably" if the cause is `likely`. */
  readonly says: string;
  /** Whether `says` only quotes the response, for callers that print the quotation anyway. */
  readonly isQuotation: boolean;
  /** How to fix the receiver: a text that begins with a verb. */
  readonly fix: string;
}

/** A failure, mostly without a response. `cause`, if known, is more exact than `error`. */
export interface FailureEvidence {
  readonly error: string;
  readonly cause?: string | undefined;
  /** The status of a response that does not explain itself. */
  readonly status?: number | undefined;
}

/** The likely reason why there is no response, and how to fix it. */
export interface NetworkCause {
  readonly code: string;
  readonly confidence: Confidence;
  /** A sentence about what happened. Undefined if the error text of the transport is enough. */
  readonly says: string | undefined;
  readonly fix: string;
}
