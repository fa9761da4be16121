import type { Reach } from '../../../app/open-engine.ts';
import { rejectPrivateWebhooks } from '../../../app/private-webhooks.ts';
import type { Settings } from '../../../config/settings.ts';
import type { Sources } from '../../../engine/options.ts';
import { ConfigError } from '../../../errors.ts';

/**
 * The sources of the config. Throws ConfigError without any destination, most likely since no config was found: every waiting delivery
 * would become a dead letter; and for a webhook at a private address that is not allowed.
 */
export function sourcesToDeliver(
  { sources }: Pick<Settings, 'sources'>,
  reach: Reach,
  hint?: string,
): Sources {
  const isAny = Object.values(sources).some(({ destinations }) => Object.keys(destinations).length > 0);
  if (isAny) {
    rejectPrivateWebhooks(sources, reach);
    return sources;
  }
  const ways = ['name the config with --config FILE, or put `webhooks` into it (hooks.config.js)', hint];
  throw new ConfigError('The config has no destination to deliver to', {
    key: 'webhooks',
    hint: ways.filter((way) => way !== undefined).join('; '),
  });
}
