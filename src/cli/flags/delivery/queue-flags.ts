import type { Command } from 'commander';
import type { Settings } from '../../../config/settings.ts';
import { SharedClock } from '../../../clock.ts';
import type { DurableQueue } from '../../../stores/open.ts';
import type { CheckOptions } from '../../../stores/sqlite/file/store.ts';
import type { Io } from '../../io.ts';

export interface StoreFlags {
  readonly store?: string;
}

interface OpenQueueOptions {
  /** @default true */
  readonly create?: boolean;
  /** Told what was lost when it was opened. @default nobody: `serve` and `worker` tell what `warnings` says */
  readonly io?: Pick<Io, 'note' | 'errColor'>;
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
  { toAdd = true, ...options }: Pick<OpenQueueOptions, 'io'> & CheckOptions = {},
): Promise<DurableQueue> {
  const durable = await openQueue(flags, settings, options);
  try {
    await durable.check({ toAdd });
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
  { create = true, io }: OpenQueueOptions = {},
): Promise<DurableQueue> {
  const { openDurableQueue } = await import('../../../stores/open.ts');
  const named = store ?? settings.store;
  const durable = await openDurableQueue({
    store: named,
    // Looked up where it is used: a store elsewhere does without it.
    get dataDir() {
      return settings.dataDir;
    },
    clock: new SharedClock(),
    retention: settings.retention,
    create: create || named === undefined,
  });
  if (durable.loss !== undefined) io?.note(`${io.errColor.yellow('warning:')} ${durable.loss}`);
  return durable;
}
