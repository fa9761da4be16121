import type { DropResult, DueResult, QueueInspection, RetryResult } from '../../../queue/inspection.ts';
import type { Delivery } from '../../../queue/delivery.ts';
import { printable } from '../../../redact.ts';
import { flagError } from '../../flags/flag-values.ts';
import { ExitCode } from '../../exit-code.ts';
import type { Io } from '../../io.ts';
import { jsonLine } from '../../json-line.ts';
import { fullIds } from './full-ids.ts';
import { isNarrowed } from './selection.ts';
import { writeResult, type QueueOptions } from './run.ts';

/**
 * Result of a change. `resent`: a dead letter whose message the client has sent again, and the queue has accepted.
 * `deletion`: a message of a deletion request, which keeps its destination. `gone`: a delivery that serve and worker would
 * make dead (cancelled) again, because the config does not have its destination.
 */
export type ChangeResult = RetryResult | DropResult | DueResult | 'resent' | 'deletion' | 'gone';
export type Done = 'retried' | 'dropped' | 'due';

/** Explains why a delivery was not changed, and what to do. */
export const UNCHANGED: Readonly<Record<Exclude<ChangeResult, Done>, string>> = {
  unknown: 'there is no such delivery (hooks queue list shows their ids)',
  delivered: 'it is already delivered; hooks queue show prints its body, to send it again',
  waiting: 'it is not a dead letter: it is waiting, and will be delivered',
  invalid: 'the message is invalid, so no attempt can succeed: correct it and send it again',
  damaged: 'the stored body is damaged, and is not sent; hooks queue show prints the rest of it',
  sending: 'it is in flight; try again when it is settled',
  dead: 'it is a dead letter: hooks queue retry without --now delivers it again',
  resent:
    'the client has sent its message again, and it was accepted; hooks queue drop removes the dead letter',
  deletion: 'it belongs to a deletion request, and keeps its destination: run hooks delete again',
  gone: 'this config has no such destination, or it is disabled: hooks queue retry --to NAME delivers to another',
};

/** Throws ConfigError unless either ids or `--all` are given. */
export function rejectIdsWithAll(ids: readonly string[], options: QueueOptions): void {
  const { all, state } = options;
  if (ids.length > 0 ? !all && state === undefined && !isNarrowed(options) : all) return;
  const got = ids.length === 0 ? 'neither' : all ? 'both' : 'ids with a selection';
  const sentence = `Expected the ids of deliveries, or \`--all\`, got ${got}`;
  throw flagError('--all', sentence, 'run hooks queue list --state dead to see dead letters');
}

/**
 * Prints the result of --dry-run, which changes no delivery. `counts` has the predicted results: those of deliveries that
 * would change are in `done`.
 */
export function writeWouldChange(
  counts: ChangeCounts,
  done: Done,
  { options, io, word = done }: DryRun,
): void {
  const { [done]: selected = 0, ...others } = counts;
  const fields = { [done]: 0, selected, ...others };
  writeResult({ fields, text: `${selected} would be ${word}` }, { options, io });
}

interface DryRun {
  readonly options: QueueOptions;
  readonly io: Io;
  /** The word for the change in the text. @default the result */
  readonly word?: string;
}

export type ChangeCounts = Record<string, number>;

export function countResult(counts: ChangeCounts, result: ChangeResult): void {
  counts[result] = (counts[result] ?? 0) + 1;
}

export interface DeliveryChange {
  readonly inspection: QueueInspection;
  /** Returns the result that the change of each delivery would have now. Undefined stands for an unknown delivery. */
  readonly predict: (deliveries: readonly (Delivery | undefined)[]) => Promise<readonly ChangeResult[]>;
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
  { inspection, predict, change, done, options, io }: DeliveryChange,
): Promise<ExitCode> {
  const ids = [...new Set(await fullIds(inspection, named))];
  const predicted = await predict(await inspection.getAll(ids));
  const changed = options.dryRun ? [] : ids.filter((_, index) => !isLeft(predicted[index]));
  const resultOf = new Map((await change(changed)).map((result, index) => [changed[index], result]));
  const results = ids.map((id, index) => resultOf.get(id) ?? predicted[index] ?? 'unknown');
  if (options.dryRun) {
    const counts: ChangeCounts = { [done]: 0 };
    for (const result of results) countResult(counts, result);
    writeWouldChange(counts, done, { options, io });
  }
  for (const [index, id] of ids.entries()) {
    const result = results[index] ?? 'unknown';
    const reason = isDone(result) ? undefined : UNCHANGED[result];
    if (options.dryRun && (options.output === 'json' || reason === undefined)) continue;
    if (options.output === 'json') {
      io.out(jsonLine({ id, result, ...(reason !== undefined && { refusal: reason }) }));
    } else if (reason === undefined && !options.quiet) io.out(`${result} ${printable(id, 80)}\n`);
    else if (reason !== undefined) {
      io.note(`${io.errColor.red('unchanged:')} ${printable(id, 80)}: ${reason}`);
    }
  }
  if (options.dryRun) return ExitCode.ok;
  if (done === 'dropped' && results.includes('unknown')) return ExitCode.unusable;
  return results.every((result) => result === done) ? ExitCode.ok : ExitCode.negative;
}

/** Whether a result is decided before the store is asked: the store would change such a delivery. */
export function isLeft(result: ChangeResult | undefined): boolean {
  return result === 'resent' || result === 'deletion' || result === 'gone';
}

function isDone(result: ChangeResult): result is Done {
  return result === 'retried' || result === 'dropped' || result === 'due';
}

export function writeCounts(counts: ChangeCounts, options: QueueOptions, io: Io): void {
  const texts = Object.entries(counts).map(([result, count]) => `${result} ${count}`);
  io.out(options.output === 'json' ? jsonLine(counts) : `${texts.join(', ')}\n`);
}

/** Deliveries per transaction, so that the disk is synced once for all of them. */
export const CHANGED_AT_ONCE = 1_000;
