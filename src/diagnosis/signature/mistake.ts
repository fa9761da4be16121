import type { ReasonCode } from '../../signature/reasons.ts';

/** A common mistake that explains why a signature does not match. */
export interface Mistake {
  readonly code: ReasonCode;
  /** Follows "it would match". Never shows a secret. */
  readonly would: string;
  /** @default the fix of the code */
  readonly fix?: string | undefined;
}
