import type { AttemptRecord } from '../attempt-record.ts';
import { callDetached } from '../errors.ts';
import type { OutgoingMessage } from '../message/outgoing-message.ts';
import type { JsonObject, Message } from '../message/types.ts';
import { redactUrl } from '../redact.ts';
import { retryAfterMs } from '../transport/retry-after.ts';
import type { TransportResult } from '../transport/transport.ts';
import { isoTime } from '../clock.ts';
import { longestRetriesMs, nextWaitMs } from './backoff.ts';
import { batchResult, type BatchResult, type BatchRejection } from './batch-result.ts';
import { batchBody } from './batch.ts';
import { ClosingWindow } from './closing-window.ts';
import { createDebugLog } from './log.ts';
import type { EnqueueOptions, Receipt, Sink } from './sink.ts';
import {
  authorization,
  batchUrl,
  DEFAULT_TIMEOUT_MS,
  type TrackingApiSinkOptions,
} from './tracking-api-options.ts';

/** Maximum number of bytes to read of a response: enough for a list of 1,000 rejected messages, the largest batch. */
const RESPONSE_BYTES = 1024 * 1024;

/** No order keys, because a batch keeps the order of its messages without them. */
const NO_KEYS: readonly string[] = [];

const NOT_SENT: BatchResult = {
  result: 'rejected',
  code: 'aborted',
  reason: 'interrupted before it was sent',
};

const GIVEN_UP: BatchResult = {
  result: 'rejected',
  code: 'aborted',
  reason: 'not sent: the client was closed while the tracking API failed',
};

/** Sends batches to a public tracking API. Throws ConfigError if the endpoint or the write key is unusable. */
export class TrackingApiSink implements Sink {
  readonly maxInFlight: number;
  readonly #options: TrackingApiSinkOptions;
  readonly #url: string;
  readonly #shownUrl: string;
  readonly #headers: readonly string[];
  readonly #secrets: readonly string[];
  /** Default for the `context` of every message. */
  readonly #context: JsonObject;
  readonly #log = createDebugLog();
  readonly #closing: ClosingWindow;

  constructor(options: TrackingApiSinkOptions) {
    this.maxInFlight = options.maxInFlight ?? 1;
    this.#options = options;
    const { clock, signal, retryForMs = longestRetriesMs(), timeoutMs = DEFAULT_TIMEOUT_MS } = options;
    // At least `timeoutMs`, long enough for one attempt: with a window of 0, the first failure after close() would give up
    // all batches.
    this.#closing = new ClosingWindow({ clock, signal, windowMs: Math.max(retryForMs, timeoutMs) });
    this.#url = batchUrl(options.endpoint);
    this.#shownUrl = redactUrl(this.#url);
    this.#context = { library: { name: 'hooks-cli', version: options.version } };
    const basic = authorization(options.writeKey);
    this.#headers = [
      ['User-Agent', `hooks-cli/${options.version}`],
      ['Content-Type', 'application/json'],
      ['Authorization', basic],
    ].flat();
    this.#secrets = [options.writeKey, basic.replace('Basic ', '')];
  }

  /** Serializes a message. Keeps its `context.library`, because another library may have made a message that is replayed. */
  encode({ message }: EnqueueOptions, messageId: string): OutgoingMessage {
    const { type } = message;
    const context = message.context === undefined ? this.#context : { ...this.#context, ...message.context };
    const sent = { ...message, messageId, context };
    const text = JSON.stringify(type === 'page' ? { ...sent, ...pageFields(message) } : sent);
    return { messageId, type, body: Buffer.from(text), orderKeys: NO_KEYS };
  }

  async submit(batch: readonly OutgoingMessage[]): Promise<readonly Receipt[]> {
    const attempts: AttemptRecord[] = [];
    const result = await this.#deliver(batch, attempts);
    if (result.result === 'accepted') return receiptsOf(batch, result.rejected, attempts);
    if (result.result === 'too-large' && batch.length > 1) return this.#submitHalves(batch);
    return batch.map((message) => rejectedReceipt(message, result, attempts));
  }

  beginClose(): void {
    this.#closing.begin();
  }

  close(): Promise<void> {
    return this.#options.transport.close();
  }

  /** Sends the two halves of a batch that was too large, one after the other, which keeps the order of the messages. */
  async #submitHalves(batch: readonly OutgoingMessage[]): Promise<readonly Receipt[]> {
    const middle = Math.ceil(batch.length / 2);
    this.#log?.('413: %d messages are sent in two batches', batch.length);
    const first = await this.submit(batch.slice(0, middle));
    return [...first, ...(await this.submit(batch.slice(middle)))];
  }

  /** Tries until the tracking API accepts or rejects the batch, or no attempt is left. Adds each attempt to `attempts`. */
  async #deliver(batch: readonly OutgoingMessage[], attempts: AttemptRecord[]): Promise<BatchResult> {
    const { clock, random, signal, retryForMs = Infinity, onRetry } = this.#options;
    if (signal?.aborted) return NOT_SENT;
    if (clock.now() >= this.#closing.endAt) return GIVEN_UP;
    const bodies = batch.map(({ body }) => body);
    const windowEndAt = clock.now() + retryForMs;
    for (;;) {
      const { result, attempt } = await this.#attempt(bodies, attempts.length + 1);
      attempts.push(attempt);
      this.#closing.attempted(attempt.at, result.result === 'retryable');
      if (result.result !== 'retryable') return result;
      if (signal?.aborted) return interrupted(result);
      const now = clock.now();
      const endAt = Math.min(windowEndAt, this.#closing.endAt);
      const asked = result.retryAfter === undefined ? undefined : retryAfterMs(result.retryAfter, now);
      const situation = { attempts: attempts.length, now, endAt, retryAfterMs: asked, random: random() };
      const waitMs = nextWaitMs(situation);
      if (waitMs === undefined) return result;
      this.#log?.('retry in %d ms: %s', waitMs, result.reason);
      const retry = {
        attempt,
        attempts: attempts.length,
        reason: result.reason,
        waitMs,
        messages: batch.length,
      };
      if (onRetry) callDetached(onRetry, retry);
      await this.#closing.wait(waitMs);
      if (signal?.aborted) return interrupted(result);
    }
  }

  /** Makes one attempt. `sentAt` is its time: the receiver compares it with its own clock to correct the message times. */
  async #attempt(
    bodies: readonly Uint8Array[],
    round: number,
  ): Promise<{ result: BatchResult; attempt: AttemptRecord }> {
    const at = this.#options.clock.now();
    const body = batchBody(bodies, isoTime(at));
    this.#log?.('submit %d messages, %d bytes to %s', bodies.length, body.length, this.#shownUrl);
    const sent = await this.#send(body);
    const result = batchResult(sent, { url: this.#url, secrets: this.#secrets });
    const shown = result.result === 'accepted' ? result.status : (result.status ?? result.code);
    this.#log?.('%s in %d ms', shown, sent.ms);
    return { result, attempt: toAttemptRecord(result, { at, url: this.#shownUrl, round, ms: sent.ms }) };
  }

  #send(body: Uint8Array): Promise<TransportResult> {
    const { transport, timeoutMs = DEFAULT_TIMEOUT_MS, signal } = this.#options;
    return transport.send({
      url: this.#url,
      headers: this.#headers,
      body,
      timeoutMs,
      responseBytes: RESPONSE_BYTES,
      ...(signal !== undefined && { signal }),
    });
  }
}

/** Returns the result of a batch whose retries were interrupted: `aborted`, because another attempt might have succeeded. */
function interrupted({ reason }: BatchRejection): BatchResult {
  return { result: 'rejected', code: 'aborted', reason: `interrupted; ${reason}` };
}

/** Returns the name and category of a page: properties in a webhook body, but top-level fields in the tracking API. */
function pageFields({ properties = {} }: Message): JsonObject {
  const { name, category } = properties;
  return { ...(name !== undefined && { name }), ...(category !== undefined && { category }) };
}

const RECORDED = {
  accepted: 'delivered',
  retryable: 'retryable',
  'too-large': 'rejected',
  rejected: 'rejected',
} as const satisfies Record<BatchResult['result'], AttemptRecord['result']>;

function toAttemptRecord(
  result: BatchResult,
  base: Pick<AttemptRecord, 'at' | 'url' | 'round' | 'ms'>,
): AttemptRecord {
  return {
    ...base,
    result: RECORDED[result.result],
    ...(result.status !== undefined && { status: result.status }),
    ...(result.result !== 'accepted' && { error: result.code }),
  };
}

function receiptsOf(
  batch: readonly OutgoingMessage[],
  rejected: (BatchResult & { result: 'accepted' })['rejected'],
  attempts: readonly AttemptRecord[],
): readonly Receipt[] {
  const byIndex = new Map(rejected.map((entry) => [entry.index, entry]));
  return batch.map((message, index) => {
    const entry = byIndex.get(index);
    if (entry !== undefined) return rejectedReceipt(message, entry, attempts);
    return { accepted: true, messageId: message.messageId, deliveries: [], attempts };
  });
}

function rejectedReceipt(
  { messageId }: OutgoingMessage,
  { code, reason }: Pick<BatchRejection, 'code' | 'reason'>,
  attempts: readonly AttemptRecord[],
): Receipt {
  const after = attempts.length > 1 ? `after ${attempts.length} attempts: ` : '';
  return { accepted: false, messageId, code, reason: `${after}${reason}`, attempts };
}
