import type { Sql, Store } from './file/store.ts';

/**
 * Runs `work` in the transaction of `stored`, an earlier write to the same store: both are committed or neither. Must be
 * called in the turn of the event loop in which `stored` began.
 */
export async function writeAlongside(
  store: Store,
  stored: Promise<unknown>,
  work: (sql: Sql) => void,
): Promise<void> {
  // If the write of `stored` is rejected before it joins the transaction, the transaction does not fail, so `work` must be
  // skipped.
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
