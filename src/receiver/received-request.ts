import type { Diagnosis } from '../signature/evidence.ts';
import type { NoteCode } from '../signature/reasons.ts';
import type { TrackingCall } from './messages/tracking-call.ts';
import type { Forwarded } from './response/forwarding.ts';

/** The receiver's report of one request. Made when the response is determined or the sender has disconnected. */
export interface ReceivedRequest extends SignatureJudgement {
  /** When the headers arrived. Ms since the epoch. */
  readonly at: number;
  readonly method: string;
  /** The request target as received: untrusted, not escaped. */
  readonly path: string;
  /** Headers as a flat list (name, value, name, value …): in order, as spelled by the sender, including secrets. */
  readonly rawHeaders: readonly string[];
  /** The exact bytes of the request's body. */
  readonly body: Uint8Array;
  /** The problem that `check` found in the body. Undefined if it found none or the receiver has no `check`. */
  readonly problem?: string;
  /** The request read as a call of a tracking API. Undefined if it is a webhook or another request. */
  readonly call?: TrackingCall;
  /** The result of forwarding the request to another receiver. Undefined if the request was not forwarded. */
  readonly forwarded?: Forwarded;
  readonly answered: ResponseKind;
  readonly status: number | undefined;
  /** The sent response. Undefined if no response was sent. */
  readonly response?: SentResponse;
  /** Time from the arrival of the headers to the response, including the delay of the script. Ms. */
  readonly ms: number;
}

export interface SentResponse {
  /** The headers in order, without those that Node adds to every response, such as Date. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** The text of the response's body. Empty for `slow-body`, whose body has no end. */
  readonly body: string;
}

/**
 * The kind of response. `status`: a complete response. `slow-body`: the status was sent, the body continues. `reset` and
 * `timeout`: as scripted. `nothing`: the sender disconnected, or the receiver closed, before a delayed response was due.
 */
export type ResponseKind = 'status' | 'slow-body' | 'reset' | 'timeout' | 'nothing';

/**
 * The verdict on a signature. `unsigned`: the receiver has a secret, but the request has no signature. `unchecked`: the
 * receiver has no secret, or the request is an unsigned call of a tracking API.
 */
export type SignatureVerdict = 'valid' | 'invalid' | 'unsigned' | 'unchecked';

export interface SignatureJudgement {
  readonly verdict: SignatureVerdict;
  /** Position among the secrets, from 1, of the secret that the signature was made with. */
  readonly secret?: number;
  /** The schemes by which the signatures are valid, separated by commas. Undefined for the default scheme alone. */
  readonly scheme?: string;
  /** The restriction of a valid signature that covers only a part of the request: `covers the first of 3 events only`. */
  readonly partial?: string;
  /**
   * A remark about a valid request: its signature has an unusual prefix, or a signature may have been removed, because it has
   * headers of a second scheme without that scheme's signature.
   */
  readonly warning?: string;
  /** Why the signature is valid only for the JSON-stringified body, not for its bytes. */
  readonly note?: NoteCode;
  /** Why the signature does not match or is missing. */
  readonly diagnosis?: Pick<Diagnosis, 'code' | 'hint' | 'isCutShort'>;
  /**
   * The correct signature, made with the first secret, if the received one is invalid and the correct one is known. A
   * secret, because a sender that saw it could sign this body.
   */
  readonly expected?: string;
  /** The received signature header, if the signature is invalid. */
  readonly got?: string;
}
