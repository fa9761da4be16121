import type { Progress } from '../../queue/delivery.ts';
import type { SignedHeaders } from '../../signature/schemes/signer.ts';

/**
 * The result of a round. `open`: a webhook is left that may take it later. `interrupted`: the engine is stopping.
 * `lost`: the claim is another's. `broken`: the queue or this program failed on the way.
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
