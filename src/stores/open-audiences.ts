import type { AudienceCatalog } from '../audience/store.ts';
import type { Clock } from '../clock.ts';
import { openStore } from './sqlite/file/open-store.ts';
import { AUDIENCE_TABLES, SqliteAudienceStore } from './sqlite/sqlite-audience-store.ts';

export { openChunkStore } from './sqlite/sqlite-chunk-store.ts';

/** Opens the audiences of a file, with whatever else is in it. Throws ConfigError for another kind of place, QueueError. */
export async function openAudienceStore(
  place: string,
  clock: Clock,
): Promise<AudienceCatalog & { close(): Promise<void> }> {
  const store = await openStore(place, { clock, tables: [AUDIENCE_TABLES] });
  const audiences = new SqliteAudienceStore(store, clock);
  return Object.assign(audiences, { close: () => store.close() });
}
