import { idempotencyKeyOf } from '../engine/round/attempt.ts';
import type { ProofMessage, ProofResponse, ProofSendOptions } from '../idempotence/prove.ts';
import { withoutRepeated } from '../redact.ts';
import { signedFields, type Signer } from '../signature/schemes/signer.ts';
import { sign } from '../signature/sign.ts';
import { sentSecrets, withoutSent, type SentRequest } from '../transport/sent-secrets.ts';
import type { ConnectionOptions, TransportResult } from '../transport/transport.ts';
import { createUndiciTransport } from '../transport/undici-transport.ts';
import type { CheckedReceiver } from './check-receiver.ts';

export interface ProofSenderOptions {
  readonly receiver: CheckedReceiver;
  readonly secret: string | undefined;
  /** Signs with the schemes that the user named. Undefined for the default scheme, which signs with `secret`. */
  readonly signer: Signer | undefined;
  readonly timeoutMs: number;
  readonly connection: ConnectionOptions;
  readonly proxyEnv: Readonly<NodeJS.ProcessEnv>;
  readonly signal: AbortSignal;
}

export type ProofSender = (message: ProofMessage, how?: ProofSendOptions) => Promise<ProofResponse>;

/** Bytes and milliseconds to spend on reading a response body: enough for one sentence of an error message. */
const READING = { responseBytes: 1_000, responseMs: 300 };

/**
 * Creates a function that sends a message like a real delivery: with the same headers, signature and `Idempotency-Key` on
 * every attempt. Each request uses its own connection, so that a killed receiver or a cut connection does not affect other
 * requests.
 */
export function createProofSender(options: ProofSenderOptions): ProofSender {
  const { receiver, secret, signer, timeoutMs, connection, proxyEnv, signal } = options;
  return async ({ body, messageId }, { cut = false, hold } = {}) => {
    const headers = [...receiver.headers];
    const hasOwnKey = receiver.ownNames.has('idempotency-key');
    if (!hasOwnKey) headers.push('Idempotency-Key', idempotencyKeyOf(messageId));
    if (signer !== undefined) headers.push(...signer.sign(body, signedFields(messageId, Date.now())).headers);
    else if (secret !== undefined) headers.push('X-Signature', sign(body, secret));
    const transport = createUndiciTransport({ proxyEnv });
    const { url } = receiver;
    const request = { url, headers, body, timeoutMs, connection, signal, cutsResponse: cut, hold };
    try {
      const result = await transport.send({ ...request, ...READING });
      return responseOf(result, { url, headers, secret, cut });
    } finally {
      await transport.close();
    }
  };
}

/** The secrets in the URL and headers of each request, to mask them in everything that is shown. */
export function receiverSecrets(receiver: CheckedReceiver): readonly string[] {
  return [...sentSecrets(receiver)];
}

type ProofRequest = SentRequest & Pick<ProofSenderOptions, 'secret'> & { readonly cut: boolean };

/**
 * The 4xx statuses that a sender retries. 409 means that another request with the same `Idempotency-Key` may be in progress.
 */
const RETRIED: ReadonlySet<number> = new Set([408, 409, 423, 425, 429]);

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
  return status >= 500 || RETRIED.has(status) ? 'failing' : 'rejected';
}
