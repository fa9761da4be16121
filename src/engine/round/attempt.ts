import { hash } from 'node:crypto';
import type { Clock } from '../../clock.ts';
import type { AttemptRecord } from '../../attempt-record.ts';
import { traceAttempt, type AttemptTrace } from '../../message/trace-context.ts';
import type { Delivery } from '../../queue/delivery.ts';
import { withoutRepeated } from '../../redact.ts';
import type { TransportRequest, TransportResult } from '../../transport/transport.ts';
import type { AttemptResult } from './attempt-result.ts';
import { classify, type ResponseCauses } from './classify.ts';
import type { DeliveryOptions } from '../options.ts';
import type { Webhook } from '../webhook.ts';

/** What is posted to each webhook: the bytes, and their signature unless there is no secret. */
export interface SignedBody {
  readonly body: Uint8Array;
  readonly signature: string | undefined;
  /** The headers of the schemes that are named, in place of `X-Signature`: name, value, name, value … */
  readonly signatureHeaders?: readonly string[] | undefined;
  /** The value of `Idempotency-Key`; undefined: none is sent. */
  readonly idempotencyKey: string | undefined;
}

/** One attempt at one webhook, as it is sent. */
export interface OutgoingAttempt {
  /** When it begins. Ms since the epoch. */
  readonly at: number;
  readonly webhook: Webhook;
  readonly signed: SignedBody;
  /** Undefined: no `traceparent` is sent. */
  readonly trace: AttemptTrace | undefined;
}

/** The POST of an attempt; `signal` cuts it short. */
export function toRequest(
  { webhook, signed, trace }: OutgoingAttempt,
  delivery: DeliveryOptions,
  signal: AbortSignal,
): TransportRequest {
  const { body, signature, signatureHeaders, idempotencyKey } = signed;
  const added: string[] = [];
  if (idempotencyKey !== undefined && !webhook.hasOwnKey) added.push('Idempotency-Key', idempotencyKey);
  if (trace !== undefined) added.push(...trace.headers);
  if (signatureHeaders !== undefined) added.push(...signatureHeaders);
  else if (signature !== undefined) added.push('X-Signature', signature);
  const headers = webhook.headers.concat(added);
  const { timeoutMs, allowPrivate } = delivery;
  return { url: webhook.url, headers, body, timeoutMs, signal, connection: delivery, allowPrivate };
}

interface ResultContext {
  readonly clock: Clock;
  readonly secrets: readonly string[];
  readonly causes: ResponseCauses | undefined;
}

/** What an attempt came to: all that the receiver does is in it. `secrets` are masked where a receiver repeats them. */
export function toResult(
  result: TransportResult,
  { at, webhook, signed }: OutgoingAttempt,
  { clock, secrets, causes }: ResultContext,
): AttemptResult {
  const { signature, signatureHeaders, idempotencyKey } = signed;
  return classify(withoutSecretsInBody(result, secrets), {
    at,
    clock,
    causes,
    sendsKey: idempotencyKey !== undefined && !webhook.hasOwnKey,
    isSigned: signature !== undefined,
    isBySchemeWithout: signatureHeaders !== undefined && !hasXSignature(signatureHeaders),
  });
}

function hasXSignature(headers: readonly string[]): boolean {
  return headers.some((name, at) => at % 2 === 0 && name.toLowerCase() === 'x-signature');
}

/** A message id that is a header's value as it is: visible ASCII characters, at most as many as receivers keep. */
const SENDABLE_ID = /^[!-~]{1,255}$/;

/** The value of `Idempotency-Key`: the message id, or its digest where no header could carry it. The same on every attempt. */
export function idempotencyKeyOf(messageId: string): string {
  return SENDABLE_ID.test(messageId) ? messageId : hash('sha256', messageId, 'hex');
}

/** Begins the span of an attempt, where the destination has `traceparent` and the webhook none of its own. */
export function traceOf(
  { hasOwnTrace }: Webhook,
  { id, trace }: Delivery,
  { traceparent }: DeliveryOptions,
): AttemptTrace | undefined {
  return traceparent && !hasOwnTrace ? traceAttempt(trace, id) : undefined;
}

/** What a receiver sends back is shown and kept. The transport has taken out what it was sent. */
function withoutSecretsInBody(result: TransportResult, secrets: readonly string[]): TransportResult {
  if (result.kind === 'failure' || result.body === undefined) return result;
  return { ...result, body: withoutRepeated(result.body, secrets) };
}

/** The attempt as it is kept and shown. */
export function toRecord(
  attempted: AttemptResult,
  { shownUrl: url }: Webhook,
  { round, trace }: { readonly round: number; readonly trace: AttemptTrace | undefined },
): AttemptRecord {
  const { at, ms, result, status, detail, evidence, reconnected } = attempted;
  if (result === 'delivered' && !reconnected && trace === undefined) {
    return { at, url, round, result, status, ms };
  }
  return {
    at,
    url,
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
