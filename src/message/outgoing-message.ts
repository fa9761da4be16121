import type { Integrations } from './types.ts';

/** A message as the client or the service hands it to the router. */
export interface OutgoingMessage {
  readonly messageId: string;
  readonly type: string;
  readonly integrations?: Integrations | undefined;
  /** The exact bytes of every attempt. */
  readonly body: Uint8Array;
  /** Deliveries of one order key reach a destination in the order in which they were added. */
  readonly orderKeys: readonly string[];
  /** A message of the same source and key that is still in the queue is not added again. @default every message is another one */
  readonly dedupeKey?: string | undefined;
}
