import type { AttemptRecord } from '../attempt-record.ts';
import type { Delivery } from '../queue/delivery.ts';
import type { LaneId } from '../queue/queue.ts';
import type { SignedHeaders } from '../signature/schemes/signer.ts';

/**
 * What becomes of deliveries, as it happens. All events of a delivery come in order, but the first may come before the
 * `submit` that added it has resolved. `signature` is undefined for a destination without a secret.
 */
export type EngineEvent =
  | {
      readonly kind: 'attempt';
      /** As it was claimed: this attempt is not yet in its progress. */
      readonly delivery: Delivery;
      readonly attempt: AttemptRecord;
      readonly signature: string | undefined;
    }
  /** Another round will be made. `delivery.dueAt` says when, `delivery.progress` what the rounds so far came to. */
  | { readonly kind: 'rescheduled'; readonly delivery: Delivery }
  /** The delivery is `delivered` or `dead`, in the queue too. */
  | {
      readonly kind: 'settled';
      readonly delivery: Delivery;
      readonly signature: string | undefined;
      /** Of all schemes by the names of their headers, where there are several. */
      readonly signatures?: SignedHeaders['signatures'];
    }
  /** Another process has taken it over, because its lease ran out here. */
  | { readonly kind: 'lost'; readonly delivery: Delivery }
  /** The queue failed, or the engine did. Nothing is lost by it; it is tried again. */
  | {
      readonly kind: 'error';
      readonly during: 'claim' | 'round' | 'settle' | 'lanes';
      readonly error: unknown;
      readonly lane?: LaneId;
      readonly delivery?: Delivery;
    };
