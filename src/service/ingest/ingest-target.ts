import type { OutgoingMessage } from '../../message/outgoing-message.ts';

/** Where ingest puts messages: the engine, as far as the service needs to know it. */
export interface IngestTarget {
  /** Resolves once the deliveries of all of them are on disk. Rejects when they are not; of very many, some may be. */
  submit(source: string, messages: readonly OutgoingMessage[]): Promise<unknown>;
  /** Keeps rejected messages as dead letters of reason `invalid`. A letter whose id is there already changes nothing. */
  keepInvalid(source: string, letters: readonly InvalidMessage[]): Promise<void>;
}

export interface InvalidMessage {
  /** The same for the same bytes from the same source, so that a client that repeats itself does not fill the store. */
  readonly id: string;
  readonly messageId: string;
  readonly type: string;
  /** As it came, without the write key. */
  readonly body: Uint8Array;
  /** What is wrong with it. */
  readonly detail: string;
}
