import type { AttemptRecord } from '../attempt-record.ts';
import type { OutgoingMessage } from '../message/outgoing-message.ts';
import type { Message } from '../message/types.ts';
import type { TraceParent } from './calls.ts';

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
   * What this sink will send of a message, made once at the call. The client counts the bytes of its `body` against the
   * batch limit, and keeps no more of the message than this: a message is many objects.
   */
  encode(options: EnqueueOptions, messageId: string): OutgoingMessage;
  /** One receipt per message, in order. Never rejects: a failure is a rejected receipt with its reason. */
  submit(batch: readonly OutgoingMessage[]): Promise<readonly Receipt[]>;
  /**
   * A sink that keeps accepted messages in memory until they are settled has this, and gets messages one by one. `listener` is
   * called with how many were settled, possibly before their receipts are in; until then they count against `maxQueued`. A
   * message that is rejected, or accepted without a delivery, is not reported.
   */
  onSettled?(listener: (messages: number) => void): void;
  /** Called when no more messages come and the last receipts are waited for: what cannot be sent is to end in bounded time. */
  beginClose?(): void;
  /** Called once, after the last receipt. */
  close(): Promise<void>;
}

/** What a caller hands to the client. Only the engine looks at the trace. */
export interface EnqueueOptions extends TraceParent {
  readonly message: Message;
  /** @default the message's own `messageId`, else a new one */
  readonly messageId?: string | undefined;
  /** Deliveries of one order key reach a destination in the order of the calls. Only the engine looks at it. @default none */
  readonly orderKeys?: readonly string[] | undefined;
  /** Send these bytes, and do not write the message out: others (`replay --exact`), or those that it would be. Only the engine looks at it. */
  readonly exactBody?: Uint8Array | undefined;
  /** As that of OutgoingMessage. */
  readonly deliveryId?: string | undefined;
}

/** A sink's receipt for one message: accepted (as which deliveries; none when `integrations` excluded every destination), or rejected. */
export type Receipt =
  | {
      readonly accepted: true;
      readonly messageId: string;
      readonly deliveries: readonly AcceptedDelivery[];
      /** The POSTs of the batch that it was in, shared by the receipts of the batch. */
      readonly attempts?: readonly AttemptRecord[];
    }
  | {
      readonly accepted: false;
      readonly messageId: string;
      /** Stable: `http-4xx http-5xx timeout … closed queue sink`. */
      readonly code: string;
      readonly reason: string;
      /** The POSTs of the batch that it was in, shared by the receipts of the batch. */
      readonly attempts?: readonly AttemptRecord[];
    };

export interface AcceptedDelivery {
  readonly id: string;
  readonly destination: string;
}

/** The receipt of a message whose sink has thrown, or has given no receipt. */
export function rejectedBySink({ messageId }: OutgoingMessage, reason: string): Receipt {
  return { accepted: false, messageId, code: 'sink', reason: `The sink failed: ${reason}` };
}
