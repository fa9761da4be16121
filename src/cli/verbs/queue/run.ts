import type { DurableQueue } from '../../../stores/opened-queue.ts';
import type { GlobalOptions } from '../../command.ts';
import { interruptedCode, type ExitCode } from '../../exit-code.ts';
import type { Io } from '../../io.ts';
import { openQueue, type StoreFlags } from '../../flags/delivery/queue-flags.ts';
import { commandSettings } from '../../flags/delivery/settings.ts';
import type { SelectionFlags } from './selection.ts';

export interface QueueOptions extends GlobalOptions, StoreFlags, SelectionFlags {
  readonly all?: true;
  /** The flag `--now` of retry. */
  readonly now?: true;
  readonly yes?: true;
  readonly dryRun?: true;
  /** The flag `--limit` of list. */
  readonly limit?: number;
}

/**
 * Opens the queue for as long as `use` takes, which Ctrl-C may cut short. Throws QueueError when the queue does not exist,
 * instead of making it.
 */
export async function withQueue(
  options: QueueOptions,
  io: Io,
  use: (durable: DurableQueue) => Promise<ExitCode>,
): Promise<ExitCode> {
  const durable = await openQueue(options, await commandSettings(options, io), { create: false, io });
  try {
    const code = await use(durable);
    return interruptedCode(io) ?? code;
  } finally {
    await durable.close();
  }
}
