import type { AttemptRecord } from '../attempt-record.ts';
import type { Delivery, DeliveryState } from './delivery.ts';
import type { LaneId, QueueDepth } from './queue.ts';

/** Looks into a queue and changes it on behalf of a person, while others deliver from it. All methods reject with QueueError when the store fails. */
export interface QueueInspection {
  /** Each lane that has anything. */
  stats(): Promise<readonly LaneStats[]>;

  /** The attempts of those that were delivered last: at most this many of each lane, or of all lanes. Reads no body. */
  lastDelivered(limit: number): Promise<readonly DeliveredAttempts[]>;

  /**
   * Some deliveries, in the order of adding; ask again `after` the last for more. Deliveries that are added in between come last. A
   * damaged one is marked dead by this, where the store allows it; the same with `get`.
   */
  list(selection: DeliverySelection): Promise<Page>;

  get(id: string): Promise<Delivery | undefined>;

  /** The ids of all deliveries in these states, in any order. A body is not read for it. */
  ids(states: readonly DeliveryState[]): Promise<readonly string[]>;

  /** As `get`, for several in one request. */
  getAll(ids: readonly string[]): Promise<readonly (Delivery | undefined)[]>;

  /** The states of those of the deliveries that are there, by id. */
  states(ids: readonly string[]): Promise<ReadonlyMap<string, DeliveryState>>;

  /**
   * Has dead letters delivered again, each with a new retry window that starts now, behind what waits in its order
   * keys. The attempts so far are kept. The results are in the order of `ids`.
   */
  retry(ids: readonly string[]): Promise<readonly RetryResult[]>;

  /**
   * Makes what waits for another round due now, also where a webhook asked to be left alone until later. A pending one is due
   * already. The results are in the order of `ids`.
   */
  makeDue(ids: readonly string[]): Promise<readonly DueResult[]>;

  /**
   * Removes deliveries for good, unless they are in flight. The results are in the order of the deliveries. One that the
   * caller has read just now is given as it was read: a server need not look for it again.
   */
  drop(deliveries: readonly (string | Delivery)[]): Promise<readonly DropResult[]>;
}

export interface LaneStats extends LaneId, QueueDepth {
  /** The earliest due time of those that wait and are not in flight. Ms since the epoch. */
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
  /** Added since then. Ms since the epoch. */
  readonly since?: number;
  /** From a page before. */
  readonly after?: Cursor;
  /** The page's size, at least 1. */
  readonly limit: number;
  /**
   * They are changed next, and come in the order of adding on every store. A user who may only read cannot ask for it.
   * @default on a server, by lane and state
   */
  readonly toChange?: boolean;
}

/** Where a page ended. */
export type Cursor = number;

export interface Page {
  readonly deliveries: readonly Delivery[];
  /** Undefined: there is no more. */
  readonly next: Cursor | undefined;
}

/** `waiting`: it is not settled. `invalid`: no attempt would make it valid. `damaged`: its body is not what was added. */
export type RetryResult = 'retried' | 'unknown' | 'delivered' | 'waiting' | 'invalid' | 'damaged';

/** `due`: it will be attempted as soon as there is room. */
export type DueResult = 'due' | 'unknown' | 'delivered' | 'dead' | 'sending';

export type DropResult = 'dropped' | 'unknown' | 'sending';

/** How a store drops dead letters in steps. */
export interface DeadDropping {
  /** Ms since the epoch. */
  readonly since: number;
  /** Asked before each step. */
  readonly goesOn: () => boolean;
  /** Called after each step with the number so far. */
  readonly onDropped: (count: number) => void;
}
