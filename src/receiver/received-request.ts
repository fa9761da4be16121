import type { Forwarded } from './forwarding.ts';

/** What a receiver says about one request, once it is settled: answered, scripted to have no answer, or left by its sender. */
export interface ReceivedRequest extends SignatureJudgement {
  /** When its headers had come. Ms since the epoch. */
  readonly at: number;
  readonly method: string;
  /** The request target as it came: unescaped, from outside. */
  readonly path: string;
  /** Name, value, name, value …: in order, as spelled by the sender, secrets included. */
  readonly rawHeaders: readonly string[];
  /** The exact bytes. */
  readonly body: Uint8Array;
  /** What is wrong with the body as a message; only where the receiver was given a `check`. */
  readonly problem?: string;
  /** What another receiver said to it; only where it was passed on. */
  readonly forwarded?: Forwarded;
  readonly answered: Answered;
  /** Undefined where no status was sent. */
  readonly status: number | undefined;
  /** From the headers to the answer, its scripted delay included. */
  readonly ms: number;
}

/**
 * `status`: an answer was sent. `slow-body`: its status was, its body goes on. `reset`, `timeout`: the script said so.
 * `nothing`: the sender left, or the receiver closed, before a delayed answer was due.
 */
export type Answered = 'status' | 'slow-body' | 'reset' | 'timeout' | 'nothing';

/** Of a signature. `unsigned`: there is a secret and no header. `unchecked`: there is no secret to check with. */
export type SignatureVerdict = 'valid' | 'invalid' | 'unsigned' | 'unchecked';

export interface SignatureJudgement {
  readonly verdict: SignatureVerdict;
  /** Which secret matched, counted from 1. */
  readonly secret?: number;
  /** Why a valid signature matches only over the JSON-stringified body. */
  readonly note?: string;
  /** Why an invalid one does not match. */
  readonly diagnosis?: { readonly code: string; readonly hint: string };
}

/** What a body says of itself, as far as it is JSON and the fields are strings. */
export interface MessageFacts {
  readonly type?: string;
  readonly event?: string;
  readonly userId?: string;
  readonly anonymousId?: string;
  readonly messageId?: string;
}

/** Reads what a line about a request shows. Not part of receiving, which at full speed parses nothing. */
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
