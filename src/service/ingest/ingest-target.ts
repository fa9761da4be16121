import type { OutgoingMessage } from '../../message/outgoing-message.ts';

/** Stores the messages of the service: the part of the engine that the service needs. */
export interface IngestTarget {
  /**
   * Resolves when the deliveries of all messages are stored, to one item per message. Rejects if any could not be stored; of
   * a large batch, some may be stored.
   */
  submit(
    source: string,
    messages: readonly OutgoingMessage[],
  ): Promise<readonly { readonly isKnown?: boolean }[]>;
  /** Stores rejected messages as dead letters with reason `invalid`. Ignores letters whose id is stored already. */
  keepInvalid(source: string, letters: readonly InvalidMessage[]): Promise<unknown>;
}

export interface InvalidMessage {
  /** Digest of source and body: a client that repeats a request creates the same id, and so no second dead letter. */
  readonly id: string;
  readonly messageId: string;
  readonly type: string;
  /** The received message without the write key. */
  readonly body: Uint8Array;
  /** The problem that makes the message invalid, as a sentence. */
  readonly detail: string;
}
