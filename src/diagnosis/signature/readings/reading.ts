import type { HmacAlgorithm } from '../../../signature/hmac.ts';
import type { ReasonCode } from '../../../signature/reasons.ts';

/** A difference between a signature and the form that its scheme requires: another hash, encoding, length or prefix. */
export interface NotationProblem {
  readonly code: ReasonCode;
  /** Describes how the digest is written: `HMAC-SHA1 in base64`. */
  readonly what: string;
  /** Describes other characters in the signature, to follow "it": ``has other text around its digits: `sha1=…` ``. */
  readonly around?: string | undefined;
  readonly fix?: string | undefined;
}

/** One way to read a received text as a digest, such as "an HMAC-SHA1 in base64". */
export interface Reading {
  readonly algorithm: HmacAlgorithm;
  /** How unlikely this way to read the text is: 0 for the likeliest. The search tries cheap ones first. */
  readonly cost: number;
  /** Undefined if the digest is written as the scheme requires. */
  readonly problem?: NotationProblem;
  /** Returns whether the text can stand for this digest. `digest` has one Latin-1 character per byte. */
  readonly matches: (digest: string) => boolean;
}
