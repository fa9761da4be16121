import type { AttemptRecord } from '../attempt-record.ts';
import { messageOf } from '../errors.ts';
import type { OutgoingMessage } from '../message/outgoing-message.ts';
import type { Message } from '../message/types.ts';
import type { TraceParent } from './calls.ts';

/** Receives the client's batches: the router in this process, or a tracking API over HTTP. */
export interface Sink {
  /**
   * Maximum number of batches in flight at once. 1 keeps batches in the order of the calls, even across retries; a sink that
   * keeps the order itself may allow several.
   */
  readonly maxInFlight: number;
  /**
   * Serializes a message once, during the call. The client counts the bytes of `body` against the batch limit. It keeps only
   * this result in memory, because the message itself consists of many objects.
   */
  encode(options: EnqueueOptions, messageId: string): OutgoingMessage;
  /** Returns one receipt per message, in order. Never rejects: a failure is a rejected receipt with its reason. */
  submit(batch: readonly OutgoingMessage[]): Promise<readonly Receipt[]>;
  /**
   * Exists on sinks that keep accepted messages in memory until they are settled; such a sink gets messages one by one.
   * Calls `listener` with the number of messages that were settled, possibly before their receipts; until then the messages
   * count against `maxQueued`. Messages that are rejected, or accepted without a delivery, are not reported.
   */
  onSettled?(listener: (messages: number) => void): void;
  /** Called when the client is closing and only waits for receipts: the sink must soon give up batches that fail. */
  beginClose?(): void;
  /** Releases the sink. Called once, after the last receipt. */
  close(): Promise<void>;
}

/** A message for the client, and options for sending it. Only the router sink uses the trace. */
export interface EnqueueOptions extends TraceParent {
  readonly message: Message;
  /** Id of the message. @default the `messageId` in the message, else a new id */
  readonly messageId?: string | undefined;
  /**
   * Deliveries that share an order key reach a destination in the order of the calls. Only the router sink uses order keys.
   * @default none
   */
  readonly orderKeys?: readonly string[] | undefined;
  /**
   * Bytes to send as the body instead of serializing the message: for `replay --exact`, or if the bytes are known to be what
   * serializing would give. Only the router sink uses them.
   */
  readonly exactBody?: Uint8Array | undefined;
  /** Id of the first delivery of the message; its further deliveries append their number to this id. @default new ids */
  readonly deliveryId?: string | undefined;
}

/** The result of sending one message. An accepted message has no deliveries if `integrations` excludes every destination. */
export type Receipt = {
  readonly messageId: string;
  /** The POSTs of the batch that had the message. All messages of a batch share this list. */
  readonly attempts?: readonly AttemptRecord[];
} & (
  | { readonly accepted: true; readonly deliveries: readonly AcceptedDelivery[] }
  | {
      readonly accepted: false;
      /** Stable code of the failure of a message: `http-4xx http-5xx timeout … closed queue sink`. */
      readonly code: string;
      readonly reason: string;
    }
);

export interface AcceptedDelivery {
  readonly id: string;
  readonly destination: string;
}

/**
 * Submits messages and returns one receipt for each. Never rejects: if the sink throws or omits receipts, the messages are
 * rejected, so that no caller waits forever and the process does not end by an unhandled rejection.
 */
export async function receiptsFrom(
  sink: Sink,
  messages: readonly OutgoingMessage[],
): Promise<readonly Receipt[]> {
  try {
    const receipts = await sink.submit(messages);
    return messages.map((message, index) => receipts[index] ?? rejectedBySink(message, 'no receipt'));
  } catch (error) {
    const reason = messageOf(error);
    return messages.map((message) => rejectedBySink(message, reason));
  }
}

function rejectedBySink({ messageId }: OutgoingMessage, reason: string): Receipt {
  return { accepted: false, messageId, code: 'sink', reason: `The sink failed: ${reason}` };
}
