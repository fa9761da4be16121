import type { AttemptRecord } from '../../attempt-record.ts';
import { callDetached } from '../../errors.ts';
import type { Receipt } from '../../client/sink.ts';
import type { EngineEvent } from '../../engine/engine-event.ts';
import type { RoutedMessage } from '../../engine/router.ts';
import type { DeadReason } from '../../queue/delivery.ts';
import type { SignedHeaders } from '../../signature/schemes/signer.ts';
import { ReusableMap } from '../../queue/reusable-map.ts';

/** The outcome of one message over all its destinations. */
export interface Outcome {
  readonly messageId: string;
  /**
   * `delivered`: every destination accepted the message. `failed`: a destination did not. `filtered`: the message's
   * `integrations` exclude every destination. `unsent`: interrupted before the message was settled. `queued`: stored in a
   * durable queue for another process to deliver.
   */
  readonly outcome: 'delivered' | 'failed' | 'filtered' | 'unsent' | 'queued';
  readonly destinations: readonly DestinationOutcome[];
  /** Why the queue or the tracking API rejected the message. */
  readonly refusal?: { readonly code: string; readonly reason: string };
}

export interface DestinationOutcome {
  readonly name: string;
  readonly outcome: 'delivered' | 'failed' | 'unsent';
  /** All attempts, in order. The attempt without `error` delivered the message. */
  readonly attempts: readonly AttemptRecord[];
  /** Why the message was given up for this destination. Undefined unless `outcome` is `failed`. */
  readonly reason?: DeadReason;
  readonly signature?: string;
  /** The signatures of several schemes, by header name. */
  readonly signatures?: SignedHeaders['signatures'];
}

/** The destination name in outcomes of messages to a tracking API. */
export const TRACKING_API = 'tracking API';

/** The receipt code of a message that was rejected with ClosedError. */
const CLOSED = 'closed';

/** A message whose deliveries are followed until all are settled and its caller, if any, has the outcome. */
export interface TrackedMessage {
  readonly deliveries: readonly TrackedDelivery[];
  /** Number of the message's deliveries that are not settled yet. */
  unsettled: number;
  /** The caller that awaits the outcome. Undefined before the receipt, or if no caller awaits the outcome. */
  awaitedBy: { readonly messageId: string; readonly onOutcome: (outcome: Outcome) => void } | undefined;
}

/** One delivery of a message, with its latest event. */
interface TrackedDelivery {
  readonly id: string;
  readonly destination: string;
  last: Extract<EngineEvent, { kind: 'settled' | 'rescheduled' }> | undefined;
}

/**
 * Follows messages from routing to settling by the engine's events. Reports outcomes to the callers that await them, and
 * settled messages to the client.
 */
export class Outcomes {
  readonly #messages = new ReusableMap<TrackedMessage>();
  /** Whether to keep following messages that no caller awaits. Needed if the client limits unsettled messages in memory. */
  readonly followsAll: boolean;
  #unsettled = 0;
  #onSettled: (messages: number) => void = () => {};
  #isInterrupted = false;

  constructor({ followsAll }: { readonly followsAll: boolean }) {
    this.followsAll = followsAll;
  }

  /** Calls `listener` with the number of settled messages, before their callers get the outcomes. */
  onSettled(listener: (messages: number) => void): void {
    this.#onSettled = listener;
  }

  /**
   * Begins to follow messages. Call it before their deliveries are added, because events can come before `submit` resolves.
   */
  routed(messages: readonly RoutedMessage[]): readonly TrackedMessage[] {
    return messages.map(({ deliveries }) => {
      const message = trackedMessage(deliveries);
      if (deliveries.length > 0) this.#unsettled++;
      for (const { id } of deliveries) this.#messages.set(id, message);
      return message;
    });
  }

  see(event: EngineEvent): void {
    if (event.kind !== 'settled' && event.kind !== 'rescheduled') return;
    const message = this.#messages.get(event.delivery.id);
    const tracked = message?.deliveries.find(({ id }) => id === event.delivery.id);
    if (message === undefined || tracked === undefined || tracked.last?.kind === 'settled') return;
    tracked.last = event;
    if (event.kind !== 'settled' || --message.unsettled > 0) return;
    this.#settle(1);
    if (message.awaitedBy !== undefined) this.#conclude(message, message.awaitedBy);
  }

  /** Calls `onOutcome`, now or later, when every delivery of the receipt is settled, or at an interruption. */
  subscribe(receipt: Receipt, onOutcome: (outcome: Outcome) => void): void {
    if (!receipt.accepted || receipt.deliveries.length === 0) return onOutcome(withoutDelivery(receipt));
    const { messageId, deliveries } = receipt;
    const message = this.#messages.get(deliveries[0]?.id ?? '') ?? trackedMessage(deliveries);
    message.awaitedBy = { messageId, onOutcome };
    if (message.unsettled === 0 || this.#isInterrupted) this.#conclude(message, message.awaitedBy);
  }

  /** Stops following messages that no caller awaits. Call it after they were rejected or their receipts were handed out. */
  release(messages: readonly TrackedMessage[]): void {
    for (const message of messages) {
      const isNeeded = message.awaitedBy !== undefined || (this.followsAll && message.unsettled > 0);
      if (!isNeeded) this.#forget(message);
    }
  }

  /** Reports the current outcome to every waiting caller, because no further delivery will be settled. */
  interrupt(): void {
    this.#isInterrupted = true;
    this.#settle(this.#unsettled);
    for (const message of new Set(this.#messages.values())) {
      if (message.awaitedBy !== undefined) this.#conclude(message, message.awaitedBy);
    }
  }

  #settle(messages: number): void {
    this.#unsettled -= messages;
    this.#onSettled(messages);
  }

  #conclude(
    message: TrackedMessage,
    { messageId, onOutcome }: NonNullable<TrackedMessage['awaitedBy']>,
  ): void {
    const { deliveries } = message;
    this.#forget(message);
    const destinations = deliveries.map(destinationOutcome);
    // The events must be unreferenced now. `deliveries` has reached V8's old generation, so its references would keep these
    // young objects alive until a full collection.
    for (const tracked of deliveries) tracked.last = undefined;
    callDetached(onOutcome, { messageId, outcome: combined(destinations), destinations });
  }

  #forget({ deliveries }: TrackedMessage): void {
    for (const { id } of deliveries) this.#messages.delete(id);
  }
}

function trackedMessage(deliveries: RoutedMessage['deliveries']): TrackedMessage {
  return {
    deliveries: deliveries.map(({ id, destination }) => ({ id, destination, last: undefined })),
    unsettled: deliveries.length,
    awaitedBy: undefined,
  };
}

function withoutDelivery(receipt: Receipt): Outcome {
  const { messageId } = receipt;
  if (receipt.accepted) return { messageId, outcome: 'filtered', destinations: [] };
  const { code, reason } = receipt;
  // The engine was stopping and the message itself is valid, so the outcome is not `failed`.
  if (code === CLOSED) return { messageId, outcome: 'unsent', destinations: [] };
  return { messageId, outcome: 'failed', destinations: [], refusal: { code, reason } };
}

function destinationOutcome({ destination: name, last }: TrackedDelivery): DestinationOutcome {
  const attempts = last?.delivery.progress.attempts ?? [];
  if (last?.kind !== 'settled') return { name, outcome: 'unsent', attempts };
  const { delivery, signature, signatures } = last;
  const outcome = delivery.state === 'delivered' ? 'delivered' : 'failed';
  const settled: DestinationOutcome =
    signature === undefined ? { name, outcome, attempts } : { name, outcome, attempts, signature };
  // Most outcomes need no spread, at which V8 is slow.
  if (delivery.reason === undefined && signatures === undefined) return settled;
  const reason = delivery.reason === undefined ? {} : { reason: delivery.reason };
  return { ...settled, ...reason, ...(signatures !== undefined && { signatures }) };
}

/** The outcome over all destinations: `delivered` only if every destination is. */
function combined(destinations: readonly DestinationOutcome[]): Outcome['outcome'] {
  if (destinations.every(({ outcome }) => outcome === 'delivered')) return 'delivered';
  return destinations.some(({ outcome }) => outcome === 'failed') ? 'failed' : 'unsent';
}

/** The outcome of a message in a queue from which another process delivers. */
export function queuedOutcome(receipt: Receipt): Outcome {
  if (!receipt.accepted || receipt.deliveries.length === 0) return withoutDelivery(receipt);
  return { messageId: receipt.messageId, outcome: 'queued', destinations: [] };
}

/** The outcome of a message to a tracking API. */
export function trackingApiOutcome(receipt: Receipt): Outcome {
  const { messageId, attempts = [] } = receipt;
  if (receipt.accepted) {
    const outcome = 'delivered';
    return { messageId, outcome, destinations: [{ name: TRACKING_API, outcome, attempts }] };
  }
  const { code, reason } = receipt;
  const outcome = code === 'aborted' ? 'unsent' : 'failed';
  const destinations = [{ name: TRACKING_API, outcome, attempts }] as const;
  return { messageId, outcome, destinations, refusal: { code, reason } };
}
