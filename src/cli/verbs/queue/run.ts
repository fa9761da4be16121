import type { DurableQueue } from '../../../stores/opened-queue.ts';
import type { ConfigError } from '../../../errors.ts';
import type { GlobalOptions } from '../../command.ts';
import { fitText } from '../../fit-text.ts';
import { jsonLine } from '../../json-line.ts';
import { createProgress, type ProgressBar } from '../../print/progress.ts';
import { interruptedCode, type ExitCode } from '../../exit-code.ts';
import type { Io } from '../../io.ts';
import { foreignQueueError } from '../../flags/bind-queue.ts';
import { flagError } from '../../flags/flag-values.ts';
import { namedStore, openQueue, type StoreFlags } from '../../flags/delivery/queue-flags.ts';
import { commandSettings } from '../../flags/delivery/settings.ts';
import type { SelectionFlags } from './selection.ts';

export interface QueueOptions extends GlobalOptions, StoreFlags, SelectionFlags {
  readonly all?: true;
  /** `--now` of `hooks queue retry`: makes waiting deliveries due immediately. */
  readonly now?: true;
  /** `--to` of `hooks queue retry`: the destination that gets the messages instead. */
  readonly to?: string;
  readonly yes?: true;
  /** `--deliveries` of `hooks queue export`: prints whole deliveries instead of bodies. */
  readonly deliveries?: true;
  readonly dryRun?: true;
  /** `--limit` of `hooks queue list`: maximum number of deliveries to print. */
  readonly limit?: number;
}

type Use = (durable: DurableQueue) => Promise<ExitCode>;

/** Opens the queue like withAnyQueue, to read it. Notes that it belongs to another config. */
export function withQueue(options: QueueOptions, io: Io, use: Use): Promise<ExitCode> {
  return withAnyQueue(options, io, async (durable) => {
    const error = await ownershipError(durable, options, io);
    if (error !== undefined && !options.quiet) io.note(`note: ${error.message}`);
    return use(durable);
  });
}

/**
 * Opens the queue like withAnyQueue, to change its deliveries. Throws ConfigError if it belongs to another config, because
 * that project may be waiting for them.
 */
export function withOwnQueue(options: QueueOptions, io: Io, use: Use): Promise<ExitCode> {
  return withAnyQueue(options, io, async (durable) => {
    const error = await ownershipError(durable, options, io);
    if (error !== undefined) throw error;
    return use(durable);
  });
}

/**
 * The error for a queue of the data folder that belongs to another config. A store that is named belongs to all configs, and
 * a command without a config takes no queue for its own, as an operator in the data folder.
 */
async function ownershipError(
  { file, place }: DurableQueue,
  options: QueueOptions,
  io: Io,
): Promise<ConfigError | undefined> {
  const settings = await commandSettings(options, io);
  const hasOwn = settings.configPath !== undefined && namedStore(options, settings) === undefined;
  if (file === undefined || !hasOwn) return undefined;
  return foreignQueueError(place, await file.boundConfig(), settings);
}

/**
 * Opens the queue, and closes it when `use` settles. Returns the exit code of `use`, or 130 after Ctrl-C. Throws QueueError
 * if the queue does not exist.
 */
export async function withAnyQueue(options: QueueOptions, io: Io, use: Use): Promise<ExitCode> {
  const durable = await openQueue(options, await commandSettings(options, io), { create: false, io });
  try {
    const code = await use(durable);
    return interruptedCode(io) ?? code;
  } finally {
    await durable.close();
  }
}

/** Returns the file of the queue. Throws ConfigError if the queue is on a server. */
export function requireFile(
  { file, place }: DurableQueue,
  { purpose, hint }: { readonly purpose: string; readonly hint: string },
): NonNullable<DurableQueue['file']> {
  if (file !== undefined) return file;
  throw flagError('--store', `Expected \`--store\` to be a file to ${purpose}, got ${place}`, hint);
}

interface Output {
  readonly options: QueueOptions;
  readonly io: Io;
}

/** Shows a progress bar on a terminal until `act` settles. */
export async function withProgress<T>(
  label: string,
  { options, io }: Output,
  act: (progress: ProgressBar) => Promise<T>,
): Promise<T> {
  const shown = options.output === 'text' && options.quiet !== true;
  const progress = createProgress(io, { label, shown, unit: 'deliveries' });
  try {
    return await act(progress);
  } finally {
    progress.stop();
  }
}

/** Prints a result: `fields` as a JSON line with `-o json`, otherwise `text` wrapped to the terminal. */
export function writeResult(
  { fields, text }: { readonly fields: object; readonly text: string },
  { options, io }: { readonly options: Pick<QueueOptions, 'output'>; readonly io: Io },
): void {
  io.out(options.output === 'json' ? jsonLine(fields) : fitText(`${text}\n`, io.stdoutColumns));
}
