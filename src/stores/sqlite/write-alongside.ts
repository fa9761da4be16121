import type { Sql, Store } from './file/store.ts';

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
  await store.write(
    (sql) => {
      if (!isRejected) work(sql);
    },
    { adds: true },
  );
  await stored;
}
