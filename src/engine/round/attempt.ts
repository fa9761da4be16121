import { hash } from 'node:crypto';
import type { Clock } from '../../clock.ts';
import type { AttemptRecord } from '../../attempt-record.ts';
import { traceAttempt, type AttemptTrace } from '../../message/trace-context.ts';
import type { Delivery } from '../../queue/delivery.ts';
import { withoutRepeated } from '../../redact.ts';
import type { ReceivedHeaders } from '../../signature/received-headers.ts';
import type { TransportRequest, TransportResult } from '../../transport/transport.ts';
import type { AttemptResult } from './attempt-result.ts';
import { classify, type ResponseCauses } from './classify.ts';
import type { DeliveryOptions } from '../options.ts';
import type { Webhook } from '../webhook.ts';

/** The body to post to each webhook, with its signature unless there is no secret. */
export interface SignedBody {
  readonly body: Uint8Array;
  readonly signature: string | undefined;
  /** The headers that replace `X-Signature`: those of the configured schemes, or none for a signature that was received. */
  readonly signatureHeaders?: readonly string[] | undefined;
  /** The headers that came with the body: name, value, name, value … They replace the default ones. */
  readonly receivedHeaders?: readonly string[] | undefined;
  /** The value of `Idempotency-Key`. Undefined if the header is not sent. */
  readonly idempotencyKey: string | undefined;
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

/** Returns the headers of a captured request that are sent again: those of its signature only without a secret. */
export function receivedParts(
  received: ReceivedHeaders | undefined,
  secret: string | undefined,
): Pick<SignedBody, 'signatureHeaders' | 'receivedHeaders'> {
  if (received === undefined) return {};
  const { signed, others } = received;
  return secret === undefined
    ? { signatureHeaders: [], receivedHeaders: [...others, ...signed] }
    : { receivedHeaders: others };
}

/** Builds the POST of an attempt. `signal` aborts the POST. */
export function toRequest(
  { webhook, signed, trace }: OutgoingAttempt,
  delivery: DeliveryOptions,
  signal: AbortSignal,
): TransportRequest {
  const { body, signature, signatureHeaders, receivedHeaders, idempotencyKey } = signed;
  const headers = receivedHeaders ? mergedHeaders(webhook, signed) : webhook.headers.slice();
  if (idempotencyKey !== undefined && !hasOwnKey(webhook)) headers.push('Idempotency-Key', idempotencyKey);
  if (trace !== undefined) headers.push(...trace.headers);
  if (signatureHeaders !== undefined) headers.push(...signatureHeaders);
  else if (signature !== undefined) headers.push('X-Signature', signature);
  const { timeoutMs, allowPrivate } = delivery;
  return { url: webhook.url, headers, body, timeoutMs, signal, connection: delivery, allowPrivate };
}

/**
 * Adds received headers to those of a webhook. Configured headers and those of a new signature replace received ones, and
 * received ones replace the default ones.
 */
function mergedHeaders(
  { headers, ownNames }: Webhook,
  { receivedHeaders = [], signatureHeaders = [] }: SignedBody,
): string[] {
  const set = new Set([...ownNames, ...namesOf(signatureHeaders)]);
  const received = namesOf(receivedHeaders);
  const isKept = (_: string, index: number): boolean => !set.has(received[index >> 1] ?? '');
  const kept = receivedHeaders.filter(isKept);
  const replaced = new Set(namesOf(kept));
  const names = namesOf(headers);
  return [...headers.filter((_, index) => !replaced.has(names[index >> 1] ?? '')), ...kept];
}

/** The lower-case names in a list of name, value, name, value … */
function namesOf(headers: readonly string[]): readonly string[] {
  return headers.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase());
}

/** Whether a configured `Idempotency-Key` is sent instead of the message id. */
function hasOwnKey({ ownNames }: Webhook): boolean {
  return ownNames.has('idempotency-key');
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
    sendsKey: idempotencyKey !== undefined && !hasOwnKey(webhook),
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
