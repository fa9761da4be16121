import type { KeptBody } from '../../../signature/body/kept-body.ts';
import type { ReasonCode } from '../../../signature/reasons.ts';
import type { Mistake } from '../mistake.ts';

/** Wrong bytes that the signature may have been computed over. A string stands for its UTF-8 bytes. */
export interface BodyVariant extends Mistake {
  readonly bytes: Uint8Array | string | BodyPieces;
}

/** Writes a body that is too large to build as a whole, piece by piece until `write` returns false. */
export type BodyPieces = (write: (piece: Uint8Array | string) => boolean) => void;

/** A recognizable form of a body which shows that the body is not the signed one, or was changed after signing. */
export interface BodyForm {
  readonly code: ReasonCode;
  /** Describes a body of this form; follows "the body": `is empty`. Undefined for other bodies. */
  readonly says: (body: KeptBody) => string | undefined;
  readonly fix: string | ((body: KeptBody) => string);
  /**
   * Recovers the bytes that may have been signed; undefined if this body has lost them. Absent if no body of the form can
   * be recovered.
   */
  readonly inside?: (body: KeptBody) => Uint8Array | string | undefined;
  /**
   * Marks a form that does not show a change after signing, such as sorted keys: an unchanged body can have it. Other causes
   * of the mismatch are then as likely.
   */
  readonly isHint?: true;
}
