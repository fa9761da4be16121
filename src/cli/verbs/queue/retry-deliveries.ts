import { blockedDueResult, blockedRetryResult } from '../../../queue/inspection.ts';
import type { Delivery, DeliveryState } from '../../../queue/delivery.ts';
import type { DurableQueue } from '../../../stores/opened-queue.ts';
import { flagError } from '../../flags/flag-values.ts';
import { noteUndelivered } from '../../flags/delivery/queue-flags.ts';
import { commandSettings } from '../../flags/delivery/settings.ts';
import { ExitCode } from '../../exit-code.ts';
import type { Io } from '../../io.ts';
import {
  changeNamed,
  CHANGED_AT_ONCE,
  countResult,
  isLeft,
  rejectIdsWithAll,
  UNCHANGED,
  writeCounts,
  writeWouldChange,
  type ChangeCounts,
  type ChangeResult,
  type DeliveryChange,
} from './change-deliveries.ts';
import { askFirst, quantityText, DEAD_LETTERS } from './confirm.ts';
import { select } from './selection.ts';
import { withProgress, withOwnQueue, type QueueOptions } from './run.ts';

/** Runs `hooks queue retry`. */
export function retryDeliveries(ids: readonly string[], options: QueueOptions, io: Io): Promise<ExitCode> {
  const { now = false, to } = options;
  if (!now || ids.length > 0) rejectIdsWithAll(ids, options);
  if (now && to !== undefined) {
    const hint = '--to moves dead letters; a delivery that waits stays at its destination';
    throw flagError('--to', '`--to` and `--now` cannot be given together', hint);
  }
  if (now && options.all && !options.quiet) {
    io.note('note: --now skips dead letters; hooks queue retry --all delivers dead letters again');
  }
  return withOwnQueue(options, io, async (durable) => {
    const change = { ...(await changeOf(durable, options, io)), inspection: durable.inspection, options, io };
    if (!options.quiet && !options.dryRun) await noteUndelivered(durable, io);
    if (ids.length > 0) return changeNamed(ids, change);
    return changeSelected({ ...change, states: now ? WAITING : DEAD, isAsked: !now });
  });
}

async function changeOf(
  durable: DurableQueue,
  options: QueueOptions,
  io: Io,
): Promise<Pick<DeliveryChange, 'predict' | 'change' | 'done'>> {
  const { inspection } = durable;
  if (options.now) {
    return {
      predict: async (deliveries) =>
        deliveries.map((each) => (each === undefined ? 'unknown' : (blockedDueResult(each) ?? 'due'))),
      change: (some) => inspection.makeDue(some),
      done: 'due',
    };
  }
  const predict = (deliveries: readonly (Delivery | undefined)[]) => predictRetries(durable, deliveries);
  if (options.to === undefined) {
    const { goneCheck } = await import('./transfer/gone-destinations.ts');
    const isGone = goneCheck(await commandSettings(options, io));
    return {
      predict: async (deliveries) =>
        (await predict(deliveries)).map((result, index) => {
          const delivery = deliveries[index];
          return result === 'retried' && delivery !== undefined && isGone(delivery) ? 'gone' : result;
        }),
      change: (some) => inspection.retry(some),
      done: 'retried',
    };
  }
  const { retryElsewhere } = await import('./transfer/retry-elsewhere.ts');
  return { ...(await retryElsewhere(durable, options.to, { options, io, predict })), done: 'retried' };
}

/**
 * Predicts the results of retrying dead letters. A message that violated the plan is not remembered as seen until the client
 * sends it again and it is accepted: a retry would then deliver it a second time. Other dead letters were accepted, so that a
 * client cannot send them again.
 */
async function predictRetries(
  { seen }: DurableQueue,
  deliveries: readonly (Delivery | undefined)[],
): Promise<readonly ChangeResult[]> {
  const unplanned = deliveries.flatMap((each) => (each?.reason === 'unplanned' ? each : []));
  const accepted = new Map<string, ReadonlySet<string>>();
  for (const source of new Set(unplanned.map((each) => each.source))) {
    const ids = unplanned.flatMap((each) => (each.source === source ? each.messageId : []));
    accepted.set(source, await seen.among(source, ids));
  }
  return deliveries.map((delivery) => {
    if (delivery === undefined) return 'unknown';
    const { source, messageId, reason } = delivery;
    const isResent = reason === 'unplanned' && accepted.get(source)?.has(messageId) === true;
    return blockedRetryResult(delivery) ?? (isResent ? 'resent' : 'retried');
  });
}

interface SelectedChange extends DeliveryChange {
  readonly states: readonly DeliveryState[];
  /** Whether a user at a terminal must confirm before any delivery is changed. */
  readonly isAsked: boolean;
}

function retryQuestion(count: number): string {
  return `Deliver ${quantityText(count, DEAD_LETTERS)} again?`;
}

/** Results of dead letters that stay as they are. `hasFailed`: no retry can deliver the dead letter. */
const STAYING = [
  { result: 'invalid', hasFailed: true },
  { result: 'damaged', hasFailed: true },
  { result: 'deletion', hasFailed: true },
  { result: 'gone', hasFailed: true },
  { result: 'resent', hasFailed: false },
] as const satisfies readonly { readonly result: ChangeResult; readonly hasFailed: boolean }[];

/**
 * Changes all selected deliveries, and prints counts. Returns 1, with a reason for each kind, if some of them cannot be
 * delivered.
 */
async function changeSelected(change: SelectedChange): Promise<ExitCode> {
  const { done, options, io, isAsked } = change;
  const { ids, counts: predicted } = await selectedIds(change);
  if (options.dryRun) {
    writeWouldChange(predicted, done, { options, io });
    noteStaying(predicted, io);
    return ExitCode.ok;
  }
  const declined = isAsked
    ? await askFirst({ count: () => ids.length, text: retryQuestion }, options, io)
    : undefined;
  if (declined !== undefined) return declined;
  const left = Object.entries(predicted).filter(([result]) => isLeft(result as ChangeResult)); // its keys are results
  const counts: ChangeCounts = { [done]: 0, ...Object.fromEntries(left) };
  await withProgress(done, { options, io }, async (progress) => {
    for (let at = 0; at < ids.length && !io.signal.aborted; at += CHANGED_AT_ONCE) {
      const results = await change.change(ids.slice(at, at + CHANGED_AT_ONCE));
      for (const result of results) countResult(counts, result);
      progress.update(Math.min(at + CHANGED_AT_ONCE, ids.length), ids.length);
    }
  });
  writeCounts(counts, options, io);
  noteStaying(counts, io);
  const hasFailed = STAYING.some((each) => each.hasFailed && (counts[each.result] ?? 0) > 0);
  return hasFailed ? ExitCode.negative : ExitCode.ok;
}

function noteStaying(counts: ChangeCounts, io: Io): void {
  for (const { result } of STAYING) {
    const count = counts[result] ?? 0;
    if (count === 0) continue;
    const others = ['invalid', 'damaged'].includes(result)
      ? `; --filter reason!=${result} selects the others`
      : '';
    const what = quantityText(count, DEAD_LETTERS);
    io.note(`${io.errColor.red('unchanged:')} ${what}: ${UNCHANGED[result]}${others}`);
  }
}

const DEAD = ['dead'] as const;
/** States in which a delivery waits, so that `--now` can make it due. A delivery in flight does not wait. */
const WAITING = ['pending', 'retrying'] as const;

interface Selected {
  /** The deliveries to change. */
  readonly ids: readonly string[];
  /** Predicted results of all selected deliveries. */
  readonly counts: ChangeCounts;
}

/**
 * Collects all ids before the first change, because a retried dead letter may be dead again before the last page is read.
 */
async function selectedIds({
  inspection,
  predict,
  done,
  options,
  states,
  io,
}: SelectedChange): Promise<Selected> {
  const ids: string[] = [];
  const counts: ChangeCounts = { [done]: 0 };
  const pages = { states: DEAD, pageSize: CHANGED_AT_ONCE, toChange: options.dryRun !== true };
  for await (const page of select(inspection, { ...options, state: states }, pages)) {
    if (io.signal.aborted) break;
    const predicted = await predict(page);
    for (const result of predicted) countResult(counts, result);
    ids.push(...page.flatMap(({ id }, index) => (isLeft(predicted[index]) ? [] : id)));
  }
  return { ids, counts };
}
