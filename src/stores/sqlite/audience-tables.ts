import type { Tables } from './file/schema.ts';

/**
 * What was last told of the members of audiences and the values of computed traits. Times are ms since the epoch.
 *
 * An entry is a line: the user's id, and for a computed trait a tab and the value as JSON. An id with a control character,
 * or that begins with a quotation mark, is written as a JSON string (entry.ts).
 */
const FIRST = `
CREATE TABLE audiences (
  audience INTEGER PRIMARY KEY,
  kind TEXT NOT NULL, -- audience, trait
  name TEXT NOT NULL, -- as it was given
  trait TEXT NOT NULL, -- what is sent: the name in snake case
  place TEXT NOT NULL, -- where it is sent to
  created_at INTEGER NOT NULL,
  synced_at INTEGER, -- the end of the last sync after which everything was told; NULL: there was none
  sync_pid INTEGER, -- the process that began the last sync
  sync_began_at INTEGER,
  UNIQUE (trait, place)
);

-- An entry is in the partition that the FNV-1a hash of its id as written says: (hash ^ hash >> 15) & 1023.
CREATE TABLE audience_partitions (
  audience INTEGER NOT NULL REFERENCES audiences ON DELETE CASCADE,
  partition INTEGER NOT NULL,
  members INTEGER NOT NULL, -- lines of entries
  in_doubt INTEGER NOT NULL, -- lines of doubtful
  entries TEXT NOT NULL, -- as last told and confirmed
  doubtful TEXT NOT NULL, -- ids of whom something may have been told since: the next sync tells them anew
  PRIMARY KEY (audience, partition)
);

-- For people: SELECT * FROM audience_overview;
CREATE VIEW audience_overview AS
SELECT
  a.audience, a.kind, a.name, a.trait, a.place,
  coalesce(sum(p.members), 0) AS members, coalesce(sum(p.in_doubt), 0) AS in_doubt,
  a.created_at, strftime('%Y-%m-%dT%H:%M:%fZ', a.created_at / 1000.0, 'unixepoch') AS created,
  a.synced_at, strftime('%Y-%m-%dT%H:%M:%fZ', a.synced_at / 1000.0, 'unixepoch') AS synced,
  a.sync_pid, a.sync_began_at, strftime('%Y-%m-%dT%H:%M:%fZ', a.sync_began_at / 1000.0, 'unixepoch') AS sync_began
FROM audiences a LEFT JOIN audience_partitions p ON p.audience = a.audience
GROUP BY a.audience;
`;

export const AUDIENCE_TABLES: Tables = { name: 'audience', steps: [FIRST] };
