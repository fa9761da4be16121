import type { DropResult, DueResult, QueueInspection, RetryResult } from '../../../queue/inspection.ts';
import type { DeliveryState } from '../../../queue/delivery.ts';
import { printable } from '../../../redact.ts';
import { flagError } from '../../flags/flag-values.ts';
import { noteUndelivered } from '../../flags/delivery/queue-flags.ts';
import { ExitCode } from '../../exit-code.ts';
import type { Io } from '../../io.ts';
import { jsonLine } from '../../json-line.ts';
import { askFirst, quantityText, DEAD_LETTERS } from './confirm.ts';
import { fullIds } from './full-ids.ts';
import { isNarrowed, select } from './selection.ts';
import { withProgress, withQueue, writeResult, type QueueOptions } from './run.ts';

type ChangeResult = RetryResult | DropResult | DueResult;
type Done = 'retried' | 'dropped' | 'due';

/** Explains why a delivery was not changed, and what to do. */
const UNCHANGED: Readonly<Record<Exclude<ChangeResult, Done>, string>> = {
  unknown: 'there is no such delivery (hooks queue list shows their ids)',
  delivered: 'it is already delivered; hooks queue show prints its body, to send it again',
  waiting: 'it is not a dead letter: it is waiting, and will be delivered',
  invalid: 'the message is invalid, so no attempt can succeed: correct it and send it again',
  damaged: 'the stored body is damaged, and is not sent; hooks queue show prints the rest of it',
  sending: 'it is in flight; try again when it is settled',
  dead: 'it is a dead letter: hooks queue retry without --now delivers it again',
};

/** Runs `hooks queue retry`. */
export function retryDeliveries(ids: readonly string[], options: QueueOptions, io: Io): Promise<ExitCode> {
  const { now = false } = options;
  if (!now || ids.length > 0) rejectIdsWithAll(ids, options);
  if (now && options.all && !options.quiet) {
    io.note('note: --now skips dead letters; hooks queue retry --all delivers dead letters again');
  }
  return withQueue(options, io, async (durable) => {
    const { inspection } = durable;
    const change = (some: readonly string[]): Promise<readonly (RetryResult | DueResult)[]> =>
      now ? inspection.makeDue(some) : inspection.retry(some);
    const done = now ? 'due' : 'retried';
    if (!options.quiet && !options.dryRun) await noteUndelivered(durable, io);
    if (ids.length > 0) return changeNamed(ids, { inspection, change, done, options, io });
    const states = now ? WAITING : DEAD;
    return changeSelected({ inspection, change, done, options, io, states, isAsked: !now });
  });
}

/** Throws ConfigError unless either ids or `--all` are given. */
export function rejectIdsWithAll(ids: readonly string[], options: QueueOptions): void {
  const { all, state } = options;
  if (ids.length > 0 ? !all && state === undefined && !isNarrowed(options) : all) return;
  const got = ids.length === 0 ? 'neither' : all ? 'both' : 'ids with a selection';
  const sentence = `Expected the ids of deliveries, or \`--all\`, got ${got}`;
  throw flagError('--all', sentence, 'run hooks queue list --state dead to see dead letters');
}

/** Prints the result of --dry-run, which changes no delivery. */
export function writeWouldChange(
  count: number,
  done: Done | 'removed',
  options: QueueOptions,
  io: Io,
): ExitCode {
  const fields = { [done === 'removed' ? 'dropped' : done]: 0, selected: count };
  writeResult({ fields, text: `${count} would be ${done}` }, { options, io });
  return ExitCode.ok;
}

export type ChangeCounts = Record<string, number>;

export function countResult(counts: ChangeCounts, result: ChangeResult): void {
  counts[result] = (counts[result] ?? 0) + 1;
}

interface DeliveryChange {
  readonly inspection: QueueInspection;
  readonly change: (ids: readonly string[]) => Promise<readonly ChangeResult[]>;
  readonly done: Done;
  readonly options: QueueOptions;
  readonly io: Io;
}

/**
 * Changes named deliveries, and prints a line for each. Returns 1 if a delivery was not changed, and 2 if an id to drop is
 * unknown, like `hooks queue show`.
 */
export async function changeNamed(
  named: readonly string[],
  { inspection, change, done, options, io }: DeliveryChange,
): Promise<ExitCode> {
  const ids = [...new Set(await fullIds(inspection, named))];
  if (options.dryRun) return writeWouldChange(ids.length, done, options, io);
  const results = await change(ids);
  for (const [index, id] of ids.entries()) {
    const result = results[index] ?? 'unknown';
    const reason = isDone(result) ? undefined : UNCHANGED[result];
    if (options.output === 'json') {
      io.out(jsonLine({ id, result, ...(reason !== undefined && { refusal: reason }) }));
    } else if (reason === undefined && !options.quiet) io.out(`${result} ${printable(id, 80)}\n`);
    else if (reason !== undefined) {
      io.note(`${io.errColor.red('unchanged:')} ${printable(id, 80)}: ${reason}`);
    }
  }
  if (done === 'dropped' && results.includes('unknown')) return ExitCode.unusable;
  return results.every((result) => result === done) ? ExitCode.ok : ExitCode.negative;
}

function isDone(result: ChangeResult): result is Done {
  return result === 'retried' || result === 'dropped' || result === 'due';
}

interface SelectedChange extends DeliveryChange {
  readonly states: readonly DeliveryState[];
  /** Whether a user at a terminal must confirm before any delivery is changed. */
  readonly isAsked: boolean;
}

function retryQuestion(count: number): string {
  return `Deliver ${quantityText(count, DEAD_LETTERS)} again?`;
}

/** Results of dead letters that no retry can deliver. The others have left the selection meanwhile. */
const UNDELIVERABLE = ['invalid', 'damaged'] as const satisfies readonly RetryResult[];

/**
 * Changes all selected deliveries, and prints counts. Returns 1, with a reason for each kind, if some of them cannot be
 * delivered.
 */
async function changeSelected({
  inspection,
  change,
  done,
  options,
  io,
  states,
  isAsked,
}: SelectedChange): Promise<ExitCode> {
  const counts: ChangeCounts = { [done]: 0 };
  const ids = await selectedIds(inspection, { ...options, state: states }, io);
  if (options.dryRun) return writeWouldChange(ids.length, done, options, io);
  const declined = isAsked
    ? await askFirst({ count: () => ids.length, text: retryQuestion }, options, io)
    : undefined;
  if (declined !== undefined) return declined;
  await withProgress(done, { options, io }, async (progress) => {
    for (let at = 0; at < ids.length && !io.signal.aborted; at += CHANGED_AT_ONCE) {
      for (const result of await change(ids.slice(at, at + CHANGED_AT_ONCE))) countResult(counts, result);
      progress.update(Math.min(at + CHANGED_AT_ONCE, ids.length), ids.length);
    }
  });
  writeCounts(counts, options, io);
  const left = UNDELIVERABLE.filter((result) => (counts[result] ?? 0) > 0);
  for (const result of left) {
    const what = quantityText(counts[result] ?? 0, DEAD_LETTERS);
    const selection = `--filter reason!=${result} selects the others`;
    io.note(`${io.errColor.red('unchanged:')} ${what}: ${UNCHANGED[result]}; ${selection}`);
  }
  return left.length === 0 ? ExitCode.ok : ExitCode.negative;
}

export function writeCounts(counts: ChangeCounts, options: QueueOptions, io: Io): void {
  const texts = Object.entries(counts).map(([result, count]) => `${result} ${count}`);
  io.out(options.output === 'json' ? jsonLine(counts) : `${texts.join(', ')}\n`);
}

const DEAD = ['dead'] as const;
/** States in which a delivery waits, so that `--now` can make it due. A delivery in flight does not wait. */
const WAITING = ['pending', 'retrying'] as const;
/** Deliveries per transaction, so that the disk is synced once for all of them. */
export const CHANGED_AT_ONCE = 1_000;

/**
 * Collects all ids before the first change, because a retried dead letter may be dead again before the last page is read.
 */
async function selectedIds(
  inspection: QueueInspection,
  options: QueueOptions,
  { signal }: Io,
): Promise<readonly string[]> {
  const ids: string[] = [];
  const pages = { states: DEAD, pageSize: CHANGED_AT_ONCE, toChange: options.dryRun !== true };
  for await (const page of select(inspection, options, pages)) {
    if (signal.aborted) break;
    ids.push(...page.map(({ id }) => id));
  }
  return ids;
}
