import type { Clock } from '../../../clock.ts';
import type { Sql, Store } from './store.ts';

/**
 * Writes in the transaction of what is being stored over the same store: both or neither. Call it in the turn of the
 * event loop in which that began.
 */
export async function writeAlongside(
  store: Store,
  stored: Promise<unknown>,
  work: (sql: Sql) => void,
): Promise<void> {
  // A delivery that is rejected before it reaches the store shares no transaction that could fail.
  let isRejected = false;
  stored.catch(() => {
    isRejected = true;
  });
  await store.write((sql) => {
    if (!isRejected) work(sql);
  });
  await stored;
}

/** Rejects with QueueError when nothing could be stored. A true write, since a full disk can still be read; it leaves one row. */
export function checkStore(store: Store, clock: Clock): Promise<void> {
  return store.write((sql) => {
    sql(
      'INSERT INTO store_checks VALUES (1, ?) ON CONFLICT DO UPDATE SET checked_at = excluded.checked_at',
    ).run(Math.floor(clock.now()));
  });
}
