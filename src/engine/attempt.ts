import type { Clock } from '../clock.ts';
import type { AttemptRecord } from '../attempt-record.ts';
import { withoutRepeated } from '../redact.ts';
import type { Transport, TransportResult } from '../transport/transport.ts';
import type { AttemptResult } from './attempt-result.ts';
import { classify } from './classify.ts';
import type { Webhook } from './webhook.ts';

export interface AttemptContext {
  readonly transport: Transport;
  readonly clock: Clock;
  readonly timeoutMs: number;
  readonly caFile: string | undefined;
  /** Masked where a receiver repeats them. */
  readonly secrets: readonly string[];
  /** Cuts the attempt short. */
  readonly signal: AbortSignal;
}

/** What is posted: the bytes, and their signature unless there is no secret. */
export interface SignedBody {
  readonly body: Uint8Array;
  readonly signature: string | undefined;
}

/** Makes one POST to one webhook. All that the receiver does is in the result. */
export async function attempt(
  webhook: Webhook,
  { body, signature }: SignedBody,
  { transport, clock, timeoutMs, caFile, secrets, signal }: AttemptContext,
): Promise<AttemptResult> {
  const at = Math.floor(clock.now());
  const headers = signature === undefined ? webhook.headers : [...webhook.headers, 'X-Signature', signature];
  const { url } = webhook;
  const result = await transport.send({ url, headers, body, timeoutMs, signal, caFile });
  const shown = withoutSecretsInReply(result, secrets);
  const isSigned = signature !== undefined;
  return classify(shown, { at, now: clock.now(), isSigned });
}

/** What a receiver says is shown and kept. The transport has taken out what it was sent. */
function withoutSecretsInReply(result: TransportResult, secrets: readonly string[]): TransportResult {
  if (result.kind === 'failure' || result.reply === undefined) return result;
  return { ...result, reply: withoutRepeated(result.reply, secrets) };
}

/** The attempt as it is kept and shown. */
export function toRecord(attempted: AttemptResult, { shownUrl: url }: Webhook, round: number): AttemptRecord {
  const { at, ms, result, status, detail, evidence, reconnected } = attempted;
  if (result === 'delivered' && !reconnected) return { at, url, round, result, status, ms };
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
  };
}
