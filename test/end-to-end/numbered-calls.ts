import { setTimeout as delay } from 'node:timers/promises';
import { until } from '../until.ts';
import { WRITE_KEY } from './serve-and-worker.ts';

/** A call that got a 200. Times are those of `performance.now()`. */
export interface AcknowledgedCall {
  readonly messageIds: readonly string[];
  /** When the attempt began that got the 200. */
  readonly begunAt: number;
  readonly acknowledgedAt: number;
}

const CALLERS = 3;
const BATCH = 2;
const PAUSE_MS = 25;
/** A caller repeats a call after this time. */
const REPEAT_MS = 100;
const LONGEST_CALL_MS = 15_000;

/** Callers that send numbered messages, each one call after another. A call without a 200 is repeated. */
export class NumberedCalls {
  /** The acknowledged calls of each caller, in their order. */
  readonly acknowledged: readonly (readonly AcknowledgedCall[])[];
  /** Number of attempts by their status; 0 if the call got no response. */
  readonly statuses = new Map<number, number>();
  readonly #url: string;
  readonly #callers: Promise<unknown>;
  #isStopped = false;

  constructor(url: string) {
    this.#url = url;
    const acknowledged = Array.from({ length: CALLERS }, (): AcknowledgedCall[] => []);
    this.acknowledged = acknowledged;
    this.#callers = Promise.all(acknowledged.map((calls, caller) => this.#callOn(calls, caller)));
  }

  /** Waits until each caller has ended its last call. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#callers;
  }

  /** Waits until this many more calls are acknowledged. */
  async more(count: number): Promise<void> {
    const enough = this.#count() + count;
    await until(() => this.#count() >= enough, `${count} more calls`, { seconds: 60 });
  }

  /** Waits until this many attempts got a 503. */
  async rejected(count: number): Promise<void> {
    await until(() => (this.statuses.get(503) ?? 0) >= count, `${count} rejections`, { seconds: 60 });
  }

  #count(): number {
    return this.acknowledged.reduce((sum, calls) => sum + calls.length, 0);
  }

  async #callOn(calls: AcknowledgedCall[], caller: number): Promise<void> {
    for (let number = 0; !this.#isStopped; number += BATCH) {
      const messageIds = Array.from({ length: BATCH }, (_, index) => `c${caller}-${number + index}`);
      const call = await this.#untilAcknowledged(messageIds);
      if (call !== undefined) calls.push(call);
      await delay(PAUSE_MS);
    }
  }

  async #untilAcknowledged(messageIds: readonly string[]): Promise<AcknowledgedCall | undefined> {
    while (!this.#isStopped) {
      const begunAt = performance.now();
      const status = await postBatch(this.#url, WRITE_KEY, messageIds);
      this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1);
      if (status === 200) return { messageIds, begunAt, acknowledgedAt: performance.now() };
      await delay(REPEAT_MS);
    }
    return undefined;
  }
}

/** Sends a message of each id in one call. Returns the status of the response; 0 if there is none. */
export async function postBatch(
  url: string,
  writeKey: string,
  messageIds: readonly string[],
): Promise<number> {
  const batch = messageIds.map((messageId) => ({
    type: 'track',
    event: 'Signup',
    userId: messageId,
    messageId,
  }));
  const body = JSON.stringify({ batch, writeKey });
  const signal = AbortSignal.timeout(LONGEST_CALL_MS);
  try {
    const response = await fetch(`${url}/v1/batch`, { method: 'POST', body, signal });
    await response.text();
    return response.status;
  } catch {
    return 0;
  }
}
