import type { Sources } from '../engine/options.ts';
import { validateRoute } from '../transport/route/validate-route.ts';

/** Throws ConfigError if the CA file or the proxy variable of an enabled webhook is unusable. */
export function validateRoutes(sources: Sources, proxyEnv: Readonly<NodeJS.ProcessEnv> | undefined): void {
  for (const { destinations } of Object.values(sources)) {
    for (const { enabled, webhooks, delivery } of Object.values(destinations)) {
      if (enabled) for (const { url } of webhooks) validateRoute(url, delivery, proxyEnv);
    }
  }
}
