import { commandSettings } from '../../../flags/delivery/settings.ts';
import { resolveWhereTo, type ToWebhooks } from '../../../flags/delivery/where-to.ts';
import { flagError } from '../../../flags/flag-values.ts';
import { remarkOnSigning } from '../../../flags/signature/unsigned-note.ts';
import type { Io } from '../../../io.ts';
import type { ReplayOptions } from '../options.ts';

interface LoadTarget {
  readonly to: ToWebhooks;
  readonly close: () => Promise<void>;
}

/** Finds the webhook. Starts the receiver of --loopback. Throws ConfigError for a tracking API or the queue. */
export async function openTarget(options: ReplayOptions, io: Io): Promise<LoadTarget> {
  const settings = await commandSettings(options, io);
  const to = await resolveWhereTo(options, settings, io);
  if (to.kind === 'tracking-api' || to.kind === 'queue') {
    const hint = 'give --url with the URL of the receiver';
    throw flagError('--load', '`--load` is for a webhook, and the config names a tracking API', hint);
  }
  remarkOnSigning(to, options, { settings, io });
  if (to.kind === 'webhooks') return { to, close: () => Promise.resolve() };
  const loopback = await (await import('../../../flags/delivery/loopback.ts')).startLoopback(to);
  return { to: loopback.to, close: loopback.close };
}
