import type { HmacAlgorithm } from '../../../signature/hmac.ts';
import type { ReasonCode } from '../../../signature/reasons.ts';

/** A difference between the notation of a received signature and the notation of its scheme. */
export interface NotationProblem {
  readonly code: ReasonCode;
  /** Names the notation: `HMAC-SHA1 in base64`. */
  readonly what: string;
  /** Describes the text around the digest, to follow "it": ``has `sha1=` before its digits``. */
  readonly around?: string | undefined;
  readonly fix?: string | undefined;
}

/** One way to read a received text as a digest. */
export interface Reading {
  readonly algorithm: HmacAlgorithm;
  /** How unlikely the reading is, compared with the other readings of the text. */
  readonly cost: number;
  /** The difference from the notation of the scheme. Undefined if the text is in that notation. */
  readonly problem?: NotationProblem;
  /** Whether the text stands for this digest. `digest` has one latin1 character per byte. */
  readonly matches: (digest: string) => boolean;
}
