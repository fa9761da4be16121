import type { Command } from 'commander';
import type { Settings } from '../../config/settings.ts';
import { SharedClock } from '../../clock.ts';
import type { DurableQueue } from '../../pipeline/durable-queue.ts';
import type { CheckOptions } from '../../store/store.ts';

export interface StoreFlags {
  readonly store?: string;
}

export function addStoreFlag(command: Command): Command {
  return command.option(
    '--store <url>',
    'the durable queue: sqlite:FILE (default: hooks.db in the data folder), redis://…, postgres://…',
  );
}

/**
 * As openQueue, for a command that adds or delivers: throws QueueError too when nothing can be stored there. One that delivers
 * goes on with `toAdd: false` on a disk that has room for nothing more, since what it settles makes room.
 */
export async function openQueueToWrite(
  flags: StoreFlags,
  settings: Settings,
  options: CheckOptions = {},
): Promise<DurableQueue> {
  const durable = await openQueue(flags, settings);
  try {
    await durable.check(options);
    return durable;
  } catch (error) {
    await durable.close();
    throw error;
  }
}

/**
 * The queue that the flag names, else the config, else the one in the data folder. Without `create` a file that is named and
 * not there is a mistake; that of the data folder has nothing in it yet. Throws ConfigError and QueueError.
 */
export async function openQueue(
  { store }: StoreFlags,
  settings: Settings,
  { create = true } = {},
): Promise<DurableQueue> {
  const { openDurableQueue } = await import('../../pipeline/durable-queue.ts');
  const named = store ?? settings.store;
  return openDurableQueue({
    store: named,
    dataDir: settings.dataDir,
    clock: new SharedClock(),
    retention: settings.retention,
    create: create || named === undefined,
  });
}
