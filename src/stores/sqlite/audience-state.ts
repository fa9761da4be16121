import type { Clock } from '../../clock.ts';
import { holdLock } from './file/lock.ts';
import type { Row } from './file/sqlite.ts';
import type { Sql, Store } from './file/store.ts';
import type { Partition } from '../../audience/difference.ts';

export type AudienceKind = 'audience' | 'trait';

/** What is known of an audience or a computed trait at one place. Times are ms since the epoch. */
export interface Overview {
  readonly audience: number;
  readonly kind: AudienceKind;
  readonly name: string;
  /** The name of the trait that is sent. */
  readonly trait: string;
  /** Where it is sent to, for people. */
  readonly place: string;
  readonly members: number;
  /** Users of whom it is not known what they were told last. */
  readonly inDoubt: number;
  readonly createdAt: number;
  /** The end of the last sync after which everything was told. */
  readonly syncedAt: number | undefined;
  /** The process that began the last sync. */
  readonly syncPid: number | undefined;
}

/** What the store will have of a partition. */
export interface PartitionUpdate {
  readonly partition: number;
  readonly members: number;
  readonly entries: Uint8Array;
  readonly doubtful: readonly string[];
}

const EMPTY: Partition = { members: 0, entries: new Uint8Array(0), doubtful: [] };

/** The tables of audiences (tables.ts). */
export class AudienceState {
  readonly #store: Store;
  readonly #clock: Clock;

  /** `store` is opened with AUDIENCE_TABLES. */
  constructor(store: Store, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  list(): Promise<readonly Overview[]> {
    return this.#store.read((sql) =>
      sql('SELECT * FROM audience_overview ORDER BY kind, name, place').all().map(toOverview),
    );
  }

  /** All that are sent as this trait, wherever. */
  withTrait(trait: string): Promise<readonly Overview[]> {
    return this.#store.read((sql) => withTrait(sql, trait));
  }

  /**
   * The one with this trait at this place, which is made when there is none. `check` sees all with this trait, and throws when
   * there must not be another.
   */
  findOrMake(
    wanted: Pick<Overview, 'kind' | 'name' | 'trait' | 'place'>,
    check: (others: readonly Overview[]) => void,
  ): Promise<Overview> {
    const { kind, name, trait, place } = wanted;
    return this.#store.write((sql) => {
      check(withTrait(sql, trait));
      sql(
        `INSERT INTO audiences (kind, name, trait, place, created_at) VALUES (?, ?, ?, ?, ?)
         ON CONFLICT DO NOTHING`,
      ).run(kind, name, trait, place, this.#now());
      const row = sql('SELECT * FROM audience_overview WHERE trait = ? AND place = ?').get(trait, place);
      if (row === undefined) throw new TypeError('The audience was made, and is not there');
      return toOverview(row);
    });
  }

  /** For one sync at a time. Undefined: another one has it. */
  hold({ audience }: Pick<Overview, 'audience'>): Promise<(() => void) | undefined> {
    return holdLock(`${this.#store.file}-sync-${audience}`);
  }

  began({ audience }: Pick<Overview, 'audience'>): Promise<void> {
    return this.#store.write((sql) => {
      sql('UPDATE audiences SET sync_pid = ?, sync_began_at = ? WHERE audience = ?').run(
        process.pid,
        this.#now(),
        audience,
      );
    });
  }

  /** Everything was told. */
  completed({ audience }: Pick<Overview, 'audience'>): Promise<void> {
    return this.#store.write((sql) => {
      sql('UPDATE audiences SET synced_at = ? WHERE audience = ?').run(this.#now(), audience);
    });
  }

  partition(audience: number, partition: number): Promise<Partition> {
    return this.#store.read((sql) => {
      const row = sql(
        `SELECT members, CAST(entries AS BLOB) AS entries, doubtful FROM audience_partitions
         WHERE audience = ? AND partition = ?`,
      ).get(audience, partition);
      return row === undefined ? EMPTY : toPartition(row);
    });
  }

  /** From now on nobody relies on what these users were told last. Resolves once that survives a power cut. */
  doubt(
    audience: number,
    updates: readonly Pick<PartitionUpdate, 'partition' | 'doubtful'>[],
  ): Promise<void> {
    return this.#store.write((sql) => {
      const insert = sql(
        `INSERT INTO audience_partitions VALUES (?, ?, 0, ?, '', ?)
         ON CONFLICT DO UPDATE SET in_doubt = excluded.in_doubt, doubtful = excluded.doubtful`,
      );
      for (const { partition, doubtful } of updates)
        insert.run(audience, partition, doubtful.length, linesOf(doubtful));
    });
  }

  keep(audience: number, updates: readonly PartitionUpdate[]): Promise<void> {
    return this.#store.write((sql) => {
      const update = sql(
        `UPDATE audience_partitions SET members = ?, in_doubt = ?, entries = CAST(? AS TEXT), doubtful = ?
         WHERE audience = ? AND partition = ?`,
      );
      for (const { partition, members, entries, doubtful } of updates)
        update.run(members, doubtful.length, entries, linesOf(doubtful), audience, partition);
    });
  }

  /** Leaves no trace of an audience of which nothing was told. */
  dropUnused({ audience }: Pick<Overview, 'audience'>): Promise<void> {
    return this.#store.write((sql) => {
      sql(
        `DELETE FROM audiences WHERE audience = ?1 AND synced_at IS NULL
           AND NOT EXISTS (SELECT 1 FROM audience_partitions WHERE audience = ?1)`,
      ).run(audience);
    });
  }

  forget({ audience }: Pick<Overview, 'audience'>): Promise<void> {
    return this.#store.write((sql) => {
      sql('DELETE FROM audiences WHERE audience = ?').run(audience);
    });
  }

  #now(): number {
    return Math.floor(this.#clock.now());
  }
}

function withTrait(sql: Sql, trait: string): readonly Overview[] {
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

function toOverview(row: Row): Overview {
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
