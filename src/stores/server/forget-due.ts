import { randomBytes } from 'node:crypto';
import type { Series } from './server.ts';

/** Longer than it takes to remove an entry. */
const LOCK_MS = 30_000;

/** Removes at most `limit` due entries of a series whose due time is the end of their retention. */
export async function forgetDue(series: Series, limit: number): Promise<void> {
  const owner = randomBytes(9).toString('base64url');
  for (let count = 0; count < limit; count++) {
    const token = `${owner}-${count}`;
    const { entry } = await series.take(token, LOCK_MS);
    if (entry === undefined) return;
    await series.complete(entry.id, token, { note: '', keepMs: 0 });
  }
}
