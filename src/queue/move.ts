import { toNewDelivery, type Delivery, type DeliveryState } from './delivery.ts';
import type { QueueInspection } from './inspection.ts';
import type { Queue } from './queue.ts';

export interface MoveOptions {
  readonly from: QueueInspection;
  readonly to: Pick<Queue, 'add'>;
  readonly signal: AbortSignal;
  readonly onProgress?: (counts: MoveCounts) => void;
}

export interface MoveCounts {
  /** Waiting deliveries that are in the other queue now, and no longer in this one. */
  readonly waiting: number;
  /** Dead letters, likewise. */
  readonly dead: number;
  /** In flight: they stay, until the process that delivers them has settled them. */
  readonly left: number;
}

interface MovedDelivery {
  readonly id: string;
  readonly createdAt: number;
}

const MOVED: readonly DeliveryState[] = ['pending', 'retrying', 'dead'];
const PAGE = 500;

/**
 * Moves what waits and what is dead to another queue, with what was learned of it, in the order in which it was added. Each
 * is added there before it is dropped here: after a kill in between it is in both, and is moved again, which changes
 * nothing there. One that is claimed here in between stays, and may be delivered twice when others deliver there already.
 */
export async function moveDeliveries({ from, to, signal, onProgress }: MoveOptions): Promise<MoveCounts> {
  let counts: MoveCounts = { waiting: 0, dead: 0, left: await countSending(from) };
  const places = await deliveriesToMove(from, signal);
  for (let at = 0; at < places.length && !signal.aborted; at += PAGE) {
    const found = await from.getAll(places.slice(at, at + PAGE).map(({ id }) => id));
    const deliveries = found
      .filter((each) => each !== undefined)
      .filter(({ state }) => MOVED.includes(state));
    await to.add(deliveries.map(toNewDelivery));
    const answers = await from.drop(deliveries.map(({ id }) => id));
    counts = counted(counts, deliveries, answers);
    onProgress?.(counts);
  }
  return counts;
}

/** Before anything is moved, since order keys go by the order of adding, which not every queue lists by. */
async function deliveriesToMove(
  from: QueueInspection,
  signal: AbortSignal,
): Promise<readonly MovedDelivery[]> {
  const places: MovedDelivery[] = [];
  let after: number | undefined = 0;
  while (after !== undefined && !signal.aborted) {
    const page = await from.list({ states: MOVED, after, limit: PAGE });
    for (const { id, createdAt } of page.deliveries) places.push({ id, createdAt });
    after = page.next;
  }
  // Of one millisecond, ids that were given out one after the other.
  return places.toSorted((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1));
}

async function countSending(from: QueueInspection): Promise<number> {
  return (await from.stats()).reduce((sum, { sending }) => sum + sending, 0);
}

function counted(
  { waiting, dead, left }: MoveCounts,
  deliveries: readonly Delivery[],
  answers: readonly string[],
): MoveCounts {
  const isDone = deliveries.map((_, index) => answers[index] !== 'sending');
  const of = (isDead: boolean): number =>
    deliveries.filter(({ state }, index) => isDone[index] && (state === 'dead') === isDead).length;
  return {
    waiting: waiting + of(false),
    dead: dead + of(true),
    left: left + isDone.filter((each) => !each).length,
  };
}
