import { createHash } from 'node:crypto';

/** How long a message is recognized when it comes again. */
export const SEEN_FOR_MS = 24 * 60 * 60 * 1000;

/** Remembers which messages were accepted, by source and `messageId`, in the last 24 hours. */
export interface Seen {
  /** The ids among `messageIds` that were accepted. */
  among(source: string, messageIds: readonly string[]): Promise<ReadonlySet<string>>;
  /**
   * Remembers messages that are being stored: both or neither. Over the store that they go to, it is written in the
   * turn of the event loop in which this is called, and so in their transaction; elsewhere once `stored` has resolved.
   */
  add(source: string, messageIds: readonly string[], stored: Promise<unknown>): Promise<void>;
}

const LONGEST_ID = 64;

/**
 * A NUL, after which some drivers read no further, and half of a surrogate pair, which UTF-8 cannot have: another id would be
 * taken for it.
 */
const UNKEEPABLE = /\0|\p{Surrogate}/u;

/** An id may be as long as a message; a digest takes the place of a long one, and of one that a store would change. */
export function shortId(messageId: string): string {
  if (messageId.length <= LONGEST_ID && !UNKEEPABLE.test(messageId)) return messageId;
  return `sha256:${createHash('sha256').update(messageId, 'utf16le').digest('base64url')}`;
}
