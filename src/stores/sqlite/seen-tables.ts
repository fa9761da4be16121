import type { Tables } from './file/schema.ts';

/** Times are ms since the epoch. */
const FIRST = `
-- Messages that were taken, so that one that comes again is known. A message_id that is long is a digest.
CREATE TABLE seen (
  source TEXT NOT NULL,
  message_id TEXT NOT NULL,
  taken_at INTEGER NOT NULL,
  PRIMARY KEY (source, message_id)
) WITHOUT ROWID;
CREATE INDEX seen_taken ON seen (taken_at);
`;

export const SEEN_TABLES: Tables = { name: 'service', steps: [FIRST] };
