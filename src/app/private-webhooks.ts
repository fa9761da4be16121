import type { Sources } from '../engine/options.ts';
import { ConfigError } from '../errors.ts';
import { redactUrl } from '../redact.ts';
import { whyPrivateHost, whyPrivateName } from '../transport/route/public-address.ts';
import { proxyFor } from '../transport/route/proxy.ts';
import type { Reach } from './open-engine.ts';

/**
 * Throws ConfigError if a webhook is at a literal private address or a loopback name that is not allowed. Detected at the
 * start, because otherwise every message would be retried until the end of its retry window.
 */
export function rejectPrivateWebhooks(sources: Sources, reach: Reach): void {
  for (const { url, setting } of guardedWebhooks(sources, reach)) {
    const reason = whyPrivateHost(url);
    if (reason === undefined) continue;
    const key = `${setting}.delivery.allowPrivate`;
    throw new ConfigError(
      `Expected the webhook ${redactUrl(url.href)} to be at a public address, got ${reason} (\`delivery.allowPrivate\` is false)`,
      { key, hint: PRIVATE_WEBHOOK_HINT },
    );
  }
}

export const PRIVATE_WEBHOOK_HINT =
  'set `delivery.allowPrivate: true` in the config, or HOOKS_ALLOW_PRIVATE=true, or pass --allow-private';

/**
 * Returns a warning for each webhook whose name resolves only to private addresses. Skips names that cannot be resolved now.
 */
export async function privateWebhookWarnings(sources: Sources, reach: Reach): Promise<readonly string[]> {
  const found = await Promise.all(
    guardedWebhooks(sources, reach).map(async ({ url }) => {
      const reason = whyPrivateHost(url) ?? (await whyPrivateName(url));
      return reason === undefined ? [] : privateWebhookText(url.href, reason);
    }),
  );
  return [...new Set(found.flat())];
}

function privateWebhookText(url: string, reason: string): string {
  return `the webhook ${redactUrl(url)} is at a private address (${reason}) and gets no messages: ${PRIVATE_WEBHOOK_HINT}`;
}

interface GuardedWebhook {
  readonly url: URL;
  /** Path of the webhook's destination in the config, named in error messages. */
  readonly setting: string;
}

/** The enabled webhooks that are reached without a proxy and must be at public addresses. */
function guardedWebhooks(
  sources: Sources,
  { allowPrivate, allowProxy, proxyEnv }: Reach,
): readonly GuardedWebhook[] {
  if (allowPrivate) return [];
  return Object.entries(sources).flatMap(([source, { destinations }]) =>
    Object.entries(destinations).flatMap(([name, { enabled, webhooks, delivery }]) => {
      if (!enabled || delivery.allowPrivate === true) return [];
      return webhooks
        .map(({ url }) => new URL(url.trim()))
        .filter((url) => !allowProxy || proxyEnv === undefined || proxyFor(url, proxyEnv) === undefined)
        .map((url) => ({ url, setting: `sources.${source}.destinations.${name}` }));
    }),
  );
}
