import type { Progress } from '../../queue/delivery.ts';
import type { SignedHeaders } from '../../signature/schemes/signer.ts';

/**
 * The result of a round. `open`: a remaining webhook may accept the delivery later. `interrupted`: the engine is stopping.
 * `lost`: another process has the claim. `broken`: the queue or this program failed during the round.
 */
export type RoundResult = {
  readonly beganAt: number;
  readonly progress: Progress;
  readonly signature: string | undefined;
  readonly signatures: SignedHeaders['signatures'];
} & (
  | { readonly outcome: 'delivered' | 'rejected' | 'open' | 'interrupted' | 'lost' }
  | { readonly outcome: 'broken'; readonly error: unknown }
);
