import { proxyFor } from './proxy.ts';
import { checkCaFile } from './trust.ts';

interface RouteSettings {
  readonly caFile?: string | undefined;
  readonly proxyEnv?: Readonly<NodeJS.ProcessEnv> | undefined;
}

/**
 * Throws ConfigError for what would let no request to a URL even begin: a file of issuers, or a proxy's variable, that cannot be used.
 * Called at the start of delivery, before the first message.
 */
export function checkRoute(url: string, { caFile, proxyEnv }: RouteSettings): void {
  if (caFile !== undefined) checkCaFile(caFile);
  if (proxyEnv !== undefined) proxyFor(new URL(url), proxyEnv);
}
