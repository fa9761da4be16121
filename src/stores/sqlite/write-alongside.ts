import type { Sql, Store } from './file/store.ts';

/**
 * Writes in the same transaction as `stored`, a write to the same store: both are committed or neither. Call it in the turn
 * of the event loop in which `stored` began.
 */
export async function writeAlongside(
  store: Store,
  stored: Promise<unknown>,
  work: (sql: Sql) => void,
): Promise<void> {
  // A delivery that is rejected before it reaches the store has no transaction that could fail.
  let isRejected = false;
  stored.catch(() => {
    isRejected = true;
  });
  await store.write(
    (sql) => {
      if (!isRejected) work(sql);
    },
    { adds: true },
  );
  await stored;
}
