import { prepareDestinations } from '../../engine/destination.ts';
import type { DestinationOptions } from '../../engine/options.ts';
import { idempotencyKeyOf, toRequest, type SignedBody } from '../../engine/round/attempt.ts';
import type { ComparedResponse } from '../../replay/compare/compared-response.ts';
import { signedFields, type SignedHeaders } from '../../signature/schemes/signer.ts';
import { sign } from '../../signature/sign.ts';
import { sentSecrets } from '../../transport/sent-secrets.ts';
import type { ResponseHeaders } from '../../transport/transport.ts';
import { validateRoute } from '../../transport/route/validate-route.ts';
import { createUndiciTransport } from '../../transport/undici-transport.ts';
import { USER_AGENT } from '../version.ts';

interface ComparedReceiverOptions {
  /** The destination, with the receiver as its only webhook. */
  readonly destination: DestinationOptions;
  readonly proxyEnv: Readonly<NodeJS.ProcessEnv>;
  /** Aborts requests in flight. */
  readonly signal: AbortSignal;
  /** Returns the signature with which a body was received. Used if there is no secret. */
  readonly receivedSignature: (body: Uint8Array) => SignedHeaders | undefined;
}

/** A message as both receivers get it. */
export interface ComparedRequest {
  readonly messageId: string;
  readonly body: Uint8Array;
}

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
  const { proxyEnv, signal, receivedSignature } = options;
  const sources = { compared: { destinations: { receiver: options.destination } } };
  const [prepared] = prepareDestinations(sources, USER_AGENT);
  const [webhook] = prepared?.destination.webhooks ?? [];
  if (prepared === undefined || webhook === undefined) throw new TypeError('There is no webhook'); // the caller gives one
  const { secrets, signer, delivery } = prepared.destination;
  const [secret] = secrets;
  validateRoute(webhook.url, delivery, proxyEnv);
  const transport = createUndiciTransport({ proxyEnv });
  const signed = ({ body, messageId }: ComparedRequest): SignedBody => ({
    body,
    signature: secret === undefined ? undefined : sign(body, secret),
    signatureHeaders: signer?.sign(body, signedFields(messageId, Date.now())).headers,
    receivedHeaders: secret === undefined ? receivedSignature(body)?.headers : undefined,
    idempotencyKey: delivery.idempotencyKey === false ? undefined : idempotencyKeyOf(messageId),
  });
  return {
    url: webhook.url,
    shownUrl: webhook.shownUrl,
    secrets: [...secrets, ...sentSecrets(webhook)],
    send: async (message) => {
      let headers: ResponseHeaders = {};
      const attempt = { at: Date.now(), webhook, signed: signed(message), trace: undefined };
      const result = await transport.send({
        ...toRequest(attempt, delivery, signal),
        responseBytes: MAX_BODY_BYTES,
        onHead: (_status, received) => (headers = received),
      });
      if (result.kind === 'failure') return { kind: 'none', error: result.error, detail: result.detail };
      const { status, body = '', bodyCutBy, ms } = result;
      if (bodyCutBy !== undefined && bodyCutBy !== 'length') {
        return { kind: 'none', error: bodyCutBy, detail: `the body of the response (${status}) did not end` };
      }
      return { kind: 'response', status, headers, body, ms };
    },
    close: () => transport.close(),
  };
}
