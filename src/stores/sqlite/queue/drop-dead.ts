import type { DeadDropping } from '../../../queue/inspection.ts';
import type { Sql, Store } from '../file/store.ts';

/** Looked at in one transaction: few enough that a process that delivers does not wait long for it. */
const STEP = 500;

interface Step {
  readonly dropped: number;
  /** The seq to go on after. Undefined: there is no more. */
  readonly last: number | undefined;
}

/** Removes dead letters as QueueFile says. Does not wait for the disk: what a power cut brings back, the next run drops. */
export async function dropDead(store: Store, { since, goesOn, onDropped }: DeadDropping): Promise<void> {
  let [dropped, last]: [number, number | undefined] = [0, 0];
  while (last !== undefined && goesOn()) {
    const after: number = last;
    const step = await store.write((sql) => dropStep(sql, since, after), { survives: 'exit' });
    dropped += step.dropped;
    last = step.last;
    onDropped(dropped);
  }
}

function dropStep(sql: Sql, since: number, after: number): Step {
  const rows = sql(DEAD).all(after, STEP);
  const seqs = rows
    .filter(({ type, created_at: createdAt }) => type !== 'delete' && Number(createdAt) >= since)
    .map(({ seq }) => Number(seq));
  sql('DELETE FROM deliveries WHERE seq IN (SELECT value FROM json_each(?))').run(JSON.stringify(seqs));
  return { dropped: seqs.length, last: rows.length === STEP ? Number(rows.at(-1)?.['seq']) : undefined };
}

// By the index of what is not delivered. CROSS JOIN keeps SQLite from going over all deliveries.
const DEAD = `
  SELECT p.seq, d.type, d.created_at FROM progress p CROSS JOIN deliveries d ON d.seq = p.seq
  WHERE p.settled_state IS NOT 'delivered' AND p.settled_state IS 'dead' AND p.seq > ? ORDER BY p.seq LIMIT ?`;
