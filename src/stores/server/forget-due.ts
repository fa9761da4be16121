import { randomBytes } from 'node:crypto';
import type { Series } from './server.ts';

/** An entry is removed in less. */
const LOCK_MS = 30_000;

/** Removes some of those entries of a series that fall due when they are to be forgotten. */
export async function forgetDue(series: Series, limit: number): Promise<void> {
  const owner = randomBytes(9).toString('base64url');
  for (let count = 0; count < limit; count++) {
    const token = `${owner}-${count}`;
    const { entry } = await series.take(token, LOCK_MS);
    if (entry === undefined) return;
    await series.complete(entry.id, token, { note: '', keepMs: 0 });
  }
}
