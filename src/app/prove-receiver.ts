import { idempotencyKeyOf } from '../engine/round/attempt.ts';
import type { ProofMessage, ProofResponse, ProofSendOptions } from '../idempotence/prove.ts';
import { withoutRepeated } from '../redact.ts';
import { signedFields, type Signer } from '../signature/schemes/signer.ts';
import { sign } from '../signature/sign.ts';
import { sentSecrets, withoutSent } from '../transport/sent-secrets.ts';
import type { ConnectionOptions, TransportResult } from '../transport/transport.ts';
import { createUndiciTransport } from '../transport/undici-transport.ts';
import type { CheckedReceiver } from './check-receiver.ts';

export interface ProofSenderOptions {
  readonly receiver: CheckedReceiver;
  readonly secret: string | undefined;
  /** Signs by the schemes that are named; undefined: the default scheme, with `secret`. */
  readonly signer: Signer | undefined;
  readonly timeoutMs: number;
  readonly connection: ConnectionOptions;
  readonly proxyEnv: Readonly<NodeJS.ProcessEnv>;
  readonly signal: AbortSignal;
}

export type ProofSender = (message: ProofMessage, how?: ProofSendOptions) => Promise<ProofResponse>;

/** Of a response's body: enough for a sentence. */
const RESPONSE_BYTES = 1_000;
const RESPONSE_MS = 300;

/**
 * Makes what sends a message as every real delivery is sent: the same headers, signature and `Idempotency-Key` on every attempt. Each
 * request has a connection of its own, so that a receiver that was killed, or a connection that was cut, changes no other request.
 */
export function createProofSender(options: ProofSenderOptions): ProofSender {
  const { receiver, secret, signer, timeoutMs, connection, proxyEnv, signal } = options;
  return async ({ body, messageId }, { cut = false, hold } = {}) => {
    const headers = [...receiver.headers];
    if (!receiver.hasOwnKey) headers.push('Idempotency-Key', idempotencyKeyOf(messageId));
    if (signer !== undefined) headers.push(...signer.sign(body, signedFields(messageId, Date.now())).headers);
    else if (secret !== undefined) headers.push('X-Signature', sign(body, secret));
    const transport = createUndiciTransport({ proxyEnv });
    const { url } = receiver;
    const request = { url, headers, body, timeoutMs, connection, signal, cutsResponse: cut, hold };
    try {
      const result = await transport.send({
        ...request,
        responseBytes: RESPONSE_BYTES,
        responseMs: RESPONSE_MS,
      });
      return responseOf(result, { url, headers, secret, cut });
    } finally {
      await transport.close();
    }
  };
}

/** The secrets that each request carries besides its signature: what is shown has none of them. */
export function receiverSecrets(receiver: CheckedReceiver): readonly string[] {
  return [...sentSecrets(receiver)];
}

interface ProofRequest {
  readonly url: string;
  readonly headers: readonly string[];
  readonly secret: string | undefined;
  readonly cut: boolean;
}

/** The 4xx that a sender tries again: 409 because a request with an `Idempotency-Key` may be at work. */
const TRIED_AGAIN: ReadonlySet<number> = new Set([408, 409, 423, 425, 429]);

function responseOf(result: TransportResult, { url, headers, secret, cut }: ProofRequest): ProofResponse {
  const { ms } = result;
  if (result.kind === 'failure') {
    return { kind: 'none', error: cut && result.error === 'aborted' ? 'cut' : result.error, ms };
  }
  const { status, body } = result;
  const shown = body === undefined ? undefined : withoutSent(body, { url, headers });
  const safe = shown === undefined || secret === undefined ? shown : withoutRepeated(shown, [secret]);
  return { kind: kindOfStatus(status), status, reply: safe, ms };
}

function kindOfStatus(status: number): ProofResponse['kind'] {
  if (status >= 200 && status <= 299) return 'taken';
  return status >= 500 || TRIED_AGAIN.has(status) ? 'failing' : 'rejected';
}
