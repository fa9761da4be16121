import type { AttemptRecord } from '../attempt-record.ts';
import type { Delivery, DeliveryState } from './delivery.ts';
import type { LaneId, QueueDepth } from './queue.ts';

/**
 * Reads and changes a queue for a person, while other processes deliver from it. All methods reject with QueueError if the
 * store fails.
 */
export interface QueueInspection {
  /** Returns each lane that has deliveries. */
  stats(): Promise<readonly LaneStats[]>;

  /** Returns the attempts of the latest delivered deliveries: at most `limit` per lane, or for all lanes together. Reads no bodies. */
  lastDelivered(limit: number): Promise<readonly DeliveredAttempts[]>;

  /**
   * Returns a page of deliveries, in the order of adding; the next page comes `after` the last one. New deliveries are at
   * the end. Marks damaged deliveries dead if the store allows it; so does `get`.
   */
  list(selection: DeliverySelection): Promise<Page>;

  get(id: string): Promise<Delivery | undefined>;

  /** Returns the ids of all deliveries in these states, in any order, without reading bodies. */
  ids(states: readonly DeliveryState[]): Promise<readonly string[]>;

  /** Returns several deliveries like `get`, in one request. */
  getAll(ids: readonly string[]): Promise<readonly (Delivery | undefined)[]>;

  /** Returns the states by id. Unknown ids are missing. */
  states(ids: readonly string[]): Promise<ReadonlyMap<string, DeliveryState>>;

  /**
   * Retries dead letters. Each gets a new retry window that starts now, and goes behind the deliveries that wait with the
   * same order keys. Its attempts are kept. Returns one result per id, in order.
   */
  retry(ids: readonly string[]): Promise<readonly RetryResult[]>;

  /**
   * Makes deliveries that wait for a retry due now, even if a webhook asked for a longer wait. A pending delivery is due
   * already. Returns one result per id, in order.
   */
  makeDue(ids: readonly string[]): Promise<readonly DueResult[]>;

  /**
   * Removes deliveries for good, unless they are in flight. Returns one result per delivery, in order. Pass a delivery that
   * was just read, instead of its id, so that a server need not look for it again.
   */
  drop(deliveries: readonly (string | Delivery)[]): Promise<readonly DropResult[]>;
}

export interface LaneStats extends LaneId, QueueDepth {
  /** The earliest due time of the deliveries that wait. Milliseconds since the epoch. */
  readonly nextDueAt?: number;
}

export interface DeliveredAttempts extends LaneId {
  readonly attempts: readonly AttemptRecord[];
}

export function hasDeliveries({ pending, sending, retrying, delivered, dead }: QueueDepth): boolean {
  return pending + sending + retrying + delivered + dead > 0;
}

export interface DeliverySelection {
  readonly states: readonly DeliveryState[];
  /** Only deliveries that were added at this time or later. Milliseconds since the epoch. */
  readonly since?: number;
  /** The cursor of the previous page. */
  readonly after?: Cursor;
  /** The page size, at least 1. */
  readonly limit: number;
  /**
   * Whether the caller changes the deliveries next. They are then in the order of adding on every store, which a user with
   * read-only access cannot have. @default on a server, by lane and state
   */
  readonly toChange?: boolean;
}

/** The position where a page ended. */
export type Cursor = number;

export interface Page {
  readonly deliveries: readonly Delivery[];
  /** The cursor for the next page. Undefined on the last page. */
  readonly next: Cursor | undefined;
}

/** `waiting`: the delivery is not settled. `invalid`: no attempt would make it valid. `damaged`: its body is not what was added. */
export type RetryResult = 'retried' | 'unknown' | 'delivered' | 'waiting' | 'invalid' | 'damaged';

/** `due`: the delivery will be attempted as soon as its lane has room. */
export type DueResult = 'due' | 'unknown' | 'delivered' | 'dead' | 'sending';

export type DropResult = 'dropped' | 'unknown' | 'sending';

/** Options for removing dead letters in steps. */
export interface DeadDropping {
  /** Milliseconds since the epoch. */
  readonly since: number;
  /** Called before each step. Returns whether to continue. */
  readonly goesOn: () => boolean;
  /** Called after each step, with the number of removed dead letters so far. */
  readonly onDropped: (count: number) => void;
}
