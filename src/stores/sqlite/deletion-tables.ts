import type { Tables } from './file/schema.ts';

/** Times are ms since the epoch. */
const FIRST = `
CREATE TABLE deletion_requests (
  id TEXT PRIMARY KEY,
  created_at INTEGER NOT NULL,
  user_ids TEXT NOT NULL -- JSON: [string]
) WITHOUT ROWID;
CREATE INDEX deletion_requests_created ON deletion_requests (created_at);

CREATE TABLE deletion_sources (
  request TEXT NOT NULL REFERENCES deletion_requests ON DELETE CASCADE,
  source TEXT NOT NULL,
  place INTEGER NOT NULL,
  PRIMARY KEY (request, source)
) WITHOUT ROWID;

CREATE TABLE deletion_deliveries (
  request TEXT NOT NULL,
  source TEXT NOT NULL,
  delivery TEXT NOT NULL, -- its id
  is_delivered INTEGER, -- 0: a dead letter, or dropped; NULL: not settled, as far as is known
  PRIMARY KEY (request, source, delivery),
  FOREIGN KEY (request, source) REFERENCES deletion_sources ON DELETE CASCADE
) WITHOUT ROWID;
`;

export const DELETION_TABLES: Tables = { name: 'deletion', steps: [FIRST] };
