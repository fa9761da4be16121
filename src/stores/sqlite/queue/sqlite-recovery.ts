import type { DamagedFile, KeyStart } from '../damaged-file.ts';
import type { Row } from '../file/sqlite.ts';
import { toMovedDelivery, type Delivery } from '../../../queue/delivery.ts';
import type { Queue } from '../../../queue/queue.ts';
import { readDelivery, SELECT_DELIVERIES } from './sqlite-rows.ts';

/** Where each delivery is that the damaged file still knows of. */
export interface RecoveryCounts {
  /** In the new queue, to be delivered. */
  readonly waiting: number;
  /** In the new queue, as dead letters. */
  readonly dead: number;
  /** How many of these are damaged: what is left of the body is not what was added. */
  readonly damaged: number;
  /** Left out, since it was delivered. */
  readonly delivered: number;
  /** Known by an index or another table, and not to be read. */
  readonly unreadable: number;
}

/** Added in one go. */
const PAGE = 500;

/**
 * Adds what can be read of the deliveries of a file to a new queue, in their order. What says how far one was and cannot be
 * read is taken as if it were new: rather twice than never.
 */
export async function recoverDeliveries(from: DamagedFile, to: Pick<Queue, 'add'>): Promise<RecoveryCounts> {
  const counts = { waiting: 0, dead: 0, damaged: 0, delivered: 0, unreadable: 0 };
  const read = readerOf(from);
  let page: Delivery[] = [];
  const add = async (): Promise<void> => {
    await to.add(page);
    page = [];
  };
  for (const seq of seqsIn(from)) {
    const delivery = read(seq);
    if (delivery === undefined) counts.unreadable++;
    else if (delivery.state === 'delivered') counts.delivered++;
    else {
      const moved = toMovedDelivery(delivery);
      counts[moved.state === 'dead' ? 'dead' : 'waiting']++;
      if (moved.reason === 'damaged') counts.damaged++;
      if (page.push(moved) === PAGE) await add();
    }
  }
  await add();
  return counts;
}

/** Every key that leads to seqs: the pages of one may be lost. */
const KEYS: readonly (readonly [table: string, start: KeyStart])[] = [
  ['deliveries', { seq: -1 }],
  ['deliveries', { id: '' }],
  ['waiting', { lane: -1, due_at: -1, seq: -1 }],
  ['held', { seq: -1 }],
  ['claims', { seq: -1 }],
  ['progress', { seq: -1 }],
];

/** The seqs that any place names. */
function seqsIn(from: DamagedFile): readonly number[] {
  const seqs = new Set<number>();
  for (const [table, start] of KEYS) {
    const columns = ['seq', ...Object.keys(start)].join(', ');
    for (const rows of from.read(table, start, columns)) {
      for (const { seq } of rows ?? []) seqs.add(Number(seq));
    }
  }
  return [...seqs].toSorted((a, b) => a - b);
}

/** Stands in for tables whose pages may be what cannot be read. */
const WITHOUT_PROGRESS = `
  WITH progress AS (SELECT NULL AS seq, NULL AS due_at, NULL AS settled_state, NULL AS reason, NULL AS detail,
      NULL AS settled_at, NULL AS rounds, NULL AS first_attempt_at, NULL AS attempts, NULL AS rejected_by,
      NULL AS not_before WHERE 0),
    claims AS (SELECT NULL AS seq WHERE 0)`;

function readerOf(from: DamagedFile): (seq: number) => Delivery | undefined {
  return (seq) => {
    const row = rowOr(() => from.row(`${SELECT_DELIVERIES} WHERE d.seq = ?`, seq));
    const found =
      row ?? rowOr(() => from.row(`${WITHOUT_PROGRESS} ${SELECT_DELIVERIES} WHERE d.seq = ?`, seq));
    return found && readDelivery(found);
  };
}

function rowOr(read: () => Row | undefined): Row | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
