import type { AttemptRecord } from '../../../attempt-record.ts';
import { isoTime } from '../../../clock.ts';
import { formatCount } from '../../../message/limits.ts';
import type { Delivery } from '../../../queue/delivery.ts';
import type { LaneStats, QueueInspection } from '../../../queue/inspection.ts';
import type { LaneId } from '../../../queue/queue.ts';
import { printable } from '../../../redact.ts';
import { ExitCode } from '../../exit-code.ts';
import type { Io } from '../../io.ts';
import { jsonLine } from '../../json-line.ts';
import { formatTable, type Cell } from '../../print/table.ts';
import { dueText, laneText } from './delivery-line.ts';
import { isNarrowed, select, STATES, type SelectionFlags } from './selection.ts';
import { withQueue, type QueueOptions } from './run.ts';

const ZERO = { pending: 0, sending: 0, retrying: 0, delivered: 0, dead: 0 };

/** Last deliveries to examine per destination: enough to notice a webhook that is down, and read in a few milliseconds. */
const LOOKED_AT = 1_000;

/** Runs `hooks queue stats`. */
export function showStats(options: QueueOptions, io: Io): Promise<ExitCode> {
  return withQueue(options, io, async ({ inspection, place }) => {
    const isSelection = isNarrowed(options);
    const counter = new MissedCounter();
    const lanes = isSelection ? await countSelected(inspection, options, counter) : await inspection.stats();
    if (!isSelection) {
      for (const each of await inspection.lastDelivered(LOOKED_AT)) counter.add(each, each.attempts);
    }
    const { missed } = counter;
    const total = Object.fromEntries(
      STATES.map((state) => [state, lanes.reduce((sum, lane) => sum + lane[state], 0)]),
    );
    if (options.output === 'json') {
      for (const lane of lanes) io.out(jsonLine(statsJson(lane, missed)));
      io.out(jsonLine({ total, store: place }));
      return ExitCode.ok;
    }
    if (lanes.length === 0) io.note(`Nothing is in ${place}`);
    else io.out(statsTable(lanes, io) + missedTable(missed, { io, isSelection }));
    return ExitCode.ok;
  });
}

function statsJson({ nextDueAt, ...lane }: LaneStats, all: readonly MissedAttempts[]): object {
  const { source, destination } = lane;
  const missed = all.filter((each) => each.source === source && each.destination === destination);
  return {
    ...lane,
    ...(nextDueAt !== undefined && { nextDueAt: isoTime(nextDueAt) }),
    ...(missed.length > 0 && { missed: Object.fromEntries(missed.map(({ url, count }) => [url, count])) }),
  };
}

function statsTable(lanes: readonly LaneStats[], { color, stdoutColumns: columns }: Io): string {
  const now = Date.now();
  const heads = ['SOURCE → DESTINATION', ...STATES.map((state) => state.toUpperCase()), 'NEXT DUE'];
  const rows = lanes.map((lane) => [
    { text: laneText(lane) },
    ...STATES.map((state): Cell => ({ text: formatCount(lane[state]), align: 'end' })),
    { text: lane.nextDueAt === undefined ? '' : dueText(lane.nextDueAt - now) },
  ]);
  return formatTable([heads.map((text) => ({ text, paint: color.bold })), ...rows], { columns });
}

/**
 * Formats the webhooks that fail while other webhooks accept the same deliveries. Without this table, such failures are
 * hidden by the strategies broadcast and fallback.
 */
function missedTable(
  missed: readonly MissedAttempts[],
  { io, isSelection }: { readonly io: Io; readonly isSelection: boolean },
): string {
  if (missed.length === 0) return '';
  const { color, stdoutColumns: columns } = io;
  const heads = ['FAILED', 'BESIDE A SUCCESS', 'AT'].map((text) => ({ text, paint: color.bold }));
  const rows = missed.map(({ url, count, ...lane }) => [
    { text: formatCount(count), align: 'end' as const },
    { text: laneText(lane) },
    { text: printable(url, 2_000), shortest: 20 },
  ]);
  const of = isSelection ? '' : `, of the last ${formatCount(LOOKED_AT)} delivered`;
  io.note(
    `note: a webhook failed where another succeeded${of}. If each must get every message, use two destinations`,
  );
  return `\n${formatTable([heads, ...rows], { columns })}`;
}

/** Counts the selected deliveries by reading each one. Adds the failed attempts of delivered ones to `missed`. */
async function countSelected(
  inspection: QueueInspection,
  flags: SelectionFlags,
  missed: MissedCounter,
): Promise<readonly LaneStats[]> {
  const lanes = new Map<string, LaneStats>();
  for await (const page of select(inspection, flags, { states: STATES })) {
    for (const delivery of page) {
      const key = JSON.stringify([delivery.source, delivery.destination]);
      lanes.set(key, withOne(lanes.get(key), delivery));
      if (delivery.state === 'delivered') missed.add(delivery, delivery.progress.attempts);
    }
  }
  return [...lanes.entries()].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, lane]) => lane);
}

function withOne(lane: LaneStats | undefined, { source, destination, state, dueAt }: Delivery): LaneStats {
  const counted = { ...ZERO, source, destination, ...lane };
  const waits = state === 'pending' || state === 'retrying';
  return {
    ...counted,
    [state]: counted[state] + 1,
    ...(waits && { nextDueAt: Math.min(dueAt, lane?.nextDueAt ?? Infinity) }),
  };
}

/** Failed attempts of a webhook in deliveries that count as delivered because another webhook accepted them. */
interface MissedAttempts extends LaneId {
  /** The webhook's URL without secrets. */
  readonly url: string;
  readonly count: number;
}

/** Counts the failed attempts in successful deliveries by webhook. */
class MissedCounter {
  readonly #missed = new Map<string, MissedAttempts>();

  add({ source, destination }: LaneId, attempts: readonly AttemptRecord[]): void {
    if (attempts.length < 2) return;
    const takers = new Set(
      attempts.flatMap(({ webhook = 1, result }) => (result === 'delivered' ? [webhook] : [])),
    );
    for (const { url, webhook = 1 } of attempts) {
      if (takers.has(webhook)) continue;
      const key = JSON.stringify([source, destination, url]);
      const count = (this.#missed.get(key)?.count ?? 0) + 1;
      this.#missed.set(key, { source, destination, url, count });
    }
  }

  /** The failed attempts per webhook, highest count first. */
  get missed(): readonly MissedAttempts[] {
    return [...this.#missed.values()].toSorted((one, other) => other.count - one.count);
  }
}
