import { ConfigError, HooksError } from '../../errors.ts';
import { recordEnd } from '../../deletion/request.ts';
import type { DurableQueue } from '../../stores/open.ts';
import type { DropAnswer, QueueInspection, RetryAnswer } from '../../queue/inspection.ts';
import type { Delivery } from '../../queue/delivery.ts';
import { printable } from '../../redact.ts';
import { ExitCode } from '../exit-code.ts';
import type { Io } from '../io.ts';
import { jsonLine } from '../print/json-line.ts';
import { createProgress } from '../print/progress.ts';
import { select } from './selection.ts';
import { withQueue, type QueueOptions } from './session.ts';

/** Why nothing was done, and the way out. */
const REFUSALS: Readonly<Record<Exclude<RetryAnswer | DropAnswer, 'retried' | 'dropped'>, string>> = {
  unknown: 'there is no such delivery (hooks queue list shows their ids)',
  delivered: 'it is delivered; hooks queue show shows its body, to send it anew',
  waiting: 'it is no dead letter: it waits, and will be delivered',
  invalid: 'its message is invalid, and no attempt would mend that: correct it and send it anew',
  damaged: 'its stored body is damaged, and what is left of it is not sent; hooks queue show shows that',
  sending: 'it is under way; try again when it is settled',
};

/** `hooks queue retry` */
export function retry(ids: readonly string[], options: QueueOptions, io: Io): Promise<ExitCode> {
  if (ids.length > 0 === (options.all === true)) {
    throw new ConfigError('Expected the ids of dead letters, or `--all`', {
      key: '--all',
      origin: '--all',
      hint: 'hooks queue list --state dead shows them',
    });
  }
  return withQueue(options, io, async ({ inspection }) => {
    const change = (some: readonly string[]): Promise<readonly RetryAnswer[]> => inspection.retry(some);
    if (ids.length === 0) return changeSelected({ inspection, change, done: 'retried', options, io });
    return changeNamed(ids, { change, done: 'retried', options, io });
  });
}

/** `hooks queue drop` */
export function drop(ids: readonly string[], options: QueueOptions, io: Io): Promise<ExitCode> {
  return withQueue(options, io, (durable) =>
    changeNamed(ids, { change: (some) => dropFrom(durable, some, io), done: 'dropped', options, io }),
  );
}

/** `hooks queue purge` */
export function purge(options: QueueOptions, io: Io): Promise<ExitCode> {
  return withQueue(options, io, async (durable) => {
    const counts = await dropSelected(durable, options, io);
    await durable.file?.giveBackSpace(() => !io.signal.aborted);
    writeCounts(counts, options, io);
    return ExitCode.ok;
  });
}

/** As it is read: dropping changes the place of nothing that comes after, and millions need no memory. */
async function dropSelected(durable: DurableQueue, options: QueueOptions, io: Io): Promise<Counts> {
  const counts: Counts = { dropped: 0 };
  const shown = options.output === 'text' && options.quiet !== true;
  const progress = await createProgress(io, { label: 'dropped', shown, unit: 'deliveries' });
  try {
    const selected = select(durable.inspection, options, { states: DEAD, pageSize: DROPPED_AT_ONCE });
    for await (const page of selected) {
      if (io.signal.aborted) break;
      for (const answer of await dropRecorded(durable, page, io)) addTo(counts, answer);
      progress.update(counts['dropped'] ?? 0);
    }
  } finally {
    progress.stop();
  }
  return counts;
}

/** In one transaction, for which the disk is waited for once. */
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
 * Records a message of a deletion request as failed there, then drops it: afterwards the queue knows nothing of it. A store
 * that is full takes that record only when there is room again.
 */
async function dropRecorded(
  { inspection, deletions }: Pick<DurableQueue, 'inspection' | 'deletions'>,
  deliveries: readonly Delivery[],
  io: Io,
): Promise<readonly DropAnswer[]> {
  const record = (): Promise<unknown> => Promise.all(deliveries.map((each) => recordEnd(each, deletions)));
  const failed = await errorOf(record);
  const answers = await inspection.drop(deliveries.map(({ id }) => id));
  const error = failed && (await errorOf(record));
  if (error !== undefined)
    io.note(`Deletion requests do not tell of their messages that were dropped: ${error.message}`);
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

function addTo(counts: Counts, answer: RetryAnswer | DropAnswer): void {
  counts[answer] = (counts[answer] ?? 0) + 1;
}

interface Change {
  readonly change: (ids: readonly string[]) => Promise<readonly (RetryAnswer | DropAnswer)[]>;
  readonly done: 'retried' | 'dropped';
  readonly options: QueueOptions;
  readonly io: Io;
}

/** A line for each. 1 when one of them was refused; 2 when there is none of an id that was to be dropped, as in `hooks queue show`. */
async function changeNamed(
  named: readonly string[],
  { change, done, options, io }: Change,
): Promise<ExitCode> {
  const ids = [...new Set(named)];
  const answers = await change(ids);
  for (const [index, id] of ids.entries()) {
    const result = answers[index] ?? 'unknown';
    const refusal = result === 'retried' || result === 'dropped' ? undefined : REFUSALS[result];
    if (options.output === 'json')
      io.out(jsonLine({ id, result, ...(refusal !== undefined && { refusal }) }));
    else if (refusal === undefined && !options.quiet) io.out(`${result} ${printable(id, 80)}\n`);
    else if (refusal !== undefined)
      io.note(`${io.errColor.red('refused:')} ${printable(id, 80)}: ${refusal}`);
  }
  if (done === 'dropped' && answers.includes('unknown')) return ExitCode.unusable;
  return answers.every((answer) => answer === done) ? ExitCode.ok : ExitCode.negative;
}

/** All dead letters that the flags leave. What cannot be done is counted: nobody asked for that one. */
async function changeSelected({
  inspection,
  change,
  done,
  options,
  io,
}: Change & { readonly inspection: QueueInspection }): Promise<ExitCode> {
  const counts: Counts = { [done]: 0 };
  const ids = await idsOf(inspection, { ...options, state: DEAD }, io);
  for (let at = 0; at < ids.length && !io.signal.aborted; at += CHUNK) {
    for (const answer of await change(ids.slice(at, at + CHUNK))) addTo(counts, answer);
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
/** In one transaction: whoever delivers waits for it. */
const CHUNK = 200;

/** Before anything is changed: a dead letter that is retried may be dead again before the end is reached. */
async function idsOf(
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
