import type { DurableQueue } from '../../../stores/opened-queue.ts';
import type { DropResult } from '../../../queue/inspection.ts';
import type { Delivery, DeliveryState } from '../../../queue/delivery.ts';
import { recordEnd } from '../../../deletion/request.ts';
import { HooksError } from '../../../errors.ts';
import { ExitCode } from '../../exit-code.ts';
import type { Io } from '../../io.ts';
import { createProgress } from '../../print/progress.ts';
import {
  CHANGED_AT_ONCE,
  changeNamed,
  countResult,
  rejectIdsWithAll,
  writeCounts,
  writeWouldChange,
  type ChangeCounts,
} from './change-deliveries.ts';
import { quantityText, DEAD_LETTERS, DELIVERIES, askFirst } from './confirm.ts';
import { select, selectsDead, sinceOf, UNSETTLED_AND_DEAD } from './selection.ts';
import { withQueue, type QueueOptions } from './run.ts';

/** Runs `hooks queue drop`. */
export function dropDeliveries(ids: readonly string[], options: QueueOptions, io: Io): Promise<ExitCode> {
  rejectIdsWithAll(ids, options);
  if (ids.length === 0) return purgeDeliveries(options, io, UNSETTLED_AND_DEAD);
  return withQueue(options, io, (durable) =>
    changeNamed(ids, {
      inspection: durable.inspection,
      change: (some) => dropFrom(durable, some, io),
      done: 'dropped',
      options,
      io,
    }),
  );
}

/** Runs `hooks queue purge`. */
export function purgeDeliveries(
  options: QueueOptions,
  io: Io,
  states: readonly DeliveryState[] = DEAD,
): Promise<ExitCode> {
  return withQueue(options, io, async (durable) => {
    const count = (): Promise<number> => countOf(durable, options, states);
    const done = states === DEAD ? 'removed' : 'dropped';
    if (options.dryRun) return writeWouldChange(await count(), done, options, io);
    // A filter may select by state, too.
    const areDead =
      options.filter === undefined && (options.state ?? states).every((state) => state === 'dead');
    const things = areDead ? DEAD_LETTERS : DELIVERIES;
    const text = (found: number): string => `Remove ${quantityText(found, things)} for good?`;
    const declined = await askFirst({ count, text }, options, io);
    if (declined !== undefined) return declined;
    const counts = await dropSelected({ durable, states, options, io });
    await durable.file?.giveBackSpace(() => !io.signal.aborted);
    writeCounts(counts, options, io);
    return ExitCode.ok;
  });
}

async function countOf(
  { inspection }: DurableQueue,
  options: QueueOptions,
  states: readonly DeliveryState[],
): Promise<number> {
  if (options.filter === undefined && options.since === undefined) {
    const lanes = await inspection.stats();
    return lanes.reduce(
      (sum, lane) => sum + (options.state ?? states).reduce((own, state) => own + lane[state], 0),
      0,
    );
  }
  let count = 0;
  for await (const page of select(inspection, options, { states })) count += page.length;
  return count;
}

interface Dropping {
  readonly durable: DurableQueue;
  /** The states that are removed where no flag says which. */
  readonly states: readonly DeliveryState[];
  readonly options: QueueOptions;
  readonly io: Io;
}

/**
 * Drops page by page as it reads: dropping moves no later delivery, and millions need no memory. A file drops all of its
 * dead letters without reading them, in a third of the time.
 */
async function dropSelected({ durable, states, options, io }: Dropping): Promise<ChangeCounts> {
  const counts: ChangeCounts = { dropped: 0 };
  const shown = options.output === 'text' && options.quiet !== true;
  const progress = createProgress(io, { label: 'dropped', shown, unit: 'deliveries' });
  const showCount = (): void => progress.update(counts['dropped'] ?? 0);
  try {
    if (selectsDead(options)) {
      await durable.file?.dropDead({
        since: sinceOf(options),
        goesOn: () => !io.signal.aborted,
        onDropped: (count) => {
          counts['dropped'] = count;
          showCount();
        },
      });
    }
    const selected = select(durable.inspection, options, {
      states,
      pageSize: CHANGED_AT_ONCE,
      toChange: true,
    });
    for await (const page of selected) {
      if (io.signal.aborted) break;
      for (const result of await dropRecorded(durable, page, io)) countResult(counts, result);
      showCount();
    }
  } finally {
    progress.stop();
  }
  return counts;
}

async function dropFrom(
  durable: DurableQueue,
  ids: readonly string[],
  io: Io,
): Promise<readonly DropResult[]> {
  const found = (await durable.inspection.getAll(ids)).filter((delivery) => delivery !== undefined);
  const results = await dropRecorded(durable, found, io);
  const resultOf = new Map(found.map(({ id }, index) => [id, results[index]]));
  return ids.map((id) => resultOf.get(id) ?? 'unknown');
}

/**
 * Records a message of a deletion request as failed there, then drops it: afterwards the queue no longer knows it. A store
 * that is full takes that record only when there is room again.
 */
async function dropRecorded(
  { inspection, deletions }: Pick<DurableQueue, 'inspection' | 'deletions'>,
  deliveries: readonly Delivery[],
  io: Io,
): Promise<readonly DropResult[]> {
  const record = (): Promise<unknown> => Promise.all(deliveries.map((each) => recordEnd(each, deletions)));
  const failed = await errorOf(record);
  const results = await inspection.drop(deliveries);
  const error = failed && (await errorOf(record));
  if (error !== undefined) {
    io.note(`Deletion requests do not show their messages that were dropped: ${error.message}`);
  }
  return results;
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

const DEAD = ['dead'] as const;
