import type { DurableQueue } from '../../../stores/opened-queue.ts';
import type { DropResult } from '../../../queue/inspection.ts';
import type { Delivery, DeliveryState } from '../../../queue/delivery.ts';
import { recordEnd } from '../../../deletion/request.ts';
import { HooksError } from '../../../errors.ts';
import { flagError } from '../../flags/flag-values.ts';
import { ExitCode } from '../../exit-code.ts';
import type { Io } from '../../io.ts';
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
import { addingTimeOf, isNarrowed, select, selectsDead, UNSETTLED_AND_DEAD } from './selection.ts';
import { withProgress, withOwnQueue, type QueueOptions } from './run.ts';

/** Runs `hooks queue drop`. */
export function dropDeliveries(ids: readonly string[], options: QueueOptions, io: Io): Promise<ExitCode> {
  rejectIdsWithAll(ids, options);
  if (ids.length === 0) return removeDeliveries(options, io, UNSETTLED_AND_DEAD);
  return withOwnQueue(options, io, (durable) =>
    changeNamed(ids, {
      inspection: durable.inspection,
      predict: async (deliveries) => deliveries.map(dropResultOf),
      change: (some) => dropFrom(durable, some, io),
      done: 'dropped',
      options,
      io,
    }),
  );
}

function dropResultOf(delivery: Delivery | undefined): DropResult {
  if (delivery === undefined) return 'unknown';
  return delivery.state === 'sending' ? 'sending' : 'dropped';
}

/** Runs `hooks queue purge`. */
export function purgeDeliveries(options: QueueOptions, io: Io): Promise<ExitCode> {
  if (options.since !== undefined) {
    const hint = 'give --older-than 30d to remove what is older, or --newer-than 30d to remove what is newer';
    throw flagError('--since', '`hooks queue purge` has no `--since`', hint);
  }
  return removeDeliveries(options, io, DEAD);
}

function removeDeliveries(
  options: QueueOptions,
  io: Io,
  states: readonly DeliveryState[],
): Promise<ExitCode> {
  return withOwnQueue(options, io, async (durable) => {
    const done = states === DEAD ? 'removed' : 'dropped';
    if (options.dryRun) {
      const { dropped, waiting } = await countOf(durable, options, states);
      writeWouldChange({ dropped }, 'dropped', { options, io, word: `${done}${waitingText(waiting)}` });
      return ExitCode.ok;
    }
    // `--filter` can select states too, so the deliveries that it selects may not all be dead letters.
    const areDead =
      options.filter === undefined && (options.state ?? states).every((state) => state === 'dead');
    const things = areDead ? DEAD_LETTERS : DELIVERIES;
    let waiting = 0;
    const count = async (): Promise<number> => {
      const counts = await countOf(durable, options, states);
      waiting = counts.waiting;
      return counts.dropped;
    };
    const text = (found: number): string =>
      `Remove ${quantityText(found, things)}${waitingText(waiting)} for good?`;
    const declined = await askFirst({ count, text }, options, io);
    if (declined !== undefined) return declined;
    const counts = await dropSelected({ durable, states, options, io });
    await durable.file?.giveBackSpace(() => !io.signal.aborted);
    writeCounts(counts, options, io);
    return ExitCode.ok;
  });
}

function waitingText(count: number): string {
  return count === 0 ? '' : ` (${count.toLocaleString('en')} of them still waiting to be delivered)`;
}

/** Counts the deliveries that can be removed, and those of them that wait: a delivery in flight stays. */
async function countOf(
  { inspection }: DurableQueue,
  options: QueueOptions,
  states: readonly DeliveryState[],
): Promise<{ readonly dropped: number; readonly waiting: number }> {
  const counts: Record<DeliveryState, number> = {
    pending: 0,
    sending: 0,
    retrying: 0,
    delivered: 0,
    dead: 0,
  };
  if (isNarrowed(options)) {
    for await (const page of select(inspection, options, { states })) {
      for (const { state } of page) counts[state]++;
    }
  } else {
    for (const lane of await inspection.stats()) {
      for (const state of options.state ?? states) counts[state] += lane[state];
    }
  }
  const waiting = counts.pending + counts.retrying;
  return { dropped: waiting + counts.delivered + counts.dead, waiting };
}

interface Dropping {
  readonly durable: DurableQueue;
  /** States of the deliveries to drop if no flag chooses states. */
  readonly states: readonly DeliveryState[];
  readonly options: QueueOptions;
  readonly io: Io;
}

/**
 * Drops deliveries page by page, so that millions need little memory. Dropping does not move later deliveries, so no page is
 * skipped. A queue file drops all dead letters without reading them, in a third of the time.
 */
async function dropSelected({ durable, states, options, io }: Dropping): Promise<ChangeCounts> {
  const counts: ChangeCounts = { dropped: 0 };
  await withProgress('dropped', { options, io }, async (progress) => {
    const showCount = (): void => progress.update(counts['dropped'] ?? 0);
    if (selectsDead(options)) {
      await durable.file?.dropDead({
        ...addingTimeOf(options),
        goesOn: () => !io.signal.aborted,
        onDropped: (count) => {
          counts['dropped'] = count;
          showCount();
        },
      });
    }
    const pages = { states, pageSize: CHANGED_AT_ONCE, toChange: true };
    for await (const page of select(durable.inspection, options, pages)) {
      if (io.signal.aborted) break;
      for (const result of await dropRecorded(durable, page, io)) countResult(counts, result);
      showCount();
    }
  });
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
 * Records each message of a deletion request as failed in its request, then drops the delivery. Records first, because the
 * queue no longer knows a dropped delivery, and again after the drop if a full store rejected the record.
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
    io.note(`Dropped messages are missing from their deletion requests: ${error.message}`);
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
