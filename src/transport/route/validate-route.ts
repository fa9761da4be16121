import { proxyFor } from './proxy.ts';
import type { ConnectionOptions } from '../transport.ts';
import { validateCaFile } from './trust.ts';

/**
 * Throws ConfigError for what would let no request to a URL even begin: a file of issuers, or a proxy's variable, that cannot be used.
 * Called at the start of delivery, before the first message.
 */
export function validateRoute(
  url: string,
  connection: ConnectionOptions,
  proxyEnv: Readonly<NodeJS.ProcessEnv> | undefined,
): void {
  if (connection.caFile !== undefined) validateCaFile(connection.caFile);
  if (proxyEnv !== undefined) proxyFor(new URL(url), proxyEnv);
}
