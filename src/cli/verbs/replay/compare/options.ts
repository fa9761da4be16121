import type { DestinationOptions } from '../../../../engine/options.ts';
import { ConfigError } from '../../../../errors.ts';
import { flagError } from '../../../flags/flag-values.ts';
import { destinationsOf, type WhereTo } from '../../../flags/delivery/where-to.ts';
import type { ReplayOptions } from '../options.ts';

/** The options of `hooks replay --compare`. */
export type CompareOptions = ReplayOptions & { readonly compare: string };

/** Returns the destination of the new receiver. Throws ConfigError unless exactly one webhook is enabled. */
export function newReceiverOf(to: WhereTo): {
  readonly name: string;
  readonly destination: DestinationOptions;
} {
  const sources = to.kind === 'webhooks' ? to.sources : {};
  const enabled = destinationsOf(sources).filter(({ enabled: isEnabled }) => isEnabled);
  const count = enabled.reduce((sum, { webhooks }) => sum + webhooks.length, 0);
  const named = Object.values(sources).flatMap(({ destinations }) => Object.entries(destinations));
  const [name, destination] = named.find(([, each]) => each.enabled && each.webhooks.length > 0) ?? [];
  if (count === 1 && name !== undefined && destination !== undefined) return { name, destination };
  const got = to.kind === 'webhooks' ? `${count} webhooks` : 'a tracking API';
  throw flagError(
    '--compare',
    `Expected one webhook to compare with \`--compare\`, got ${got}`,
    'add --url NEW_URL',
  );
}

/** Returns the destination of the old receiver: `destination` with another URL. Throws ConfigError for an unusable URL. */
export function oldReceiverOf(destination: DestinationOptions, url: string): DestinationOptions {
  if (!URL.canParse(url) || !/^https?:/i.test(url)) {
    throw new ConfigError('Expected `--compare` to be an http:// or https:// URL', {
      flag: '--compare',
      hint: 'give the URL of the old receiver: --compare http://localhost:3000/webhook',
    });
  }
  const headers = destination.webhooks[0]?.headers ?? {};
  return { ...destination, webhooks: [{ url, headers }] };
}
