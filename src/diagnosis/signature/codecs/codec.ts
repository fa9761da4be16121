import { SAME_BYTES, type ReasonCode } from '../../../signature/reasons.ts';
import type { Applicable, Cost } from '../change.ts';

/** A secret or body as text and as bytes. The text has U+FFFD in place of bytes that are not UTF-8. */
export interface Written {
  readonly text: string;
  readonly bytes: Buffer;
}

/** Bytes. A string stands for its UTF-8 bytes. */
export type Bytes = Uint8Array | string;

/** The reason code and the fix of a change. */
interface ChangeMeaning {
  readonly code: ReasonCode;
  readonly fix?: string;
}

/**
 * A way to encode a secret or a body. The mistake is that one side encodes or decodes it, and the other side does not.
 * Each function returns undefined, or its input, if there is nothing to encode or decode.
 */
export interface Codec {
  /** Name of the encoded form, to follow "encoded as" and "decoded from": `base64`. */
  readonly name: string;
  readonly encode?: (plain: Written) => Bytes | undefined;
  readonly decode?: (encoded: Written) => Bytes | undefined;
  /** Cost of encoding; decoding has DECODING_COST. @default 2 */
  readonly cost?: Cost;
  /** The meaning of a signature over the encoded body. @default RE_ENCODED */
  readonly signed?: ChangeMeaning;
  /** The meaning of a body that arrives encoded. @default `signed` */
  readonly received?: ChangeMeaning;
}

/** Sets `signed` of all codecs that do not have it. */
export function withMeaning(signed: ChangeMeaning, codecs: readonly Codec[]): readonly Codec[] {
  return codecs.map((codec) => ({ signed, ...codec }));
}

type Direction = 'encode' | 'decode';

const RE_ENCODED: ChangeMeaning = { code: 'other-encoding', fix: SAME_BYTES };
/** Cost of decoding: low, because text that can be decoded was probably encoded. */
const DECODING_COST: Cost = 1;

/** The changes that encode a body, or those that decode it. */
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

/** The changes that encode and decode a secret. */
export function secretCodecChanges(
  codecs: readonly Codec[],
  meaning: ChangeMeaning,
): readonly Applicable<Written, Bytes>[] {
  return codecs.flatMap((codec) => [
    ...changeBy(codec, 'encode', 'with the secret', { ...meaning, cost: codec.cost ?? 2 }),
    ...changeBy(codec, 'decode', 'with the secret', { ...meaning, cost: DECODING_COST }),
  ]);
}

/** The change that encodes or decodes with a codec, in a list. Empty if the codec has no such function. */
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
