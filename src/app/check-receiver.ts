import { CheckRun, type RunEnd, type RunOptions } from '../check/run-checks.ts';
import type { WebhookOptions } from '../engine/options.ts';
import { idempotencyKeyOf } from '../engine/round/attempt.ts';
import { prepareWebhook, type Webhook } from '../engine/webhook.ts';
import { validateRoute } from '../transport/route/validate-route.ts';
import type { FailureEvidence } from '../transport/cause.ts';
import type { ConnectionOptions } from '../transport/transport.ts';
import { createUndiciTransport } from '../transport/undici-transport.ts';
import {
  examineFailure,
  explainShown,
  mistakenRequests,
  networkCauseOf,
  printedCauseOf,
  responseCauseOf,
} from '../diagnosis/explain.ts';
import { USER_AGENT } from './version.ts';

export interface CheckReceiverOptions extends Omit<
  RunOptions,
  'transport' | 'url' | 'headers' | 'idempotencyKeyOf' | 'causes' | 'mistakenRequests' | 'explainShown'
> {
  readonly receiver: CheckedReceiver;
  readonly proxyEnv: Readonly<NodeJS.ProcessEnv>;
}

/** A receiver whose URL is validated, with the headers of every request to it. */
export type CheckedReceiver = Pick<Webhook, 'url' | 'shownUrl' | 'headers' | 'ownNames'>;

interface GivenReceiver extends WebhookOptions {
  readonly connection: ConnectionOptions;
  readonly proxyEnv: Readonly<NodeJS.ProcessEnv>;
}

/** Validates a receiver before any request is sent. Throws ConfigError for an unusable URL, header, proxy or CA file. */
export function checkedReceiver({ url, headers, connection, proxyEnv }: GivenReceiver): CheckedReceiver {
  const webhook = prepareWebhook({ url, headers }, { userAgent: USER_AGENT, setting: 'webhooks[0]' });
  validateRoute(webhook.url, connection, proxyEnv);
  return webhook;
}

/** Runs the checks with the transport, headers, `Idempotency-Key` and signature of real deliveries. */
export async function checkReceiver(options: CheckReceiverOptions): Promise<RunEnd> {
  const { receiver, proxyEnv, ...rest } = options;
  const transport = createUndiciTransport({ proxyEnv });
  try {
    const { url, headers } = receiver;
    const examine = (failure: FailureEvidence) =>
      examineFailure({ url, ...failure, env: proxyEnv, signal: rest.signal });
    const causes = { responseCauseOf, networkCauseOf, printedCauseOf };
    const keys = receiver.ownNames.has('idempotency-key') ? {} : { idempotencyKeyOf };
    const sending = { transport, url, headers, ...keys, examine, causes, mistakenRequests, explainShown };
    return await new CheckRun({ ...rest, ...sending }).run();
  } finally {
    await transport.close();
  }
}
