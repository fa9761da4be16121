import type { OutgoingMessage } from '../../message/outgoing-message.ts';

/** Stores the messages of the service: the part of the engine that the service needs. */
export interface IngestTarget {
  /**
   * Resolves when the deliveries of all messages are stored. Rejects if any could not be stored; of a large batch, some may
   * be stored.
   */
  submit(source: string, messages: readonly OutgoingMessage[]): Promise<unknown>;
  /** Stores rejected messages as dead letters with reason `invalid`. Ignores letters whose id is stored already. */
  keepInvalid(source: string, letters: readonly InvalidMessage[]): Promise<void>;
}

export interface InvalidMessage {
  /** Derived from source and bytes, so that repeated requests of a client do not fill the store. */
  readonly id: string;
  readonly messageId: string;
  readonly type: string;
  /** The received message without the write key. */
  readonly body: Uint8Array;
  /** The problem of the message. */
  readonly detail: string;
}
