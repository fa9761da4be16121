import type { Sources } from '../engine/options.ts';
import { validateRoute } from '../transport/route/validate-route.ts';

/** Throws ConfigError for a webhook whose way cannot be gone: a file of issuers, or a proxy's variable, that cannot be used. */
export function validateRoutes(sources: Sources, proxyEnv: Readonly<NodeJS.ProcessEnv> | undefined): void {
  for (const { destinations } of Object.values(sources)) {
    for (const { enabled, webhooks, delivery } of Object.values(destinations)) {
      if (enabled) for (const { url } of webhooks) validateRoute(url, delivery, proxyEnv);
    }
  }
}
