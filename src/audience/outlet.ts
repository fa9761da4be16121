import type { Message } from '../message/types.ts';

/** Where changes go: a client, with all that is behind it. */
export interface Outlet<O extends ChangeOutcome> {
  /** How many changes may be in flight at once. */
  readonly capacity: number;
  /** Resolves when it takes another change: its client may have less room, or other users. */
  ready(): Promise<void>;
  /** `onOutcome` is called once, later. Throws when it takes no more. */
  deliverThen(message: SyncMessage, onOutcome: (outcome: O) => void): void;
  /** What was handed over leaves, without waiting for more. */
  flush(): void;
}

export interface SyncMessage {
  readonly message: Message;
  /** What one user is told arrives in order, that of an earlier sync first. */
  readonly orderKeys: readonly string[];
}

/** What became of a change. `delivered` and `queued`: the user is told, or will be. */
export interface ChangeOutcome {
  readonly outcome: 'delivered' | 'queued' | 'failed' | 'filtered' | 'unsent';
}
