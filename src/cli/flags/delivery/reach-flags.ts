import type { Command } from 'commander';
import type { Reach } from '../../../app/open-engine.ts';
import { SETTING_FIELDS } from '../../../config/table/fields.ts';
import type { Io } from '../../io.ts';
import { addSettingFlags } from '../setting-flags.ts';

/** Flags to allow private addresses and proxies for deliveries from the queue: another person may have set the URLs. */
export interface ReachFlags {
  readonly allowPrivate?: true;
  readonly allowProxy?: true;
}

export function addReachFlags(command: Command): Command {
  return addSettingFlags(command, 'delivery.allowPrivate').option(
    '--allow-proxy',
    'use HTTPS_PROXY and the like, without checking addresses',
  );
}

export function reachOf({ allowPrivate, allowProxy }: ReachFlags, { env }: Io): Reach {
  return { allowPrivate: allowPrivate ?? isAllowedBy(env), allowProxy: allowProxy ?? false, proxyEnv: env };
}

/**
 * Whether HOOKS_ALLOW_PRIVATE is set, which applies to every destination. Throws ConfigError for a value that is not
 * boolean.
 */
function isAllowedBy(env: Io['env']): boolean {
  const name = 'HOOKS_ALLOW_PRIVATE';
  const value = env[name];
  return value ? SETTING_FIELDS['delivery.allowPrivate'].kind.parse(value, { name }) : false;
}
