import type { Settings } from '../../../config/settings.ts';
import type { Sources } from '../../../engine/options.ts';
import { ConfigError } from '../../../errors.ts';

/** Without any destination, everything that waits would become a dead letter: a config that was not found, most likely. */
export function sourcesToDeliver({ sources }: Pick<Settings, 'sources'>, hint?: string): Sources {
  const isAny = Object.values(sources).some(({ destinations }) => Object.keys(destinations).length > 0);
  if (isAny) return sources;
  const ways = ['name the config with --config FILE, or put `webhooks` into it (hooks.config.js)', hint];
  throw new ConfigError('The config has no destination to deliver to', {
    key: 'webhooks',
    hint: ways.filter((way) => way !== undefined).join('; '),
  });
}
