import type { ReasonCode } from '../reasons.ts';

/** Other bytes that the signature may have been computed over. A string stands for its UTF-8. */
export interface BodyVariant {
  readonly code: ReasonCode;
  /** Follows "it would match". */
  readonly would: string;
  /** @default the fix of the code */
  readonly fix?: string;
  readonly bytes: Uint8Array | string | BodyPieces;
}

/** Writes a body piece by piece that is too large to be made as a whole, until `write` returns false. */
export type BodyPieces = (write: (piece: Uint8Array | string) => boolean) => void;
