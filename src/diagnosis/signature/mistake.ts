import type { ReasonCode } from '../../signature/reasons.ts';

/** A common mistake that explains why a signature does not match. */
export interface Mistake {
  readonly code: ReasonCode;
  /** The mistake in words that follow "it would match" (`without the trailing newline`). Never shows a secret. */
  readonly would: string;
  /** How to fix the mistake. @default the fix of the code, from REASONS */
  readonly fix?: string | undefined;
}
