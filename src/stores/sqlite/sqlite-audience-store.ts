import type { Clock } from '../../clock.ts';
import { holdLock } from './lock.ts';
import type { Row, SqlValue } from './file/sqlite.ts';
import type { Sql, Store } from './file/store.ts';
import type {
  AudienceCatalog,
  AudienceOverview,
  Partition,
  PartitionStore,
  PartitionUpdate,
} from '../../audience/store.ts';

const EMPTY: Partition = { members: 0, entries: new Uint8Array(0), doubtful: [] };

/** Stores audiences in a file that is opened with AUDIENCE_TABLES. */
export class SqliteAudienceStore implements AudienceCatalog {
  readonly #store: Store;
  readonly #clock: Clock;

  constructor(store: Store, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  get file(): string {
    return this.#store.file;
  }

  list(): Promise<readonly AudienceOverview[]> {
    return this.#store.read((sql) =>
      sql('SELECT * FROM audience_overview ORDER BY kind, name, place').all().map(toOverview),
    );
  }

  findOrMake(
    wanted: Pick<AudienceOverview, 'kind' | 'name' | 'trait' | 'place'>,
    check: (others: readonly AudienceOverview[]) => void,
  ): Promise<AudienceOverview> {
    const { kind, name, trait, place } = wanted;
    return this.#store.write((sql) => {
      check(withTrait(sql, trait));
      sql(
        `INSERT INTO audiences (kind, name, trait, place, created_at) VALUES (?, ?, ?, ?, ?)
         ON CONFLICT DO NOTHING`,
      ).run(kind, name, trait, place, this.#now());
      const row = sql('SELECT * FROM audience_overview WHERE trait = ? AND place = ?').get(trait, place);
      if (row === undefined) throw new TypeError('Expected the audience that was just made, got nothing');
      return toOverview(row);
    });
  }

  async beginSync(audience: AudienceOverview): Promise<(() => void) | undefined> {
    const release = await this.#lock(audience);
    if (release === undefined) return undefined;
    try {
      const sql = 'UPDATE audiences SET sync_pid = ?, sync_began_at = ? WHERE audience = ?';
      await this.#run(sql, process.pid, this.#now(), audience.audience);
      return release;
    } catch (error) {
      release();
      throw error;
    }
  }

  completeSync({ audience }: AudienceOverview): Promise<void> {
    return this.#run('UPDATE audiences SET synced_at = ? WHERE audience = ?', this.#now(), audience);
  }

  dropUnused({ audience }: AudienceOverview): Promise<void> {
    const sql = `DELETE FROM audiences WHERE audience = ?1 AND synced_at IS NULL
      AND NOT EXISTS (SELECT 1 FROM audience_partitions WHERE audience = ?1)`;
    return this.#run(sql, audience);
  }

  async forget(audience: AudienceOverview): Promise<boolean> {
    const release = await this.#lock(audience);
    if (release === undefined) return false;
    try {
      await this.#run('DELETE FROM audiences WHERE audience = ?', audience.audience);
      return true;
    } finally {
      release();
    }
  }

  partitions({ audience }: AudienceOverview): PartitionStore {
    const store = this.#store;
    return {
      get: (partition) => store.read((sql) => readPartition(sql, audience, partition)),
      doubt: (updates) => store.write((sql) => doubtUsers(sql, audience, updates)),
      keep: (updates) => store.write((sql) => keepPartitions(sql, audience, updates)),
    };
  }

  #run(text: string, ...values: readonly SqlValue[]): Promise<void> {
    return this.#store.write((sql) => void sql(text).run(...values));
  }

  #lock({ audience }: AudienceOverview): Promise<(() => void) | undefined> {
    return holdLock(`${this.#store.file}-sync-${audience}`);
  }

  #now(): number {
    return Math.floor(this.#clock.now());
  }
}

function readPartition(sql: Sql, audience: number, partition: number): Partition {
  const row = sql(
    `SELECT members, CAST(entries AS BLOB) AS entries, doubtful FROM audience_partitions
     WHERE audience = ? AND partition = ?`,
  ).get(audience, partition);
  return row === undefined ? EMPTY : toPartition(row);
}

function doubtUsers(
  sql: Sql,
  audience: number,
  updates: readonly Pick<PartitionUpdate, 'partition' | 'doubtful'>[],
): void {
  const insert = sql(
    `INSERT INTO audience_partitions VALUES (?, ?, 0, ?, '', ?)
     ON CONFLICT DO UPDATE SET in_doubt = excluded.in_doubt, doubtful = excluded.doubtful`,
  );
  for (const { partition, doubtful } of updates) {
    insert.run(audience, partition, doubtful.length, linesOf(doubtful));
  }
}

function keepPartitions(sql: Sql, audience: number, updates: readonly PartitionUpdate[]): void {
  const update = sql(
    `UPDATE audience_partitions SET members = ?, in_doubt = ?, entries = CAST(? AS TEXT), doubtful = ?
     WHERE audience = ? AND partition = ?`,
  );
  for (const { partition, members, entries, doubtful } of updates) {
    update.run(members, doubtful.length, entries, linesOf(doubtful), audience, partition);
  }
}

function withTrait(sql: Sql, trait: string): readonly AudienceOverview[] {
  return sql('SELECT * FROM audience_overview WHERE trait = ? ORDER BY place').all(trait).map(toOverview);
}

function toPartition({ members, entries, doubtful }: Row): Partition {
  return {
    members: Number(members),
    entries: entries as Uint8Array, // a BLOB by its CAST
    doubtful: String(doubtful).split('\n').slice(0, -1),
  };
}

function linesOf(ids: readonly string[]): string {
  return ids.map((id) => `${id}\n`).join('');
}

function toOverview(row: Row): AudienceOverview {
  return {
    audience: Number(row['audience']),
    kind: row['kind'] === 'trait' ? 'trait' : 'audience',
    name: String(row['name']),
    trait: String(row['trait']),
    place: String(row['place']),
    members: Number(row['members']),
    inDoubt: Number(row['in_doubt']),
    createdAt: Number(row['created_at']),
    syncedAt: optionalNumber(row['synced_at']),
    syncPid: optionalNumber(row['sync_pid']),
  };
}

function optionalNumber(value: Row[string] | undefined): number | undefined {
  return value === null || value === undefined ? undefined : Number(value);
}

/**
 * SQL for the tables of audiences: the members and the values of computed traits that were last sent. Times are ms since the
 * epoch.
 *
 * The users of an audience are divided among partitions. A partition has one line per user: the id, and for a computed trait
 * a tab and the value as JSON. An id that has a control character or begins with a quotation mark is written as a JSON
 * string (entry.ts).
 */
export const AUDIENCE_TABLES = `
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
  doubtful TEXT NOT NULL, -- ids of whom something may have been told since: the next sync tells them again
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
