import { CheckRun, type RunEnd, type RunOptions } from '../check/run-checks.ts';
import { prepareWebhooks } from '../engine/webhook.ts';
import { validateRoute } from '../transport/route/validate-route.ts';
import type { ConnectionOptions } from '../transport/transport.ts';
import { createUndiciTransport } from '../transport/undici-transport.ts';
import { examineFailure, mistakenRequests, networkCauseOf, responseCauseOf } from '../diagnosis/explain.ts';
import { USER_AGENT } from './version.ts';

export interface CheckReceiverOptions extends Omit<
  RunOptions,
  'transport' | 'url' | 'headers' | 'causes' | 'mistakenRequests'
> {
  /** Checked: what `checkedReceiver` gave. */
  readonly receiver: CheckedReceiver;
  readonly proxyEnv: Readonly<NodeJS.ProcessEnv>;
}

/** A receiver's URL as it is asked and as it may be shown, with what every request to it carries. */
export interface CheckedReceiver {
  readonly url: string;
  readonly shownUrl: string;
  readonly headers: readonly string[];
  /** Whether the headers have an `Idempotency-Key`. */
  readonly hasOwnKey: boolean;
}

interface GivenReceiver {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly connection: ConnectionOptions;
  readonly proxyEnv: Readonly<NodeJS.ProcessEnv>;
}

/** Throws ConfigError for a URL, header, proxy or file of issuers that cannot be used: before anything is started or sent. */
export function checkedReceiver({ url, headers, connection, proxyEnv }: GivenReceiver): CheckedReceiver {
  const [webhook] = prepareWebhooks([{ url, headers }], { userAgent: USER_AGENT, setting: 'webhooks' });
  if (webhook === undefined) throw new TypeError('One webhook was given, and none came back');
  validateRoute(webhook.url, connection, proxyEnv);
  return webhook;
}

/** Makes the checks with the transport, the headers and the signature of every real delivery. */
export async function checkReceiver(options: CheckReceiverOptions): Promise<RunEnd> {
  const { receiver, proxyEnv, ...rest } = options;
  const transport = createUndiciTransport({ proxyEnv });
  try {
    const { url, headers } = receiver;
    const examine = (error: string) => examineFailure({ url, error, env: proxyEnv, signal: rest.signal });
    const causes = { responseCauseOf, networkCauseOf };
    return await new CheckRun({ ...rest, transport, url, headers, examine, causes, mistakenRequests }).run();
  } finally {
    await transport.close();
  }
}
