import { createHash } from 'node:crypto';
import type { Settings } from '../../config/settings.ts';
import { redactUrl } from '../../redact.ts';
import type { WhereTo } from '../flags/delivery/where-to.ts';

/**
 * The place that the state of a sync belongs to, besides its name. A configured source stays the same place whatever its webhooks
 * are changed to, and whether they are reached through the queue; URLs of a flag or of HOOKS_URL are a place by themselves.
 */
export function audiencePlaceOf(
  to: WhereTo,
  { url }: { readonly url?: readonly string[] },
  settings: Pick<Settings, 'originOf'>,
): string {
  switch (to.kind) {
    case 'loopback':
      return 'loopback';
    case 'tracking-api':
      return `${redactUrl(to.endpoint)} (write key ${fingerprint(to.writeKey)})`;
    case 'webhooks':
    case 'queue':
      if (url === undefined && settings.originOf('webhooks') !== 'HOOKS_URL') return `source ${to.source}`;
      return urlsOf(to).join(' ');
    default:
      return to satisfies never;
  }
}

function urlsOf({ sources }: Pick<Extract<WhereTo, { kind: 'webhooks' }>, 'sources'>): readonly string[] {
  const destinations = Object.values(sources).flatMap((source) => Object.values(source.destinations));
  return [
    ...new Set(destinations.flatMap(({ webhooks }) => webhooks.map((webhook) => redactUrl(webhook.url)))),
  ];
}

/** Distinguishes keys without revealing them. */
function fingerprint(writeKey: string): string {
  return createHash('sha256').update(writeKey).digest('hex').slice(0, 8);
}
