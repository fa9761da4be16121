import { proxyFor } from './proxy.ts';
import type { ConnectionOptions } from '../transport.ts';
import { issuersIn } from './trust.ts';

/**
 * Throws ConfigError for an invalid `caFile` or proxy variable, because no request to the URL could start. Called before the
 * first message is sent.
 */
export function validateRoute(
  url: string,
  connection: ConnectionOptions,
  proxyEnv: Readonly<NodeJS.ProcessEnv> | undefined,
): void {
  if (connection.caFile !== undefined) issuersIn(connection.caFile);
  if (proxyEnv !== undefined) proxyFor(new URL(url), proxyEnv);
}
