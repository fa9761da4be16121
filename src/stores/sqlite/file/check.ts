import type { Clock } from '../../../clock.ts';
import type { Store } from './store.ts';

/** Rejects with QueueError when nothing could be stored. A true write, since a full disk can still be read; it leaves one row. */
export function checkStore(store: Store, clock: Clock): Promise<void> {
  return store.write((sql) => {
    sql(
      'INSERT INTO store_checks VALUES (1, ?) ON CONFLICT DO UPDATE SET checked_at = excluded.checked_at',
    ).run(Math.floor(clock.now()));
  });
}
