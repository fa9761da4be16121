import { SAME_BYTES, type ReasonCode } from '../../../signature/reasons.ts';
import type { Applicable, Cost } from '../change.ts';

/** A secret or body, both as text and as bytes. The text has U+FFFD in place of bytes that are not UTF-8. */
export interface Written {
  readonly text: string;
  readonly bytes: Buffer;
}

/** A sequence of bytes. A string stands for its UTF-8 encoding. */
export type Bytes = Uint8Array | string;

/** How to report a change that explains a mismatch. Without `fix`, the usual fix of the code is shown. */
interface ChangeMeaning {
  readonly code: ReasonCode;
  readonly fix?: string;
}

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
  /** How to report that the encoded body was signed. @default RE_ENCODED */
  readonly signed?: ChangeMeaning;
  /** How to report a body that was first signed and then encoded. @default `signed` */
  readonly received?: ChangeMeaning;
}

/** Sets `signed` on the codecs that do not have it yet. */
export function withMeaning(signed: ChangeMeaning, codecs: readonly Codec[]): readonly Codec[] {
  return codecs.map((codec) => ({ signed, ...codec }));
}

type Direction = 'encode' | 'decode';

const RE_ENCODED: ChangeMeaning = { code: 'other-encoding', fix: SAME_BYTES };
/** Cost of decoding: low, because text that can be decoded was probably encoded. */
const DECODING_COST: Cost = 1;

/** Returns one change for each codec that has a function for this direction. The change encodes or decodes a body. */
export function bodyCodecChanges(
  codecs: readonly Codec[],
  direction: Direction,
): readonly Applicable<Written, Bytes>[] {
  return codecs.flatMap((codec) => {
    const { signed = RE_ENCODED, received = signed, cost = 2 } = codec;
    return direction === 'encode'
      ? changeBy(codec, direction, 'over the body', { ...signed, cost })
      : changeBy(codec, direction, 'over the body', { ...received, cost: DECODING_COST });
  });
}

/** Returns the changes that encode or decode a secret. All get `meaning`, because codecs have meanings for bodies. */
export function secretCodecChanges(
  codecs: readonly Codec[],
  meaning: ChangeMeaning,
): readonly Applicable<Written, Bytes>[] {
  return codecs.flatMap((codec) => [
    ...changeBy(codec, 'encode', 'with the secret', { ...meaning, cost: codec.cost ?? 2 }),
    ...changeBy(codec, 'decode', 'with the secret', { ...meaning, cost: DECODING_COST }),
  ]);
}

/** Returns a list of one change, or an empty list if the codec has no function for this direction. */
function changeBy(
  codec: Codec,
  direction: Direction,
  what: string,
  meaning: ChangeMeaning & { readonly cost: Cost },
): readonly Applicable<Written, Bytes>[] {
  const apply = codec[direction];
  const way = `${direction === 'encode' ? 'encoded as' : 'decoded from'} ${codec.name}`;
  return apply ? [{ ...meaning, would: `${what} ${way}`, apply }] : [];
}
