import { toMovedDelivery, type Delivery, type DeliveryState } from './delivery.ts';
import type { Cursor, QueueInspection } from './inspection.ts';
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
  const pages = pagesOf(from, signal);
  let [page, added]: [Deliveries, Deliveries] = [await pages.next(), []];
  while (page.length > 0 || added.length > 0) {
    // A server reads the next page and drops the last one while this one is written.
    const [next, , results] = await Promise.all([
      pages.next(),
      to.add(page.map(toMovedDelivery)),
      added.length === 0 ? [] : from.drop(added),
    ]);
    counts = counted(counts, added, results);
    onProgress?.(counts);
    [page, added] = [next, page];
  }
  return counts;
}

type Deliveries = readonly Delivery[];

/** Reads page by page; an empty one is the end. */
function pagesOf(from: QueueInspection, signal: AbortSignal): { readonly next: () => Promise<Deliveries> } {
  let after: Cursor | undefined = 0;
  const next = async (): Promise<Deliveries> => {
    while (after !== undefined && !signal.aborted) {
      const page = await from.list({ states: MOVED, after, limit: PAGE, toChange: true });
      after = page.next;
      if (page.deliveries.length > 0) return page.deliveries;
    }
    return [];
  };
  return { next };
}

async function countSending(from: QueueInspection): Promise<number> {
  return (await from.stats()).reduce((sum, { sending }) => sum + sending, 0);
}

function counted(
  { waiting, dead, left }: MoveCounts,
  deliveries: readonly Delivery[],
  results: readonly string[],
): MoveCounts {
  const isDone = deliveries.map((_, index) => results[index] !== 'sending');
  const of = (isDead: boolean): number =>
    deliveries.filter(({ state }, index) => isDone[index] && (state === 'dead') === isDead).length;
  return {
    waiting: waiting + of(false),
    dead: dead + of(true),
    left: left + isDone.filter((each) => !each).length,
  };
}
