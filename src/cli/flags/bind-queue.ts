import { existsSync } from 'node:fs';
import type { Settings } from '../../config/settings.ts';
import { ConfigError } from '../../errors.ts';
import { printable } from '../../redact.ts';
import type { DurableQueue } from '../../stores/opened-queue.ts';

/**
 * Binds the queue of the data folder to the config that writes to it first. All projects of a user have the same data folder,
 * so another config would deliver these messages to its own webhooks. Throws ConfigError for another config.
 */
export async function bindQueue({ file, place }: DurableQueue, settings: Settings): Promise<void> {
  const bound = await file?.bindConfig(settings.configPath ?? WITHOUT_CONFIG);
  const error = foreignQueueError(place, bound, settings);
  if (error !== undefined) throw error;
}

/** The error for a queue that is bound to another config. Undefined if it is not. */
export function foreignQueueError(
  place: string,
  bound: string | undefined,
  { configPath: config = WITHOUT_CONFIG }: Pick<Settings, 'configPath'>,
): ConfigError | undefined {
  if (bound === undefined || bound === config) return undefined;
  const own = config === WITHOUT_CONFIG ? 'this command has none' : `this command uses ${printable(config)}`;
  return new ConfigError(`The queue ${printable(place)} belongs to ${configText(bound)}, and ${own}`, {
    key: 'store',
    hint: hintFor(bound, config),
  });
}

/** Stands for the config of a command that has none, for example with HOOKS_URL alone. */
export const WITHOUT_CONFIG = '';

/** Describes the config to which a queue is bound. */
export function configText(config: string): string {
  return config === WITHOUT_CONFIG ? 'commands without a config' : `the config ${printable(config)}`;
}

const OWN = 'to use a queue of its own, put `store: sqlite:./hooks.db` into the config, or pass --store';

/** Suggests to take the queue over only if no other config can be in use: its messages would go to other webhooks. */
function hintFor(bound: string, config: string): string {
  if (bound === WITHOUT_CONFIG || !existsSync(bound)) {
    return `${OWN}; to take this queue over with its deliveries, run \`hooks queue adopt\``;
  }
  return config === WITHOUT_CONFIG
    ? `pass -c ${printable(bound)}, or name a queue with --store sqlite:FILE`
    : OWN;
}
