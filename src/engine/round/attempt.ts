import { hash } from 'node:crypto';
import type { Clock } from '../../clock.ts';
import type { AttemptRecord } from '../../attempt-record.ts';
import { traceAttempt, type AttemptTrace } from '../../message/trace-context.ts';
import type { Delivery } from '../../queue/delivery.ts';
import { withoutRepeated } from '../../redact.ts';
import type { ReceivedHeaders } from '../../signature/received-headers.ts';
import { signedFields, type SignedHeaders } from '../../signature/schemes/signer.ts';
import { sign } from '../../signature/sign.ts';
import type { TransportRequest, TransportResult } from '../../transport/transport.ts';
import type { AttemptResult } from './attempt-result.ts';
import { classify, type ResponseCauses } from './classify.ts';
import type { Destination } from '../destination.ts';
import type { DeliveryOptions } from '../options.ts';
import type { Webhook } from '../webhook.ts';

/** The body to post to a webhook, with its signature and the headers that belong to it. */
export interface SignedBody {
  readonly body: Uint8Array;
  readonly signature: string | undefined;
  /** The headers of a new signature by each scheme: name, value, name, value … Empty without a secret. */
  readonly headers: readonly string[];
  readonly signatures?: SignedHeaders['signatures'];
  /** The headers of the captured request to send again with the body: name, value, name, value … */
  readonly receivedHeaders: readonly string[];
  /** The value of `Idempotency-Key`. Undefined if the header is not sent. */
  readonly idempotencyKey: string | undefined;
}

/** A body to sign. */
export interface UnsignedBody {
  readonly messageId: string;
  readonly body: Uint8Array;
  /** The headers of the captured request that had the body. */
  readonly received?: ReceivedHeaders | undefined;
}

/** One attempt at one webhook. */
export interface OutgoingAttempt {
  /** When the attempt begins. Milliseconds since the epoch. */
  readonly at: number;
  readonly webhook: Webhook;
  readonly signed: SignedBody;
  /** Trace headers and ids of the attempt. Undefined if no `traceparent` is sent. */
  readonly trace: AttemptTrace | undefined;
}

/**
 * Signs a body for an attempt at `at`, with the current secret, which may be newer than the delivery. Without a secret, keeps
 * the signature that was received with the body.
 */
export function signedBody(
  { body, messageId, received }: UnsignedBody,
  at: number,
  { delivery, secrets: [secret], signer }: Destination,
): SignedBody {
  const idempotencyKey = delivery.idempotencyKey === false ? undefined : idempotencyKeyOf(messageId);
  const { signature, signed = [], others = [] } = received ?? {};
  if (secret === undefined) {
    return { body, idempotencyKey, signature, headers: [], receivedHeaders: [...others, ...signed] };
  }
  const parts = { body, idempotencyKey, receivedHeaders: others };
  if (signer !== undefined) return { ...parts, ...signer.sign(body, signedFields(messageId, at)) };
  const digest = sign(body, secret);
  return { ...parts, signature: digest, headers: ['X-Signature', digest] };
}

/** Builds the POST of an attempt. `signal` aborts the POST. */
export function toRequest(
  { webhook, signed, trace }: OutgoingAttempt,
  delivery: DeliveryOptions,
  signal: AbortSignal,
): TransportRequest {
  const { body, idempotencyKey } = signed;
  const headers = commonHeaders(webhook, signed);
  if (idempotencyKey !== undefined && !webhook.ownNames.has(KEY)) {
    headers.push('Idempotency-Key', idempotencyKey);
  }
  if (trace !== undefined) headers.push(...trace.headers);
  headers.push(...signed.headers);
  const { timeoutMs, allowPrivate } = delivery;
  return { url: webhook.url, headers, body, timeoutMs, signal, connection: delivery, allowPrivate };
}

const KEY = 'idempotency-key';

/**
 * Combines the headers of a webhook with those that were received. Configured headers and those of a new signature replace
 * received ones, and received ones replace default ones.
 */
function commonHeaders({ headers, ownNames }: Webhook, signed: SignedBody): string[] {
  const { receivedHeaders: received } = signed;
  if (received.length === 0) return headers.slice();
  const replaced = new Set<string>();
  const kept = received.filter((_, index) => {
    const name = nameAt(received, index);
    const isKept = !ownNames.has(name) && !signed.headers.some((each) => each.toLowerCase() === name);
    if (isKept) replaced.add(name);
    return isKept;
  });
  return [...headers.filter((_, index) => !replaced.has(nameAt(headers, index))), ...kept];
}

/** The lower-case name of the header at an index of a list: name, value, name, value … The index can be that of a value. */
function nameAt(headers: readonly string[], index: number): string {
  return (headers[index - (index % 2)] ?? '').toLowerCase();
}

interface ResultContext {
  readonly clock: Clock;
  readonly secrets: readonly string[];
  readonly causes: ResponseCauses | undefined;
}

/** Classifies the response to an attempt. Masks `secrets` where the receiver repeats them. */
export function toResult(
  result: TransportResult,
  { at, webhook, signed }: OutgoingAttempt,
  { clock, secrets, causes }: ResultContext,
): AttemptResult {
  const { signature, idempotencyKey } = signed;
  const classified = classify(maskedResponse(result, secrets), {
    at,
    clock,
    causes,
    sendsKey: idempotencyKey !== undefined && !webhook.ownNames.has(KEY),
    isSigned: signature !== undefined,
  });
  if (classified.result === 'delivered' || classified.detail === undefined) return classified;
  // The quotation is decoded text, which can contain a secret that was encoded in the body.
  return { ...classified, detail: withoutRepeated(classified.detail, secrets) };
}

/**
 * Matches a message id that can be a header value unchanged: visible ASCII characters, at most 255, since many receivers
 * store no more.
 */
const SENDABLE_ID = /^[!-~]{1,255}$/;

/** Returns the value of `Idempotency-Key` for every attempt: the message id, or its digest if a header cannot carry it. */
export function idempotencyKeyOf(messageId: string): string {
  return SENDABLE_ID.test(messageId) ? messageId : hash('sha256', messageId, 'hex');
}

/** Starts the trace span of an attempt. Undefined if `traceparent` is off or the webhook has a trace header of its own. */
export function traceOf(
  { ownNames }: Webhook,
  { id, trace }: Pick<Delivery, 'id' | 'trace'>,
  { traceparent }: DeliveryOptions,
): AttemptTrace | undefined {
  const hasOwn = ownNames.has('traceparent') || ownNames.has('tracestate');
  return traceparent && !hasOwn ? traceAttempt(trace, id) : undefined;
}

/**
 * Masks the shared secrets in the body and the headers of a response, which are shown and stored. The transport has already
 * masked the secrets that it sent.
 */
function maskedResponse(result: TransportResult, secrets: readonly string[]): TransportResult {
  if (result.kind === 'failure' || result.headers === undefined) return result;
  const { headers, body } = result;
  const masked = Object.entries(headers).map(([name, value]) => [name, withoutRepeated(value, secrets)]);
  const parts = { headers: Object.fromEntries(masked), body: body && withoutRepeated(body, secrets) };
  return { ...result, ...parts };
}

/** Converts an attempt to the record that is stored and shown. */
export function toRecord(
  attempted: AttemptResult,
  { shownUrl: url, position }: Webhook,
  { round, trace }: { readonly round: number; readonly trace: AttemptTrace | undefined },
): AttemptRecord {
  const { at, ms, result, status, detail, evidence, reconnected } = attempted;
  if (result === 'delivered' && !reconnected && trace === undefined && position === 1) {
    return { at, url, round, result, status, ms };
  }
  return {
    at,
    url,
    ...(position > 1 && { webhook: position }),
    round,
    result,
    ...(status !== undefined && { status }),
    ...(result !== 'delivered' && { error: attempted.error }),
    ...(detail !== undefined && { detail }),
    ...evidence,
    ms,
    ...(reconnected && { reconnected }),
    ...(trace && { traceId: trace.traceId, spanId: trace.spanId }),
  };
}
