import { SAME_BYTES, type ReasonCode } from '../../../signature/reasons.ts';
import type { Applicable, Cost, SignatureChange } from '../change.ts';

/** A secret or body, both as text and as bytes. The text has U+FFFD in place of bytes that are not UTF-8. */
export interface Written {
  readonly text: string;
  readonly bytes: Buffer;
}

/** A sequence of bytes. A string stands for its UTF-8 encoding. */
export type Bytes = Uint8Array | string;

/**
 * A way to encode a secret or a body. The mistake to detect is that only the sender or only the receiver encodes or
 * decodes it. A function may return undefined or its input if there is nothing to encode or decode.
 */
export interface Codec {
  /** Name of the encoded form, to follow "encoded as" and "decoded from": `base64`. */
  readonly name: string;
  readonly encode?: (plain: Written) => Bytes | undefined;
  readonly decode?: (encoded: Written) => Bytes | undefined;
  /** Cost of encoding; decoding has DECODING_COST. @default 2 */
  readonly cost?: Cost;
  /** Reason code for a body that was encoded before it was signed. @default other-encoding */
  readonly signed?: ReasonCode;
  /** Reason code for a body that was encoded after it was signed. @default `signed` */
  readonly received?: ReasonCode;
  /** Fix for the code other-encoding. @default SAME_BYTES */
  readonly fix?: string;
}

export type ChangeMeaning = Pick<SignatureChange, 'code'> & { readonly fix?: string };

/** Cost of decoding: low, because text that can be decoded was probably encoded. */
const DECODING_COST: Cost = 1;

/**
 * Returns one change for each codec that has a function for this direction. `what` says whether a body or a secret is
 * encoded. Changes to a secret need their own `meaning`, because the codes and fixes of codecs are for bodies.
 */
export function codecChanges(
  codecs: readonly Codec[],
  direction: 'encode' | 'decode',
  what: 'over the body' | 'with the secret',
  meaning?: ChangeMeaning,
): readonly Applicable<Written, Bytes>[] {
  return codecs.flatMap((codec) => {
    const { name, cost = 2, signed = 'other-encoding', received = signed, fix = SAME_BYTES } = codec;
    const [way, code, ownCost] =
      direction === 'encode'
        ? (['encoded as', signed, cost] as const)
        : (['decoded from', received, DECODING_COST] as const);
    const own = code === 'other-encoding' ? { code, fix } : { code };
    const apply = codec[direction];
    return apply ? [{ ...(meaning ?? own), cost: ownCost, would: `${what} ${way} ${name}`, apply }] : [];
  });
}
