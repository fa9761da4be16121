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
  /** The response of the receiver that it was forwarded to; only if it was forwarded. */
  readonly forwarded?: Forwarded;
  readonly answered: Answered;
  /** Undefined if no status was sent. */
  readonly status: number | undefined;
  /** From the headers to the response, its scripted delay included. */
  readonly ms: number;
}

/**
 * How a request was responded to. `status`: a response was sent. `slow-body`: its status was sent, its body goes on. `reset`,
 * `timeout`: as scripted. `nothing`: the sender left, or the receiver closed, before a delayed response was due.
 */
export type Answered = 'status' | 'slow-body' | 'reset' | 'timeout' | 'nothing';

/** The verdict on a signature. `unsigned`: there is a secret and no header. `unchecked`: there is no secret to check with. */
export type SignatureVerdict = 'valid' | 'invalid' | 'unsigned' | 'unchecked';

export interface SignatureJudgement {
  readonly verdict: SignatureVerdict;
  /** The secret that matched, counted from 1. */
  readonly secret?: number;
  /** Why a valid signature matches only over the JSON-stringified body. */
  readonly note?: string;
  /** Why an invalid one does not match, or why there is none. */
  readonly diagnosis?: { readonly code: string; readonly hint: string };
  /** Of an invalid one: the right signature under the first secret. A sender that saw it could sign. */
  readonly expected?: string;
  /** Of an invalid one: the header as it came. */
  readonly got?: string;
}

/** Fields of a message's body, as far as it is JSON and they are strings. */
export interface MessageFacts {
  readonly type?: string;
  readonly event?: string;
  readonly userId?: string;
  readonly anonymousId?: string;
  readonly messageId?: string;
}

/** Reads the fields that a line about a request shows. Not part of receiving, which at full speed parses nothing. */
export function messageFacts(body: Uint8Array): MessageFacts {
  const fields = parseObject(body);
  if (fields === undefined) return {};
  const userId = fields['userId'] ?? fields['User ID'];
  const { type, event, anonymousId, messageId } = fields;
  return strings({ type, event, userId, anonymousId, messageId });
}

function parseObject(body: Uint8Array): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString());
    // Any object's fields may be read; what they hold stays unknown.
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

function strings(fields: Record<string, unknown>): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(fields)) if (typeof value === 'string') kept[name] = value;
  return kept;
}
