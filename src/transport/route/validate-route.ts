import { proxyFor } from './proxy.ts';
import { validateCaFile } from './trust.ts';

interface RouteSettings {
  readonly caFile?: string | undefined;
  readonly proxyEnv?: Readonly<NodeJS.ProcessEnv> | undefined;
}

/**
 * Throws ConfigError for what would let no request to a URL even begin: a file of issuers, or a proxy's variable, that cannot be used.
 * Called at the start of delivery, before the first message.
 */
export function validateRoute(url: string, { caFile, proxyEnv }: RouteSettings): void {
  if (caFile !== undefined) validateCaFile(caFile);
  if (proxyEnv !== undefined) proxyFor(new URL(url), proxyEnv);
}
