import type { TrackingCall } from './messages/tracking-call.ts';
import type { Forwarded } from './response/forwarding.ts';

/** A receiver's report of one request, when its response is determined or its sender has disconnected. */
export interface ReceivedRequest extends SignatureJudgement {
  /** When the headers arrived. Ms since the epoch. */
  readonly at: number;
  readonly method: string;
  /** The request target as received: untrusted, not escaped. */
  readonly path: string;
  /** Name, value, name, value …: in order, as spelled by the sender, including secrets. */
  readonly rawHeaders: readonly string[];
  /** The exact bytes of the body. */
  readonly body: Uint8Array;
  /** The problem of the body as a message; only if the receiver has a `check`. */
  readonly problem?: string;
  /** The call, if the request is a call of a tracking API. */
  readonly call?: TrackingCall;
  /** The response of the other receiver; only if the request was forwarded. */
  readonly forwarded?: Forwarded;
  readonly answered: ResponseKind;
  readonly status: number | undefined;
  /** The sent response; undefined if there was none. */
  readonly response?: SentResponse;
  /** Time from the headers to the response, including its scripted delay. Ms. */
  readonly ms: number;
}

export interface SentResponse {
  /** The headers in order, without those that Node adds to every response, such as Date. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** The text of the body. Empty for `slow-body`, whose body has no end. */
  readonly body: string;
}

/**
 * The kind of response. `status`: a complete response. `slow-body`: the status was sent, the body continues. `reset` and
 * `timeout`: as scripted. `nothing`: the sender disconnected, or the receiver closed, before a delayed response was due.
 */
export type ResponseKind = 'status' | 'slow-body' | 'reset' | 'timeout' | 'nothing';

/**
 * The verdict on a signature. `unsigned`: the receiver has a secret, but the request has no signature. `unchecked`: the receiver has
 * no secret, or the request is an unsigned call of a tracking API.
 */
export type SignatureVerdict = 'valid' | 'invalid' | 'unsigned' | 'unchecked';

export interface SignatureJudgement {
  readonly verdict: SignatureVerdict;
  /** The position of the secret that matched, from 1. */
  readonly secret?: number;
  /** The matching signature schemes, separated by commas. Undefined for the default scheme alone. */
  readonly scheme?: string;
  /** The parts of the request that a valid signature does not cover. */
  readonly partial?: string;
  /** The missing signature of a valid request that has other headers of a second scheme. */
  readonly warning?: string;
  /** Why a valid signature matches only over the JSON-stringified body. */
  readonly note?: string;
  /** Why the signature does not match or is missing. */
  readonly diagnosis?: { readonly code: string; readonly hint: string };
  /**
   * For an invalid signature: the correct signature with the first secret, if known. A secret: a sender that saw it could
   * sign this body.
   */
  readonly expected?: string;
  /** For an invalid signature: the received header. */
  readonly got?: string;
}
