import { wallClock } from '../../clock.ts';
import { prepareDestinations } from '../../engine/destination.ts';
import type { Sources } from '../../engine/options.ts';
import { idempotencyKeyOf, toRequest, toResult, type SignedBody } from '../../engine/round/attempt.ts';
import type { AttemptResult } from '../../engine/round/attempt-result.ts';
import { ConfigError } from '../../errors.ts';
import { traceAttempt } from '../../message/trace-context.ts';
import { signedFields, type SignedHeaders } from '../../signature/schemes/signer.ts';
import { sign } from '../../signature/sign.ts';
import { createUndiciTransport } from '../../transport/undici-transport.ts';
import { validateRoutes } from '../validate-routes.ts';
import { USER_AGENT } from '../version.ts';

/** A message of a load, ready to be signed and sent. */
export interface LoadMessage {
  readonly messageId: string;
  readonly body: Uint8Array;
  /** The signature headers with which a capture was received, for a webhook without a secret. */
  readonly received?: SignedHeaders | undefined;
}

/** Sends messages to one webhook, each at once: without a queue, an order, a limit or a retry. */
export interface LoadSender {
  /** The URL of the webhook, without its secrets. */
  readonly shownUrl: string;
  /** Makes one attempt, which is signed now. Rejects only for a request that cannot be made. */
  readonly send: (message: LoadMessage) => Promise<AttemptResult>;
  /** Aborts the attempts in flight. */
  readonly abort: () => void;
  readonly close: () => Promise<void>;
}

interface LoadSenderOptions {
  readonly sources: Sources;
  /** Environment variables that name proxies. */
  readonly proxyEnv: Readonly<NodeJS.ProcessEnv>;
}

/** Opens the sender of a load. Throws ConfigError unless there is one webhook, or if it is unusable. */
export async function openLoadSender({ sources, proxyEnv }: LoadSenderOptions): Promise<LoadSender> {
  const destinations = prepareDestinations(sources, USER_AGENT);
  const webhooks = destinations.flatMap(({ destination }) => destination.webhooks);
  const [webhook, ...others] = webhooks;
  const { destination } = destinations[0] ?? {};
  const isOne = webhook !== undefined && destination !== undefined && others.length === 0;
  if (!isOne) throw severalWebhooks(webhooks.length);
  validateRoutes(sources, proxyEnv);
  const transport = createUndiciTransport({ proxyEnv });
  // Loads the HTTP client before the first message is due.
  const nothing = { body: new Uint8Array(), signature: undefined, idempotencyKey: undefined };
  await transport.send(
    toRequest(
      { at: 0, webhook, signed: nothing, trace: undefined },
      destination.delivery,
      AbortSignal.abort(),
    ),
  );
  const aborting = new AbortController();
  const { delivery, secrets, signer } = destination;
  const [secret] = secrets;

  const signed = ({ body, messageId, received }: LoadMessage, at: number): SignedBody => {
    const idempotencyKey = delivery.idempotencyKey === false ? undefined : idempotencyKeyOf(messageId);
    if (signer !== undefined) {
      const { headers, signature } = signer.sign(body, signedFields(messageId, at));
      return { body, signature, signatureHeaders: headers, idempotencyKey };
    }
    if (secret !== undefined) return { body, signature: sign(body, secret), idempotencyKey };
    return { body, signature: received?.signature, receivedHeaders: received?.headers, idempotencyKey };
  };

  return {
    shownUrl: webhook.shownUrl,
    send: async (message) => {
      const at = Math.floor(wallClock.now());
      const isTraced = delivery.traceparent === true && !webhook.hasOwnTrace;
      const trace = isTraced ? traceAttempt(undefined, message.messageId) : undefined;
      const attempt = { at, webhook, signed: signed(message, at), trace };
      const result = await transport.send(toRequest(attempt, delivery, aborting.signal));
      return toResult(result, attempt, { clock: wallClock, secrets, causes: undefined });
    },
    abort: () => aborting.abort(),
    close: () => transport.close(),
  };
}

function severalWebhooks(count: number): ConfigError {
  return new ConfigError(`Expected one webhook for a load, got ${count}`, {
    flag: '--load',
    hint: 'give its URL with --url, so that the load of one receiver is measured',
  });
}
