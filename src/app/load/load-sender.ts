import { prepareDestinations } from '../../engine/destination.ts';
import type { Sources } from '../../engine/options.ts';
import { ConfigError } from '../../errors.ts';
import { validateRoutes } from '../validate-routes.ts';
import { USER_AGENT } from '../version.ts';
import { DirectSender } from './direct-sender.ts';

interface LoadSenderOptions {
  readonly sources: Sources;
  /** Environment variables that name proxies. */
  readonly proxyEnv: Readonly<NodeJS.ProcessEnv>;
  /** Aborts the attempts in flight. */
  readonly signal: AbortSignal;
}

/** Opens the sender of a load. Throws ConfigError unless there is one webhook, or if it is unusable. */
export async function openLoadSender(options: LoadSenderOptions): Promise<DirectSender> {
  const { sources, proxyEnv, signal } = options;
  const webhooks = prepareDestinations(sources, USER_AGENT).flatMap(({ destination }) =>
    destination.webhooks.map((webhook) => ({ destination, webhook })),
  );
  const [target, ...others] = webhooks;
  if (target === undefined || others.length > 0) {
    throw new ConfigError(`Expected one webhook for a load, got ${webhooks.length}`, {
      flag: '--load',
      hint: 'give its URL with --url, so that the load of one receiver is measured',
    });
  }
  validateRoutes(sources, proxyEnv);
  const sender = new DirectSender({ ...target, proxyEnv, signal });
  await sender.prepare();
  return sender;
}
