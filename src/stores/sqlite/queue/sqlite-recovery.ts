import type { DamagedFile, KeyStart } from '../damaged-file.ts';
import type { Row } from '../file/sqlite.ts';
import { toMovedDelivery, type Delivery } from '../../../queue/delivery.ts';
import type { Queue } from '../../../queue/queue.ts';
import { readDelivery, SELECT_DELIVERIES } from './sqlite-rows.ts';

/** Counts of the deliveries that a damaged file still mentions. */
export interface RecoveryCounts {
  /** Number of deliveries that were added to the new queue to be delivered. */
  readonly waiting: number;
  /** Number of deliveries that were added to the new queue as dead letters. */
  readonly dead: number;
  /** Number of dead letters in the new queue whose stored body, id or order keys were damaged in the file. */
  readonly damaged: number;
  /** Number of deliveries that were left out of the new queue, because they had been delivered. */
  readonly delivered: number;
  /** Number of deliveries that an index or another table mentions, but that cannot be read. */
  readonly unreadable: number;
}

/** Number of deliveries to add to the new queue at once. */
const PAGE = 500;

/**
 * Adds the readable deliveries of a file to a new queue, in their order. If the progress of a delivery is unreadable, the
 * delivery counts as new: delivering twice is better than never.
 */
export async function recoverDeliveries(from: DamagedFile, to: Pick<Queue, 'add'>): Promise<RecoveryCounts> {
  const counts = { waiting: 0, dead: 0, damaged: 0, delivered: 0, unreadable: 0 };
  let page: Delivery[] = [];
  const add = async (): Promise<void> => {
    await to.add(page);
    page = [];
  };
  for (const seq of seqsIn(from)) {
    const delivery = readFrom(from, seq);
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

/** The keys of all tables that have delivery numbers (`seq`). All are read, because any of them may be partly unreadable. */
const KEYS: readonly (readonly [table: string, start: KeyStart])[] = [
  ['deliveries', { seq: -1 }],
  ['deliveries', { id: '' }],
  ['waiting', { lane: -1, due_at: -1, seq: -1 }],
  ['held', { seq: -1 }],
  ['claims', { seq: -1 }],
  ['progress', { seq: -1 }],
];

/** Returns every delivery number (`seq`) in any table, in ascending order. */
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

/** Empty tables that hide `progress` and `claims`, for deliveries whose rows in these tables are unreadable. */
const WITHOUT_PROGRESS = `
  WITH progress AS (SELECT NULL AS seq, NULL AS due_at, NULL AS settled_state, NULL AS reason, NULL AS detail,
      NULL AS settled_at, NULL AS rounds, NULL AS first_attempt_at, NULL AS attempts, NULL AS rejected_by,
      NULL AS not_before WHERE 0),
    claims AS (SELECT NULL AS seq WHERE 0)`;

function readFrom(from: DamagedFile, seq: number): Delivery | undefined {
  const select = `${SELECT_DELIVERIES} WHERE d.seq = ?`;
  const row = rowOf(from, select, seq) ?? rowOf(from, `${WITHOUT_PROGRESS} ${select}`, seq);
  return row && readDelivery(row);
}

function rowOf(from: DamagedFile, sql: string, seq: number): Row | undefined {
  try {
    return from.row(sql, seq);
  } catch {
    return undefined;
  }
}
