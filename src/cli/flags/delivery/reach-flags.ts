import type { Command } from 'commander';
import type { Reach } from '../../../app/open-engine.ts';
import type { Io } from '../../io.ts';

/** Of the commands that deliver by themselves: a webhook's URL may come from somebody else there. */
export interface ReachFlags {
  readonly allowPrivate?: true;
  readonly allowProxy?: true;
}

export function addReachFlags(command: Command): Command {
  return command
    .option('--allow-private', 'let webhooks be at loopback, private and link-local addresses')
    .option('--allow-proxy', 'go through HTTPS_PROXY and the like, which takes away the check of addresses');
}

export function reachOf({ allowPrivate, allowProxy }: ReachFlags, { env }: Io): Reach {
  return { allowPrivate: allowPrivate ?? false, allowProxy: allowProxy ?? false, proxyEnv: env };
}
