export type AudienceKind = 'audience' | 'trait';

/** An audience or a computed trait at one place. Times are in ms since the epoch. */
export interface AudienceOverview {
  /** Id of the audience in the store. */
  readonly audience: number;
  readonly kind: AudienceKind;
  readonly name: string;
  /** Name of the trait that is sent. */
  readonly trait: string;
  /** Name of the target that gets the changes, shown to people. */
  readonly place: string;
  readonly members: number;
  /** Number of users whose last value is unknown: a change was sent for them, but its outcome was not recorded. */
  readonly inDoubt: number;
  readonly createdAt: number;
  /** End of the last complete sync. Undefined if none was complete. */
  readonly syncedAt: number | undefined;
  /** Id of the process that started the last sync. */
  readonly syncPid: number | undefined;
}

/** Stores audiences between syncs. All methods reject with QueueError if the store fails. */
export interface AudienceStore {
  list(): Promise<readonly AudienceOverview[]>;
  /**
   * Finds or creates the audience with this trait and place. First calls `check` with all audiences that have this trait;
   * `check` throws if the audience may not be used.
   */
  findOrMake(
    wanted: Pick<AudienceOverview, 'kind' | 'name' | 'trait' | 'place'>,
    check: (others: readonly AudienceOverview[]) => void,
  ): Promise<AudienceOverview>;
  /**
   * Locks an audience and records this process. Returns a function that unlocks it. Undefined if another sync has the lock.
   */
  beginSync(audience: AudienceOverview): Promise<(() => void) | undefined>;
  /** Records a complete sync: every change was sent. */
  completeSync(audience: AudienceOverview): Promise<void>;
  /** Removes an audience if nothing was ever sent for it. */
  dropUnused(audience: AudienceOverview): Promise<void>;
  partitions(audience: AudienceOverview): PartitionStore;
}

/** The stored entries of one partition of an audience. */
export interface Partition {
  readonly members: number;
  readonly entries: Uint8Array;
  /** Ids of users (as written in entries) of whom it is unknown which value of the audience the receiver last accepted. */
  readonly doubtful: readonly string[];
}

/** Stores the members of one audience in PARTITIONS parts. */
export interface PartitionStore {
  get(partition: number): Promise<Partition>;
  /**
   * Marks users as doubtful, so that the next sync repeats their values. Resolves when the marks would survive a power cut.
   */
  doubt(updates: readonly Pick<PartitionUpdate, 'partition' | 'doubtful'>[]): Promise<void>;
  /** Replaces the content of partitions. */
  keep(updates: readonly PartitionUpdate[]): Promise<void>;
}

/** The next content of a partition. */
export interface PartitionUpdate extends Partition {
  readonly partition: number;
}

/** An audience store with the functions to list and remove audiences. */
export interface AudienceCatalog extends AudienceStore {
  /** Path of the file of the store. */
  readonly file: string;
  /** Removes an audience with all its members. Returns false, and keeps the audience, while it is being synced. */
  forget(audience: AudienceOverview): Promise<boolean>;
}

/**
 * Temporary storage for the chunks of an input that does not fit into memory. Its methods throw QueueError if the disk is
 * full.
 */
export interface ChunkStore {
  write(place: number, bytes: Uint8Array): void;
  /** Reads the chunks with places in [from, to), in order. */
  read(from: number, to: number): readonly Uint8Array[];
  close(): void;
}
