import { createHash } from 'node:crypto';

/** How long a repeated message is recognized. */
export const SEEN_FOR_MS = 24 * 60 * 60 * 1000;

/** The messages that were accepted, by source and `messageId`, in the last 24 hours. */
export interface Seen {
  /** Returns those of `messageIds` that the source has accepted in the last 24 hours. */
  among(source: string, messageIds: readonly string[]): Promise<ReadonlySet<string>>;
  /**
   * Remembers the ids of messages after storing them (`stored`), unless that fails. Undefined if the queue does so itself
   * (`Queue.addsOnce`).
   */
  add?(source: string, messageIds: readonly string[], stored: Promise<unknown>): Promise<void>;
}

/** A message that a queue has accepted. */
export interface SeenMessage {
  readonly source: string;
  /** The id of the message, or its `shortId`. */
  readonly messageId: string;
  /** Milliseconds since the epoch. */
  readonly acceptedAt: number;
}

/** Messages of a store that outlives the process, so that they can follow their deliveries to another store. */
export interface KeptSeen extends Seen {
  /** Remembers messages that another queue has accepted, until 24 hours after that. Skips messages that are known already. */
  restore(messages: readonly SeenMessage[]): Promise<void>;
}

const LONGEST_ID = 64;

/**
 * Characters that a store would change, so that two ids become equal: some drivers stop at NUL, and UTF-8 cannot represent
 * half of a surrogate pair.
 */
const UNKEEPABLE = /\0|\p{Surrogate}/u;

/**
 * Replaces an id by a digest if it is longer than 64 characters, since it can be as long as a message, or if a store would
 * change it.
 */
export function shortId(messageId: string): string {
  if (messageId.length <= LONGEST_ID && !UNKEEPABLE.test(messageId)) return messageId;
  return `sha256:${createHash('sha256').update(messageId, 'utf16le').digest('base64url')}`;
}
