import { prepareDestinations } from '../../engine/destination.ts';
import type { DestinationOptions } from '../../engine/options.ts';
import type { ComparedResponse } from '../../replay/compare/compared-response.ts';
import { originMask } from '../../replay/compare/own-origins.ts';
import type { UnsignedBody } from '../../engine/round/attempt.ts';
import type { HeadersOfBody } from '../../engine/round/round-context.ts';
import { sentSecrets } from '../../transport/sent-secrets.ts';
import type { ResponseHeaders } from '../../transport/transport.ts';
import { validateRoute } from '../../transport/route/validate-route.ts';
import { DirectSender } from '../load/direct-sender.ts';
import { USER_AGENT } from '../version.ts';

interface ComparedReceiverOptions {
  /** The destination, with the receiver as its only webhook. */
  readonly destination: DestinationOptions;
  /** The URLs of both receivers. */
  readonly urls: readonly string[];
  readonly proxyEnv: Readonly<NodeJS.ProcessEnv>;
  /** Aborts requests in flight. */
  readonly signal: AbortSignal;
  readonly headersOfBody: HeadersOfBody;
}

/** A message as both receivers get it. */
export type ComparedRequest = Pick<UnsignedBody, 'messageId' | 'body'>;

export interface ComparedReceiver {
  readonly url: string;
  /** The URL without secrets. */
  readonly shownUrl: string;
  /** Secrets of the requests, to mask in everything that is shown. */
  readonly secrets: readonly string[];
  readonly send: (message: ComparedRequest) => Promise<ComparedResponse>;
  readonly close: () => Promise<void>;
}

/** Bytes of a response's body to compare. */
const MAX_BODY_BYTES = 1024 * 1024;

/**
 * Creates one of two receivers to compare. A message is sent once, with the headers, signature and `Idempotency-Key` of a
 * real delivery. Throws ConfigError for an unusable URL, header, secret, proxy or CA file.
 */
export function comparedReceiver(options: ComparedReceiverOptions): ComparedReceiver {
  const { proxyEnv, signal, headersOfBody } = options;
  const sources = { compared: { destinations: { receiver: options.destination } } };
  const [prepared] = prepareDestinations(sources, USER_AGENT);
  const [webhook] = prepared?.destination.webhooks ?? [];
  if (prepared === undefined || webhook === undefined) throw new TypeError('There is no webhook'); // the caller gives one
  const { destination } = prepared;
  validateRoute(webhook.url, destination.delivery, proxyEnv);
  const masked = originMask(options.urls);
  const sender = new DirectSender({ destination, webhook, proxyEnv, signal });
  return {
    url: webhook.url,
    shownUrl: webhook.shownUrl,
    secrets: [...destination.secrets, ...sentSecrets(webhook)],
    send: async (message) => {
      let headers: ResponseHeaders = {};
      const received = headersOfBody(message.body);
      const result = await sender.exchange(
        { ...message, received },
        { responseBytes: MAX_BODY_BYTES, onHead: (_status, head) => (headers = head) },
      );
      if (result.kind === 'failure') return { kind: 'none', error: result.error, detail: result.detail };
      const { status, body = '', bodyCutBy, ms } = result;
      if (bodyCutBy !== undefined && bodyCutBy !== 'length') {
        return { kind: 'none', error: bodyCutBy, detail: `the body of the response (${status}) did not end` };
      }
      return { kind: 'response', status, ms, ...masked({ headers, body }) };
    },
    close: () => sender.close(),
  };
}
