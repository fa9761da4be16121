import type { KeptBody } from '../../../signature/body/kept-body.ts';
import type { ReasonCode } from '../../../signature/reasons.ts';

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

/** What a body is that cannot be the one that was signed, or that something has changed. */
export interface BodyForm {
  readonly code: ReasonCode;
  /** Follows "the body ": `is empty`. Undefined for a body of another form. */
  readonly says: (body: KeptBody) => string | undefined;
  readonly fix: string | ((body: KeptBody) => string);
  /** The bytes that may have been signed; without it, or where it is undefined, they are lost. */
  readonly inside?: (body: KeptBody) => Uint8Array | string | undefined;
  /** The body may still be as it was signed: other causes are as likely. */
  readonly isHint?: true;
}
