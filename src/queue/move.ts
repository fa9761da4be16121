import { toMovedDelivery, type Delivery, type DeliveryState } from './delivery.ts';
import type { DropAnswer, QueueInspection } from './inspection.ts';
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

const MOVED: readonly DeliveryState[] = ['pending', 'retrying', 'dead'];
/** In the other queue, one transaction. Fewer would wait for a server more often. */
const PAGE = 1_000;

/**
 * Moves what waits and what is dead to another queue, with what was learned of it, in the order in which it was added. Each
 * is added there before it is dropped here: after a kill in between it is in both, and is moved again, which changes
 * nothing there. One that is claimed here in between stays, and may be delivered twice when others deliver there already.
 */
export async function moveDeliveries({ from, to, signal, onProgress }: MoveOptions): Promise<MoveCounts> {
  let counts: MoveCounts = { waiting: 0, dead: 0, left: await countSending(from) };
  // All ids first, since order keys go by the order of adding, and what is read may change while pages move.
  const ids = await from.ids(MOVED);
  const read = async (at: number): Promise<readonly Delivery[]> => {
    const found = signal.aborted ? [] : await from.getAll(ids.slice(at, at + PAGE));
    return found.filter((each) => each !== undefined).filter(({ state }) => MOVED.includes(state));
  };
  const move = async (deliveries: readonly Delivery[]): Promise<readonly DropAnswer[]> => {
    await to.add(deliveries.map(toMovedDelivery));
    return from.drop(deliveries);
  };
  let page = await read(0);
  for (let at = PAGE; at < ids.length + PAGE && !signal.aborted; at += PAGE) {
    // A server reads the next page while this one is written.
    const [next, answers] = await Promise.all([read(at), move(page)]);
    counts = counted(counts, page, answers);
    onProgress?.(counts);
    page = next;
  }
  return counts;
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
