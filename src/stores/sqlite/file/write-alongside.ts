import type { Sql, Store } from './store.ts';

/**
 * Writes in the transaction of what is being stored over the same store: both or neither. To be called in the turn of the
 * event loop in which that was begun.
 */
export async function writeAlongside(
  store: Store,
  stored: Promise<unknown>,
  work: (sql: Sql) => void,
): Promise<void> {
  // Refused before it came to the store, it shares no transaction that could fail.
  let isRefused = false;
  stored.catch(() => {
    isRefused = true;
  });
  await store.write(
    (sql) => {
      if (!isRefused) work(sql);
    },
    { adds: true },
  );
  await stored;
}
