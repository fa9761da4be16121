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
  /** Number of waiting deliveries that have been moved. */
  readonly waiting: number;
  /** Number of dead letters that have been moved. */
  readonly dead: number;
  /** Number of deliveries that stay in `from`, because they are in flight: the process that delivers them settles them. */
  readonly left: number;
}

const MOVED: readonly DeliveryState[] = ['pending', 'retrying', 'dead'];
/** Deliveries per page, which `to` adds in one transaction. Smaller pages would need more round trips to a server. */
const PAGE = 1_000;

/**
 * Moves waiting deliveries and dead letters to another queue, with their progress, in the order of adding. Each one is added
 * to `to` before it is dropped from `from`. If the process is killed between the two steps, both queues have it; moving it
 * again does not change `to`. A delivery that is claimed in between stays in `from`, and is delivered twice if `to` already
 * delivers.
 */
export async function moveDeliveries({ from, to, signal, onProgress }: MoveOptions): Promise<MoveCounts> {
  let counts: MoveCounts = { waiting: 0, dead: 0, left: await countSending(from) };
  const pages = pagesOf(from, signal);
  let [page, added]: [Deliveries, Deliveries] = [await pages.next(), []];
  while (page.length > 0 || added.length > 0) {
    // The three steps run at the same time, so that a server reads the next page and drops the previous one while `to` adds
    // this page.
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

/** Reads one page of deliveries per call of `next`. An empty page marks the end. */
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
  const moved = deliveries.filter((_, index) => results[index] !== 'sending');
  const deadCount = moved.filter(({ state }) => state === 'dead').length;
  return {
    waiting: waiting + moved.length - deadCount,
    dead: dead + deadCount,
    left: left + deliveries.length - moved.length,
  };
}
