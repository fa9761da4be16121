import type { TrackingCall } from './messages/tracking-call.ts';
import type { Forwarded } from './response/forwarding.ts';

/** A receiver's report of one request: responded to, scripted to get no response, or left by its sender. */
export interface ReceivedRequest extends SignatureJudgement {
  /** When its headers had arrived. Ms since the epoch. */
  readonly at: number;
  readonly method: string;
  /** The request target as received: unescaped, from outside. */
  readonly path: string;
  /** Name, value, name, value …: in order, as spelled by the sender, secrets included. */
  readonly rawHeaders: readonly string[];
  /** The exact bytes. */
  readonly body: Uint8Array;
  /** What is wrong with the body as a message; only if the receiver has a `check`. */
  readonly problem?: string;
  /** Its messages, if it is a call of a tracking API. */
  readonly call?: TrackingCall;
  /** The response of the receiver that it was forwarded to; only if it was forwarded. */
  readonly forwarded?: Forwarded;
  readonly answered: ResponseKind;
  readonly status: number | undefined;
  /** The response that was sent; only if one was. */
  readonly response?: SentResponse;
  /** From the headers to the response, its scripted delay included. */
  readonly ms: number;
}

export interface SentResponse {
  /** Name and value, in order, without those that Node adds to every response, such as Date. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** Its text. Of `slow-body`: empty, since it has no end. */
  readonly body: string;
}

/**
 * How a request was responded to. `status`: a response was sent. `slow-body`: its status was sent, its body goes on. `reset`,
 * `timeout`: as scripted. `nothing`: the sender left, or the receiver closed, before a delayed response was due.
 */
export type ResponseKind = 'status' | 'slow-body' | 'reset' | 'timeout' | 'nothing';

/**
 * The verdict on a signature. `unsigned`: there is a secret and no header. `unchecked`: there is no secret to check with, or it is a
 * call of a tracking API, which carries none.
 */
export type SignatureVerdict = 'valid' | 'invalid' | 'unsigned' | 'unchecked';

export interface SignatureJudgement {
  readonly verdict: SignatureVerdict;
  /** The secret that matched, counted from 1. */
  readonly secret?: number;
  /** The signature schemes that came and match, with commas between; absent for the default scheme alone. */
  readonly scheme?: string;
  /** What a valid signature does not protect. */
  readonly partial?: string;
  /** What a valid request lacks: a header of another scheme came without its signature. */
  readonly warning?: string;
  /** Why a valid signature matches only over the JSON-stringified body. */
  readonly note?: string;
  /** Why an invalid one does not match, or why there is none. */
  readonly diagnosis?: { readonly code: string; readonly hint: string };
  /** For an invalid signature: the right one under the first secret, where there is one. A sender that saw it could sign. */
  readonly expected?: string;
  /** For an invalid signature: the header as it came. */
  readonly got?: string;
}
