import { callDetached } from '../call-detached.ts';
import { ReusableMap } from '../reusable-map.ts';
import type { QueuedMessage, Receipt } from '../client/sink.ts';
import type { EngineEvent } from '../engine/engine-event.ts';
import type { DeadReason, Delivery } from '../queue/delivery.ts';

/** What became of one message, over all its destinations. */
export interface Outcome {
  readonly messageId: string;
  /**
   * `delivered`: every destination took it. `failed`: one did not. `filtered`: its `integrations` exclude every
   * destination. `unsent`: interrupted before it was settled. `queued`: it is in a durable queue, and another process
   * delivers it.
   */
  readonly outcome: 'delivered' | 'failed' | 'filtered' | 'unsent' | 'queued';
  readonly destinations: readonly DestinationOutcome[];
  /** Why it was not even taken into the queue, or not by the tracking API. */
  readonly refusal?: { readonly code: string; readonly reason: string };
}

export interface DestinationOutcome {
  readonly name: string;
  readonly outcome: 'delivered' | 'failed' | 'unsent';
  /** Every one, in order. The one without `error` is the one that delivered it. */
  readonly attempts: readonly DeliveryAttempt[];
  /** Why it is a dead letter. */
  readonly reason?: DeadReason;
  readonly signature?: string;
}

/** One POST. `at` in ms since the epoch, `ms` to the status line. */
export interface DeliveryAttempt {
  readonly at: number;
  readonly url: string;
  readonly status?: number;
  readonly error?: string;
  readonly detail?: string;
  readonly round?: number;
  readonly ms: number;
  readonly reconnected?: true;
}

/** The code of a receipt for a message that ClosedError rejected. */
const CLOSED = 'closed';

interface Pending {
  delivery: Delivery | undefined;
  signature: string | undefined;
  isSettled: boolean;
  onSettled: (() => void) | undefined;
}

/**
 * Joins the engine's events about deliveries with the messages that a caller awaits. Other messages leave no trace, so that a client used by itself costs no memory here.
 */
export class Outcomes {
  readonly #pending = new ReusableMap<Pending>();
  /** Events of deliveries whose `submit` has not resolved yet: they may come first. */
  readonly #early = new Map<string, EngineEvent>();
  #submitting = 0;
  #isInterrupted = false;

  /** Runs a submit and keeps what settles before it resolves. `messages` are in the order of its result. */
  async during<T extends { readonly deliveries: readonly { readonly id: string }[] }>(
    messages: readonly Pick<QueuedMessage, 'isAwaited'>[],
    submit: () => Promise<readonly T[]>,
  ): Promise<readonly T[]> {
    this.#submitting++;
    try {
      const submitted = await submit();
      submitted.forEach(({ deliveries }, index) => {
        if (messages[index]?.isAwaited) for (const { id } of deliveries) this.#open(id);
      });
      return submitted;
    } finally {
      this.#submitting--;
      if (this.#submitting === 0) this.#early.clear();
    }
  }

  see(event: EngineEvent): void {
    if (event.kind !== 'settled' && event.kind !== 'rescheduled') return;
    const pending = this.#pending.get(event.delivery.id);
    if (pending !== undefined) update(pending, event);
    else if (this.#submitting > 0) this.#early.set(event.delivery.id, event);
  }

  /** Calls back, now or later, when each delivery of the receipt is settled, or interrupted. */
  of(receipt: Receipt, onOutcome: (outcome: Outcome) => void): void {
    if (!receipt.accepted || receipt.deliveries.length === 0) return onOutcome(withoutDelivery(receipt));
    const { messageId, deliveries } = receipt;
    let unsettled = 0;
    const conclude = (): void => {
      const destinations = deliveries.map(({ id, destination }) => this.#take(id, destination));
      callDetached(onOutcome, { messageId, outcome: combined(destinations), destinations });
    };
    const countDown = (): void => {
      if (--unsettled === 0) conclude();
    };
    for (const { id } of deliveries) {
      const pending = this.#pending.get(id);
      if (pending === undefined || pending.isSettled || this.#isInterrupted) continue;
      pending.onSettled = countDown;
      unsettled++;
    }
    if (unsettled === 0) conclude();
  }

  /** Nothing more will settle: calls back every caller that waits with what is known. */
  interrupt(): void {
    this.#isInterrupted = true;
    for (const { isSettled, onSettled } of this.#pending.values()) if (!isSettled) onSettled?.();
  }

  #open(id: string): void {
    const pending: Pending = {
      delivery: undefined,
      signature: undefined,
      isSettled: false,
      onSettled: undefined,
    };
    this.#pending.set(id, pending);
    const early = this.#early.get(id);
    if (early !== undefined) update(pending, early);
  }

  #take(id: string, destination: string): DestinationOutcome {
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    const outcome = destinationOutcome(destination, pending);
    // It is old by now, and V8 would keep the young delivery that it points to until the next full collection.
    if (pending !== undefined) pending.delivery = undefined;
    return outcome;
  }
}

function withoutDelivery(receipt: Receipt): Outcome {
  const { messageId } = receipt;
  if (receipt.accepted) return { messageId, outcome: 'filtered', destinations: [] };
  const { code, reason } = receipt;
  // It came when the engine was stopping: nothing is wrong with it.
  if (code === CLOSED) return { messageId, outcome: 'unsent', destinations: [] };
  return { messageId, outcome: 'failed', destinations: [], refusal: { code, reason } };
}

function update(pending: Pending, event: EngineEvent): void {
  if (event.kind !== 'settled' && event.kind !== 'rescheduled') return;
  pending.delivery = event.delivery;
  if (event.kind === 'rescheduled') return;
  pending.signature = event.signature;
  pending.isSettled = true;
  pending.onSettled?.();
}

function destinationOutcome(name: string, pending: Pending | undefined): DestinationOutcome {
  const { delivery, signature, isSettled } = pending ?? {};
  const attempts = delivery?.progress.attempts ?? [];
  if (!isSettled) return { name, outcome: 'unsent', attempts };
  return {
    name,
    outcome: delivery?.state === 'delivered' ? 'delivered' : 'failed',
    attempts,
    ...(delivery?.reason !== undefined && { reason: delivery.reason }),
    ...(signature !== undefined && { signature }),
  };
}

/** Delivered only if all took it. */
function combined(destinations: readonly DestinationOutcome[]): Outcome['outcome'] {
  if (destinations.every(({ outcome }) => outcome === 'delivered')) return 'delivered';
  return destinations.some(({ outcome }) => outcome === 'failed') ? 'failed' : 'unsent';
}

/** The outcome of a message that goes to a queue for another process to deliver. */
export function queuedOutcome(receipt: Receipt): Outcome {
  const { messageId } = receipt;
  if (receipt.accepted) {
    const outcome = receipt.deliveries.length === 0 ? 'filtered' : 'queued';
    return { messageId, outcome, destinations: [] };
  }
  const { code, reason } = receipt;
  return { messageId, outcome: 'failed', destinations: [], refusal: { code, reason } };
}

/** The outcome of a message that goes to a tracking API. */
export function trackingApiOutcome(receipt: Receipt): Outcome {
  const { messageId, attempts = [] } = receipt;
  if (receipt.accepted) {
    return {
      messageId,
      outcome: 'delivered',
      destinations: [{ name: 'tracking API', outcome: 'delivered', attempts }],
    };
  }
  const { code, reason } = receipt;
  const outcome = code === 'aborted' ? 'unsent' : 'failed';
  return {
    messageId,
    outcome,
    destinations: [{ name: 'tracking API', outcome, attempts }],
    refusal: { code, reason },
  };
}
