import type { Integrations, Message, MessageType } from '../message/types.ts';

/**
 * Where the client's batches go: the engine in this process, or a tracking API over HTTP.
 */
export interface Sink {
  /**
   * How many batches may be on their way at once. 1 keeps batches in the order of the calls, also when one is tried
   * again; a sink that orders by itself may take several.
   */
  readonly maxInFlight: number;
  /**
   * What this sink will send of a message, made once at the call: its text and that text's UTF-8 bytes. The client
   * counts `bytes` against the batch limit.
   */
  encode(message: QueuedMessage): EncodedMessage;
  /** One receipt per message, in order. Never rejects: a failure is a rejected receipt with its reason. */
  submit(batch: readonly EncodedMessage[]): Promise<readonly Receipt[]>;
  /**
   * A sink that keeps accepted messages in memory until they are settled has this. `listener` is called with how many
   * were settled, possibly before their receipts are in; until then they count against `maxQueued`. A message that is
   * rejected, or accepted without a delivery, is not reported.
   */
  onSettled?(listener: (messages: number) => void): void;
  /** Called when no more messages come and the last receipts are waited for: what cannot be sent is to end in bounded time. */
  beginClose?(): void;
  /** Called once, after the last receipt. */
  close(): Promise<void>;
}

/** A message with what the client adds to it, which is not part of a webhook's body. */
export interface QueuedMessage {
  readonly message: Message;
  /** The message's own `messageId`, else a generated one. */
  readonly messageId: string;
  /** Deliveries of one order key reach a destination in the order of the calls. Only the engine looks at it. */
  readonly orderKeys: readonly string[];
  /** Send these bytes instead of the message's wire shape (`replay --exact`). Only the engine looks at it. */
  readonly exactBody?: Uint8Array | undefined;
  /** The caller waits for the outcome, not for the receipt only. The client passes it on. */
  readonly isAwaited?: boolean | undefined;
}

/** What is kept of a message until its batch has its receipts; not the message itself, which is many objects. */
export interface EncodedMessage extends Omit<QueuedMessage, 'message'> {
  readonly type: MessageType;
  /** Only the engine looks at it. */
  readonly integrations?: Integrations | undefined;
  readonly text: string;
  readonly bytes: number;
}

/** A sink's receipt for one message: accepted (as which deliveries; none when `integrations` excluded every destination), or rejected. */
export type Receipt =
  | {
      readonly accepted: true;
      readonly messageId: string;
      readonly deliveries: readonly AcceptedDelivery[];
      readonly attempts?: readonly BatchAttempt[];
    }
  | {
      readonly accepted: false;
      readonly messageId: string;
      /** Stable: `http-4xx http-5xx timeout … closed queue sink`. */
      readonly code: string;
      readonly reason: string;
      readonly attempts?: readonly BatchAttempt[];
    };

export interface AcceptedDelivery {
  readonly id: string;
  readonly destination: string;
}

/** One POST of the batch that a message was in: the `attempts` of a result line. Shared by the receipts of the batch. */
export interface BatchAttempt {
  /** When it began. Ms since the epoch. */
  readonly at: number;
  readonly url: string;
  readonly status?: number;
  /** A stable code, when it was not taken: `timeout refused … http-4xx http-5xx`. */
  readonly error?: string;
  readonly ms: number;
}
