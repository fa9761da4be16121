import type { Reach } from '../../../app/open-engine.ts';
import { rejectPrivateWebhooks } from '../../../app/private-webhooks.ts';
import type { Settings } from '../../../config/settings.ts';
import type { Sources } from '../../../engine/options.ts';
import { ConfigError } from '../../../errors.ts';
import type { SignatureScheme } from '../../../signature/schemes/scheme.ts';
import { destinationsOf, mapDestinations } from './where-to.ts';

/**
 * Returns the sources of the config, with `schemes` for each destination that signs. Throws ConfigError if there is no
 * destination, because every waiting delivery would become a dead letter, and for a webhook at a private address that is not
 * allowed.
 */
export function sourcesToDeliver(
  { sources: configured, files }: Pick<Settings, 'sources' | 'files'>,
  reach: Reach,
  {
    hint,
    schemes,
  }: { readonly hint?: string | undefined; readonly schemes?: readonly SignatureScheme[] | undefined } = {},
): Sources {
  const sources =
    schemes === undefined
      ? configured
      : mapDestinations(configured, (each) =>
          each.sharedSecrets.length === 0 ? each : { ...each, scheme: schemes },
        );
  if (destinationsOf(sources).length > 0) {
    rejectPrivateWebhooks(sources, reach);
    return sources;
  }
  const isFound = files.length > 0;
  const way = isFound
    ? `put \`webhooks\` into ${files.join(' or ')}, or name another config with -c FILE`
    : 'hooks init --for service writes one (.hooksrc.yaml); or name yours with -c FILE';
  const what = isFound ? 'The config has' : 'No config was found, so there is';
  throw new ConfigError(`${what} no destination to deliver to`, {
    key: 'webhooks',
    hint: [way, hint].filter((each) => each !== undefined).join('; '),
  });
}
