import { ConfigError, HooksError } from '../../errors.ts';
import { recordEnd } from '../../deletion/request.ts';
import type { DurableQueue } from '../../stores/opened-queue.ts';
import type { DropAnswer, QueueInspection, RetryAnswer } from '../../queue/inspection.ts';
import type { Delivery } from '../../queue/delivery.ts';
import { printable } from '../../redact.ts';
import { ExitCode } from '../exit-code.ts';
import type { Io } from '../io.ts';
import { jsonLine } from '../json-line.ts';
import { createProgress } from '../print/progress.ts';
import { select, selectsDead, sinceOf } from './selection.ts';
import { withQueue, type QueueOptions } from './session.ts';

/** Why a delivery was not changed, and what to do. */
const UNCHANGED: Readonly<Record<Exclude<RetryAnswer | DropAnswer, 'retried' | 'dropped'>, string>> = {
  unknown: 'there is no such delivery (hooks queue list shows their ids)',
  delivered: 'it is delivered; hooks queue show shows its body, to send it again',
  waiting: 'it is no dead letter: it waits, and will be delivered',
  invalid: 'its message is invalid, and no attempt can succeed: correct it and send it again',
  damaged: 'its stored body is damaged, and what is left of it is not sent; hooks queue show shows that',
  sending: 'it is in flight; try again when it is settled',
};

/** Runs `hooks queue retry`. */
export function retryDeliveries(ids: readonly string[], options: QueueOptions, io: Io): Promise<ExitCode> {
  if (ids.length > 0 === (options.all === true)) {
    throw new ConfigError('Expected the ids of dead letters, or `--all`', {
      key: '--all',
      origin: '--all',
      hint: 'run hooks queue list --state dead to see them',
    });
  }
  return withQueue(options, io, async ({ inspection }) => {
    const change = (some: readonly string[]): Promise<readonly RetryAnswer[]> => inspection.retry(some);
    if (ids.length === 0) return changeSelected({ inspection, change, done: 'retried', options, io });
    return changeNamed(ids, { change, done: 'retried', options, io });
  });
}

/** Runs `hooks queue drop`. */
export function dropDeliveries(ids: readonly string[], options: QueueOptions, io: Io): Promise<ExitCode> {
  return withQueue(options, io, (durable) =>
    changeNamed(ids, { change: (some) => dropFrom(durable, some, io), done: 'dropped', options, io }),
  );
}

/** Runs `hooks queue purge`. */
export function purgeDeliveries(options: QueueOptions, io: Io): Promise<ExitCode> {
  return withQueue(options, io, async (durable) => {
    const counts = await dropSelected(durable, options, io);
    await durable.file?.giveBackSpace(() => !io.signal.aborted);
    writeCounts(counts, options, io);
    return ExitCode.ok;
  });
}

/**
 * Drops page by page as it reads: dropping moves no later delivery, and millions need no memory. A file drops all of its
 * dead letters without reading them, in a third of the time.
 */
async function dropSelected(durable: DurableQueue, options: QueueOptions, io: Io): Promise<Counts> {
  const counts: Counts = { dropped: 0 };
  const shown = options.output === 'text' && options.quiet !== true;
  const progress = await createProgress(io, { label: 'dropped', shown, unit: 'deliveries' });
  const showCount = (): void => progress.update(counts['dropped'] ?? 0);
  try {
    if (selectsDead(options))
      await durable.file?.dropDead({
        since: sinceOf(options),
        goesOn: () => !io.signal.aborted,
        onDropped: (count) => {
          counts['dropped'] = count;
          showCount();
        },
      });
    const selected = select(durable.inspection, options, { states: DEAD, pageSize: DROPPED_AT_ONCE });
    for await (const page of selected) {
      if (io.signal.aborted) break;
      for (const answer of await dropRecorded(durable, page, io)) countAnswer(counts, answer);
      showCount();
    }
  } finally {
    progress.stop();
  }
  return counts;
}

/** Dropped in one transaction, which waits for the disk once. */
const DROPPED_AT_ONCE = 1_000;

async function dropFrom(
  durable: DurableQueue,
  ids: readonly string[],
  io: Io,
): Promise<readonly DropAnswer[]> {
  const found = (await durable.inspection.getAll(ids)).filter((delivery) => delivery !== undefined);
  const answers = await dropRecorded(durable, found, io);
  const answerOf = new Map(found.map(({ id }, index) => [id, answers[index]]));
  return ids.map((id) => answerOf.get(id) ?? 'unknown');
}

/**
 * Records a message of a deletion request as failed there, then drops it: afterwards the queue no longer knows it. A store
 * that is full takes that record only when there is room again.
 */
async function dropRecorded(
  { inspection, deletions }: Pick<DurableQueue, 'inspection' | 'deletions'>,
  deliveries: readonly Delivery[],
  io: Io,
): Promise<readonly DropAnswer[]> {
  const record = (): Promise<unknown> => Promise.all(deliveries.map((each) => recordEnd(each, deletions)));
  const failed = await errorOf(record);
  const answers = await inspection.drop(deliveries);
  const error = failed && (await errorOf(record));
  if (error !== undefined)
    io.note(`Deletion requests do not show their messages that were dropped: ${error.message}`);
  return answers;
}

async function errorOf(act: () => Promise<unknown>): Promise<HooksError | undefined> {
  try {
    await act();
    return undefined;
  } catch (error) {
    if (error instanceof HooksError) return error;
    throw error;
  }
}

type Counts = Record<string, number>;

function countAnswer(counts: Counts, answer: RetryAnswer | DropAnswer): void {
  counts[answer] = (counts[answer] ?? 0) + 1;
}

interface DeliveryChange {
  readonly change: (ids: readonly string[]) => Promise<readonly (RetryAnswer | DropAnswer)[]>;
  readonly done: 'retried' | 'dropped';
  readonly options: QueueOptions;
  readonly io: Io;
}

/** Changes named deliveries, and prints a line for each. Returns 1 when one was not changed; 2 when an id to drop is unknown, as `hooks queue show` does. */
async function changeNamed(
  named: readonly string[],
  { change, done, options, io }: DeliveryChange,
): Promise<ExitCode> {
  const ids = [...new Set(named)];
  const answers = await change(ids);
  for (const [index, id] of ids.entries()) {
    const result = answers[index] ?? 'unknown';
    const refusal = result === 'retried' || result === 'dropped' ? undefined : UNCHANGED[result];
    if (options.output === 'json')
      io.out(jsonLine({ id, result, ...(refusal !== undefined && { refusal }) }));
    else if (refusal === undefined && !options.quiet) io.out(`${result} ${printable(id, 80)}\n`);
    else if (refusal !== undefined)
      io.note(`${io.errColor.red('unchanged:')} ${printable(id, 80)}: ${refusal}`);
  }
  if (done === 'dropped' && answers.includes('unknown')) return ExitCode.unusable;
  return answers.every((answer) => answer === done) ? ExitCode.ok : ExitCode.negative;
}

/** Changes all dead letters that the flags leave, and prints counts. One that cannot be changed is only counted: it was not named. */
async function changeSelected({
  inspection,
  change,
  done,
  options,
  io,
}: DeliveryChange & { readonly inspection: QueueInspection }): Promise<ExitCode> {
  const counts: Counts = { [done]: 0 };
  const ids = await selectedIds(inspection, { ...options, state: DEAD }, io);
  for (let at = 0; at < ids.length && !io.signal.aborted; at += CHANGED_AT_ONCE) {
    for (const answer of await change(ids.slice(at, at + CHANGED_AT_ONCE))) countAnswer(counts, answer);
  }
  writeCounts(counts, options, io);
  return ExitCode.ok;
}

function writeCounts(counts: Counts, options: QueueOptions, io: Io): void {
  if (options.output === 'json') io.out(jsonLine(counts));
  else
    io.out(
      `${Object.entries(counts)
        .map(([answer, count]) => `${answer} ${count}`)
        .join(', ')}\n`,
    );
}

const DEAD = ['dead'] as const;
/** Changed in one transaction: a process that delivers waits for it. */
const CHANGED_AT_ONCE = 200;

/** Collects all ids before a change: a dead letter that is retried may be dead again before the last page is read. */
async function selectedIds(
  inspection: QueueInspection,
  options: QueueOptions,
  { signal }: Io,
): Promise<readonly string[]> {
  const ids: string[] = [];
  for await (const page of select(inspection, options, { states: DEAD })) {
    if (signal.aborted) break;
    ids.push(...page.map(({ id }) => id));
  }
  return ids;
}
