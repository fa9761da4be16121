import type { Command } from 'commander';
import type { Reach } from '../../../app/open-engine.ts';
import type { Io } from '../../io.ts';

/** Flags of the commands that deliver from the queue, where a webhook's URL may come from another person. */
export interface ReachFlags {
  readonly allowPrivate?: true;
  readonly allowProxy?: true;
}

export function addReachFlags(command: Command): Command {
  return command
    .option('--allow-private', 'allow webhooks on loopback, private and link-local addresses')
    .option('--allow-proxy', 'use HTTPS_PROXY and the like, without checking addresses');
}

export function reachOf({ allowPrivate, allowProxy }: ReachFlags, { env }: Io): Reach {
  return { allowPrivate: allowPrivate ?? false, allowProxy: allowProxy ?? false, proxyEnv: env };
}
