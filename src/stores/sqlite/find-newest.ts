import type { DeliveryState } from '../../queue/delivery.ts';
import { isMissing } from './file/files.ts';
import { fileOf } from './file/open-store.ts';
import { assertOwnFile, readingUrl } from './file/ownership.ts';
import { withDatabase } from './file/sqlite.ts';
import { STATE, WITH_STATE } from './queue/sqlite-rows.ts';

/** The facts by which a person recognizes a delivery. */
export interface FoundDelivery {
  readonly id: string;
  /** The type of its message. */
  readonly type: string;
  readonly state: DeliveryState;
}

export interface NewestSelection {
  /** The beginning of the ids. */
  readonly start: string;
  readonly limit: number;
  /** Whether to find only dead letters. */
  readonly onlyDead: boolean;
}

/** Time to wait for a lock, in ms. */
const LOCK_WAIT_MS = 100;

/**
 * Finds the newest deliveries by the beginning of their ids: dead letters first. Reads the file without creating, repairing
 * or changing anything, and reads no bodies. Returns nothing for a missing file. Throws ConfigError for a store that is not a
 * file, QueueError or SQLite's error if the file cannot be read.
 */
export async function findNewest(
  place: string,
  { start, limit, onlyDead }: NewestSelection,
): Promise<readonly FoundDelivery[]> {
  const file = fileOf(place);
  if (await isMissing(file)) return [];
  await assertOwnFile(file);
  return withDatabase(await readingUrl(file), { timeout: LOCK_WAIT_MS, readOnly: true }, (database) => {
    const found = [DEAD, ...(onlyDead ? [] : [newest(start)])].flatMap((sql) =>
      database.prepare(sql).all(start, start + LAST_CHARACTER, limit),
    );
    const byId = new Map(found.map((row) => [row['id'], row]));
    return [...byId.values()].slice(0, limit) as unknown as FoundDelivery[]; // as the queries say
  });
}

/** Sorts behind all other characters. */
const LAST_CHARACTER = '\u{10ffff}';

const BY_ID = 'd.id >= ? AND d.id < ?';

// The first condition makes SQLite use the index of deliveries that are not delivered.
const DEAD = `
  SELECT d.id, d.type, 'dead' AS state FROM progress p CROSS JOIN deliveries d ON d.seq = p.seq
  WHERE p.settled_state IS NOT 'delivered' AND p.settled_state IS 'dead' AND ${BY_ID} ORDER BY p.seq DESC LIMIT ?`;

/** Scans from the newest delivery if all ids match. The `+` makes SQLite use the index of ids otherwise. */
function newest(start: string): string {
  return `
  SELECT d.id, d.type, ${STATE} FROM deliveries d ${WITH_STATE}
  WHERE ${BY_ID} ORDER BY ${start === '' ? '' : '+'}d.seq DESC LIMIT ?`;
}
