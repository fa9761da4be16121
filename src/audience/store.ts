export type AudienceKind = 'audience' | 'trait';

/** What the store knows of an audience or a computed trait at one place. Times are ms since the epoch. */
export interface AudienceOverview {
  readonly audience: number;
  readonly kind: AudienceKind;
  readonly name: string;
  /** The name of the trait that is sent. */
  readonly trait: string;
  /** Where the changes are sent, for people. */
  readonly place: string;
  readonly members: number;
  /** Users whose last value is unknown: a sync sent them a change and no outcome was recorded. */
  readonly inDoubt: number;
  readonly createdAt: number;
  /** The end of the last sync after which every change was sent. */
  readonly syncedAt: number | undefined;
  /** The process that began the last sync. */
  readonly syncPid: number | undefined;
}

/** Where audiences are kept between syncs. All methods reject with QueueError when the store fails. */
export interface AudienceStore {
  list(): Promise<readonly AudienceOverview[]>;
  /**
   * Returns the audience with this trait at this place, and makes it if there is none. `check` gets all audiences with this
   * trait, and throws when there must not be another.
   */
  findOrMake(
    wanted: Pick<AudienceOverview, 'kind' | 'name' | 'trait' | 'place'>,
    check: (others: readonly AudienceOverview[]) => void,
  ): Promise<AudienceOverview>;
  /** Takes the lock of the audience and records this process. Returns how to release it; undefined: another sync holds it. */
  beginSync(audience: AudienceOverview): Promise<(() => void) | undefined>;
  /** Records that every change was sent. */
  completeSync(audience: AudienceOverview): Promise<void>;
  /** Removes an audience of which nothing was ever sent. */
  dropUnused(audience: AudienceOverview): Promise<void>;
  partitions(audience: AudienceOverview): PartitionStore;
}

/** A partition as the store has it. */
export interface Partition {
  readonly members: number;
  readonly entries: Uint8Array;
  /** Ids, as they are written, of users who may have got another value. */
  readonly doubtful: readonly string[];
}

/** The members of one audience, in PARTITIONS parts. */
export interface PartitionStore {
  get(partition: number): Promise<Partition>;
  /** Marks users whose last value no later sync may rely on. Resolves once that survives a power cut. */
  doubt(updates: readonly Pick<PartitionUpdate, 'partition' | 'doubtful'>[]): Promise<void>;
  keep(updates: readonly PartitionUpdate[]): Promise<void>;
}

/** The next content of a partition. */
export interface PartitionUpdate {
  readonly partition: number;
  readonly members: number;
  readonly entries: Uint8Array;
  readonly doubtful: readonly string[];
}

/** What people can do with the audiences of a store, besides syncing them. */
export interface AudienceCatalog extends AudienceStore {
  /** The path of the file that they are in. */
  readonly file: string;
  /** Removes an audience with all its members. False: it is being synced, and stays. */
  forget(audience: AudienceOverview): Promise<boolean>;
}

/** Temporary room for chunks of bytes that do not fit into memory. Its methods throw QueueError when there is no room. */
export interface ChunkStore {
  write(place: number, bytes: Uint8Array): void;
  /** Reads the chunks with a place in [from, to), by place. */
  read(from: number, to: number): readonly Uint8Array[];
  close(): void;
}
