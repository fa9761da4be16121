import type { AttemptRecord } from '../attempt-record.ts';
import type { Delivery } from '../queue/delivery.ts';
import type { LaneId } from '../queue/queue.ts';
import type { SignedHeaders } from '../signature/schemes/signer.ts';

/**
 * Reports what happens to deliveries. The events of a delivery arrive in order, but the first can arrive before the `submit`
 * that added the delivery resolves. `signature` is undefined for a destination without a secret.
 */
export type EngineEvent =
  | {
      readonly kind: 'attempt';
      /** The delivery as claimed. `progress` does not include this attempt yet. */
      readonly delivery: Delivery;
      readonly attempt: AttemptRecord;
      readonly signature: string | undefined;
    }
  /** The delivery waits for another round at `delivery.dueAt`. `delivery.progress` has the attempts so far. */
  | { readonly kind: 'rescheduled'; readonly delivery: Delivery }
  /** The delivery is `delivered` or `dead`, and the queue has stored this. */
  | {
      readonly kind: 'settled';
      readonly delivery: Delivery;
      readonly signature: string | undefined;
      /** The signatures of all schemes, by header name, if several schemes sign. */
      readonly signatures?: SignedHeaders['signatures'];
    }
  /** This process has lost the delivery: the lease ran out, and another process has claimed the delivery. */
  | { readonly kind: 'lost'; readonly delivery: Delivery }
  /** The queue or the engine failed. No delivery is lost: the engine tries again. */
  | {
      readonly kind: 'error';
      readonly during: 'claim' | 'round' | 'settle' | 'lanes';
      readonly error: unknown;
      readonly lane?: LaneId;
      readonly delivery?: Delivery;
    };
