import { wallClock } from '../../clock.ts';
import type { Destination } from '../../engine/destination.ts';
import {
  signedBody,
  toRequest,
  toResult,
  traceOf,
  type OutgoingAttempt,
  type UnsignedBody,
} from '../../engine/round/attempt.ts';
import type { AttemptResult } from '../../engine/round/attempt-result.ts';
import type { Webhook } from '../../engine/webhook.ts';
import type { TransportRequest, TransportResult } from '../../transport/transport.ts';
import { createUndiciTransport } from '../../transport/undici-transport.ts';

interface DirectSenderOptions {
  readonly destination: Destination;
  readonly webhook: Webhook;
  /** Environment variables that name proxies. */
  readonly proxyEnv: Readonly<NodeJS.ProcessEnv>;
  /** Aborts the attempts in flight. */
  readonly signal: AbortSignal;
}

/** Sends messages to a webhook as the engine does, each at once: without a queue, an order, a limit or a retry. */
export class DirectSender {
  /** The URL of the webhook, without its secrets. */
  readonly shownUrl: string;
  readonly #options: DirectSenderOptions;
  readonly #transport;

  constructor(options: DirectSenderOptions) {
    this.#options = options;
    this.shownUrl = options.webhook.shownUrl;
    this.#transport = createUndiciTransport({ proxyEnv: options.proxyEnv });
  }

  /** Loads the HTTP client before the first message. */
  async prepare(): Promise<void> {
    const request = this.#request(this.#attempt({ messageId: '', body: new Uint8Array() }));
    await this.#transport.send({ ...request, signal: AbortSignal.abort() });
  }

  /** Makes one attempt, which is signed now. Rejects only for a request that cannot be made. */
  async send(message: UnsignedBody): Promise<AttemptResult> {
    const attempt = this.#attempt(message);
    const result = await this.#transport.send(this.#request(attempt));
    const { secrets } = this.#options.destination;
    return toResult(result, attempt, { clock: wallClock, secrets, causes: undefined });
  }

  /** Makes one attempt, and returns the response as it came. */
  exchange(
    message: UnsignedBody,
    how: Pick<TransportRequest, 'responseBytes' | 'onHead'>,
  ): Promise<TransportResult> {
    return this.#transport.send({ ...this.#request(this.#attempt(message)), ...how });
  }

  close(): Promise<void> {
    return this.#transport.close();
  }

  #request(attempt: OutgoingAttempt): TransportRequest {
    return toRequest(attempt, this.#options.destination.delivery, this.#options.signal);
  }

  #attempt(message: UnsignedBody): OutgoingAttempt {
    const { destination, webhook } = this.#options;
    const at = Math.floor(wallClock.now());
    const trace = traceOf(webhook, { id: message.messageId, trace: undefined }, destination.delivery);
    return { at, webhook, signed: signedBody(message, at, destination), trace };
  }
}
