import type { AttemptRecord } from '../attempt-record.ts';
import type { Delivery, DeliveryState } from './delivery.ts';
import type { LaneId, QueueDepth } from './queue.ts';

/**
 * Reads and changes a queue for a person, while other processes deliver from it. All methods reject with QueueError if the
 * store fails.
 */
export interface QueueInspection {
  /** Returns the number of deliveries in each state, for each lane that has deliveries. */
  stats(): Promise<readonly LaneStats[]>;

  /**
   * Returns the attempts of the deliveries that were delivered last: at most `limit` in a file, or per lane on a server.
   * Does not read bodies in a file.
   */
  lastDelivered(limit: number): Promise<readonly DeliveredAttempts[]>;

  /**
   * Returns a page of deliveries in the order of adding, so new deliveries are on the last page. Pass the `next` of a page
   * as `after` to get the next page. Marks damaged deliveries dead if the store allows it; so does `get`.
   */
  list(selection: DeliverySelection): Promise<Page>;

  get(id: string): Promise<Delivery | undefined>;

  /** Returns the ids of all deliveries in these states, in any order, without reading bodies. */
  ids(states: readonly DeliveryState[]): Promise<readonly string[]>;

  /** Returns several deliveries like `get`, in one request. */
  getAll(ids: readonly string[]): Promise<readonly (Delivery | undefined)[]>;

  /** Returns the states of deliveries by id. Unknown ids are missing. */
  states(ids: readonly string[]): Promise<ReadonlyMap<string, DeliveryState>>;

  /**
   * Retries dead letters. Each gets a new retry window that starts now, and a place behind the waiting deliveries with the
   * same order keys. A dead letter keeps its attempts. Returns one result per id, in order.
   */
  retry(ids: readonly string[]): Promise<readonly RetryResult[]>;

  /**
   * Makes retrying deliveries due now, even if a webhook asked for a longer wait. A pending delivery is due already.
   * Returns one result per id, in order.
   */
  makeDue(ids: readonly string[]): Promise<readonly DueResult[]>;

  /**
   * Removes deliveries permanently, unless they are in flight. Returns one result per delivery, in order. Pass a delivery
   * that was just read, instead of its id, so that a server need not look for it again.
   */
  drop(deliveries: readonly (string | Delivery)[]): Promise<readonly DropResult[]>;
}

export interface LaneStats extends LaneId, QueueDepth {
  /** The earliest due time of the lane's waiting deliveries. Milliseconds since the epoch. */
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
  /** The `next` of the previous page. @default the first page */
  readonly after?: Cursor;
  /** The page size, at least 1. */
  readonly limit: number;
  /**
   * Whether the caller will change the listed deliveries. Every store then lists them in the order of adding, which a
   * server cannot do for a user with read-only access. @default a server lists them by lane and state
   */
  readonly toChange?: boolean;
}

/** The position at which a page of deliveries ended. */
export type Cursor = number;

export interface Page {
  readonly deliveries: readonly Delivery[];
  /** The `after` of the next page. Undefined on the last page. */
  readonly next: Cursor | undefined;
}

/**
 * Result of retrying a delivery by its id. `retried`: the dead letter waits again. `waiting`: the delivery is not settled.
 * `invalid`: no attempt can make its message valid. `damaged`: the delivery has changed in the store.
 */
export type RetryResult = 'retried' | 'unknown' | 'delivered' | 'waiting' | 'invalid' | 'damaged';

/** The result for a delivery that cannot be retried. Undefined if it can be retried. */
export function blockedRetryResult({
  state,
  reason,
  isDamaged,
}: Delivery): Exclude<RetryResult, 'retried' | 'unknown'> | undefined {
  if (state === 'delivered') return 'delivered';
  if (state !== 'dead') return 'waiting';
  if (reason === 'invalid') return 'invalid';
  return isDamaged ? 'damaged' : undefined;
}

/** Result of making a delivery due. `due`: it is attempted as soon as its lane has room. */
export type DueResult = 'due' | 'unknown' | 'delivered' | 'dead' | 'sending';

/** The result for a delivery that cannot be made due. Undefined for a retrying delivery, which can. */
export function blockedDueResult({ state, isDamaged }: Delivery): DueResult | undefined {
  if (isDamaged) return 'dead';
  if (state === 'retrying') return undefined;
  return state === 'pending' ? 'due' : state;
}

export type DropResult = 'dropped' | 'unknown' | 'sending';

/** Options for removing dead letters in steps. */
export interface DeadDropping {
  /** Dead letters that were added at this time or later are removed. Milliseconds since the epoch. */
  readonly since: number;
  /** Only dead letters that were added before this time are removed. Milliseconds since the epoch. */
  readonly before: number;
  /** Called before each step of the removal. Returns whether to continue. */
  readonly goesOn: () => boolean;
  /** Called after each step, with the number of removed dead letters so far. */
  readonly onDropped: (count: number) => void;
}
