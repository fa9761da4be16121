import type { Settings } from '../../../../config/settings.ts';
import type { Sources } from '../../../../engine/options.ts';
import { ConfigError } from '../../../../errors.ts';
import type { Delivery } from '../../../../queue/delivery.ts';
import type { LaneId } from '../../../../queue/queue.ts';
import type { Io } from '../../../io.ts';
import { quantityText, DELIVERIES } from '../confirm.ts';
import { laneText } from '../delivery-line.ts';
import type { QueueOptions } from '../run.ts';

/** Counts imported deliveries that wait for a destination that the config does not have. */
export class GoneDestinations {
  readonly #isGone: ReturnType<typeof goneCheck>;
  readonly #counts = new Map<string, number>();

  constructor(settings: Settings) {
    this.#isGone = goneCheck(settings);
  }

  see(deliveries: readonly Delivery[]): void {
    for (const { state, source, destination } of deliveries) {
      if (state === 'dead' || state === 'delivered') continue;
      if (!this.#isGone({ source, destination })) continue;
      const lane = laneText({ source, destination });
      this.#counts.set(lane, (this.#counts.get(lane) ?? 0) + 1);
    }
  }

  warn({ quiet }: QueueOptions, io: Io): void {
    if (quiet) return;
    for (const [lane, count] of this.#counts) {
      const what = `${quantityText(count, DELIVERIES)} for ${lane}`;
      io.note(
        `${io.errColor.yellow('warning:')} ${what}: the config has no such destination, or it is disabled, so serve and worker make dead letters of them (cancelled); hooks queue retry --to NAME delivers these`,
      );
    }
  }
}

/**
 * Returns a check whether serve and worker would make dead letters of a lane's deliveries, because the config has no such
 * destination, or it is disabled. Without a config, which may be on another machine, no lane is gone.
 */
export function goneCheck(settings: Settings): (lane: LaneId) => boolean {
  const sources = settings.configPath === undefined ? undefined : sourcesOf(settings);
  if (sources === undefined) return () => false;
  return ({ source, destination }) => sources[source]?.destinations[destination]?.enabled !== true;
}

/** The sources of the config. Undefined if they cannot be used, for example because a variable is not set. */
function sourcesOf(settings: Settings): Sources | undefined {
  try {
    return settings.sources;
  } catch (error) {
    if (error instanceof ConfigError) return undefined;
    throw error;
  }
}
