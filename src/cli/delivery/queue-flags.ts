import type { Command } from 'commander';
import type { Settings } from '../../config/settings.ts';
import { systemClock } from '../../clock.ts';
import { openDurableQueue, type DurableQueue } from '../../pipeline/durable-queue.ts';

export interface StoreFlags {
  readonly store?: string;
}

export function addStoreFlag(command: Command): Command {
  return command.option(
    '--store <url>',
    'the durable queue: sqlite:FILE (default: hooks.db in the data folder)',
  );
}

/** The queue that the flag names, else the config, else the one in the data folder. Throws ConfigError and QueueError. */
export function openQueue({ store }: StoreFlags, settings: Settings): Promise<DurableQueue> {
  return openDurableQueue({
    store: store ?? settings.store,
    dataDir: settings.dataDir,
    clock: systemClock,
    retention: settings.retention,
  });
}
