import type { DurableQueue } from '../../pipeline/durable-queue.ts';
import type { GlobalOptions } from '../command.ts';
import type { Io } from '../io.ts';
import { openQueue, type StoreFlags } from '../delivery/queue-flags.ts';
import { commandSettings } from '../delivery/settings.ts';
import type { SelectionFlags } from './selection.ts';

export interface QueueOptions extends GlobalOptions, StoreFlags, SelectionFlags {
  readonly all?: true;
}

/** Opens the queue for as long as `use` takes. */
export async function withQueue<T>(
  options: QueueOptions,
  io: Io,
  use: (durable: DurableQueue) => Promise<T>,
): Promise<T> {
  const durable = await openQueue(options, await commandSettings(options, io));
  try {
    return await use(durable);
  } finally {
    await durable.close();
  }
}
