import type { Settings } from '../../../config/settings.ts';
import { resolvePath } from '../../../config/read-setting.ts';
import { SharedClock, sleep, systemClock } from '../../../clock.ts';
import { QueueError } from '../../../errors.ts';
import type { CheckOptions, DurableQueue } from '../../../stores/opened-queue.ts';
import { printable } from '../../../redact.ts';
import type { Io } from '../../io.ts';

export interface StoreFlags {
  readonly store?: string;
}

interface OpenQueueOptions {
  /** Whether to create a queue file that does not exist. @default true */
  readonly create?: boolean;
  /**
   * Output for a warning that the queue file had lost commits before it was opened. @default no warning: `serve` and
   * `worker` print all `warnings`
   */
  readonly io?: Pick<Io, 'note' | 'errColor' | 'isQuiet'>;
}

interface OpenToWriteOptions extends Pick<OpenQueueOptions, 'io'>, CheckOptions {
  /**
   * Whether to bind the queue of the data folder to the config, and to reject a queue that another config has. @default true
   */
  readonly binds?: boolean;
}

/**
 * Opens the queue for adding or delivering. Throws ConfigError and QueueError like openQueue; also ConfigError if the queue
 * of the data folder belongs to another config, and QueueError if nothing can be stored, as on a full disk.
 */
export async function openQueueToWrite(
  flags: StoreFlags,
  settings: Settings,
  { toAdd = true, binds = true, ...options }: OpenToWriteOptions = {},
): Promise<DurableQueue> {
  const durable = await openQueue(flags, settings, options);
  try {
    if (binds && namedStore(flags, settings) === undefined) {
      const { bindQueue } = await import('../bind-queue.ts');
      await bindQueue(durable, settings);
    }
    await durable.check({ toAdd });
    const { madeFile } = durable;
    // A file that the user named: a mistyped path must be visible.
    if (
      madeFile !== undefined &&
      namedStore(flags, settings) !== undefined &&
      options.io?.isQuiet === false
    ) {
      options.io.note(`note: made a new queue at ${printable(madeFile)}`);
    }
    return durable;
  } catch (error) {
    await durable.close();
    throw error;
  }
}

/** Time that `serve` and `worker` wait for a store when they start. Once started, they wait for a lost store forever. */
const START_WAIT_MS = 60_000;
const START_STEP_MS = 500;

/**
 * Opens the queue for a service. Waits for a store that is full or cannot be reached, such as a server that is still
 * starting.
 */
export async function openQueueToRun(
  flags: StoreFlags,
  settings: Settings,
  { io, toAdd = true }: CheckOptions & { readonly io: Pick<Io, 'note' | 'signal'> },
): Promise<DurableQueue> {
  const giveUpAt = systemClock.now() + START_WAIT_MS;
  for (let tries = 0; ; tries++) {
    try {
      return await openQueueToWrite(flags, settings, { toAdd });
    } catch (error) {
      const mayWait = !io.signal.aborted && systemClock.now() < giveUpAt;
      if (!mayWait || !(error instanceof QueueError) || !error.isAway) throw error;
      if (tries === 0) io.note(`${error.message}; waiting for it up to ${START_WAIT_MS / 1000} s`);
      await sleep(systemClock, START_STEP_MS, io.signal);
    }
  }
}

/**
 * Opens the queue that the flag names, else the config's, else the one in the data folder. Without `create`, a named file
 * must exist, and a missing file in the data folder is an empty queue. Throws ConfigError and QueueError.
 */
export async function openQueue(
  flags: StoreFlags,
  settings: Settings,
  { create = true, io }: OpenQueueOptions = {},
): Promise<DurableQueue> {
  const { openDurableQueue } = await import('../../../stores/open.ts');
  const named = namedStore(flags, settings);
  const durable = await openDurableQueue({
    store: named,
    // A getter, because a store elsewhere needs no data folder, and reading an unsafe data folder throws.
    get dataDir() {
      return settings.dataDir;
    },
    clock: new SharedClock(),
    retention: settings.retention,
    create: create || named === undefined,
    isReading: !create,
  });
  if (durable.loss !== undefined) io?.note(`${io.errColor.yellow('warning:')} ${durable.loss}`);
  return durable;
}

/** Returns the store that the flag names, else the config's; undefined for the store in the data folder. */
export function namedStore({ store }: StoreFlags, settings: Settings): string | undefined {
  return store === undefined ? settings.store : resolvePath(settings.cwd, store);
}

/** Notes that messages will wait, if no process delivers from the queue. A server does not tell. */
export async function noteUndelivered({ file }: DurableQueue, io: Pick<Io, 'note'>): Promise<void> {
  if ((await file?.isDelivered()) === false) {
    io.note('note: no process delivers from this queue now: start hooks worker or hooks serve');
  }
}
