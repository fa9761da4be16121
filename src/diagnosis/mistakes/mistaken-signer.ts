import type { BodyVariant } from '../signature/body/body-variant.ts';
import { KeptBody } from '../../signature/body/kept-body.ts';
import type { StreamingDigest } from '../signature/hash-variants.ts';
import { keyedHmac, type HmacAlgorithm, type HmacFrame } from '../../signature/hmac.ts';
import { layoutOf, withFields } from '../../signature/schemes/layout.ts';
import type { SignatureScheme, SignedFields } from '../../signature/schemes/scheme.ts';
import { signingKey } from '../../signature/schemes/secrets.ts';
import { headerValue } from '../../signature/schemes/signer.ts';

/** The scheme, secrets and fields that a request is signed with. */
export interface SigningContext {
  readonly scheme: SignatureScheme;
  /** The first secret that the scheme can use signs. */
  readonly secrets: readonly string[];
  readonly fields: SignedFields;
}

/** The parts of a signature that a receiver computes differently from its scheme. */
export interface SigningMistake {
  readonly algorithm?: HmacAlgorithm;
  readonly key?: string | Uint8Array;
  readonly frame?: HmacFrame;
  /** Signed in place of the body. */
  readonly bytes?: BodyVariant['bytes'];
  readonly fields?: SignedFields;
  /** Used in place of the HMAC. */
  readonly digest?: StreamingDigest;
  /** @default in the scheme's encoding */
  readonly write?: (digest: Buffer) => string;
  /** Written in place of the text before the signature. */
  readonly prefix?: string;
}

/** Signs a body the way a receiver with a mistake expects. */
export class MistakenSigner {
  readonly context: SigningContext;
  readonly key: string | Uint8Array;
  readonly frame: HmacFrame;
  /** The part of the body that the scheme signs. */
  readonly body: Buffer;
  readonly #own: readonly string[];

  constructor(body: Buffer, context: SigningContext) {
    const { scheme, secrets, fields } = context;
    this.context = context;
    this.key = signingKey(scheme, secrets, { origin: { key: 'scheme' } }).key;
    this.frame = frameOf(scheme, fields);
    this.body = scheme.covers === 'first' ? Buffer.from(new KeptBody(body).firstItem?.json ?? body) : body;
    this.#own = this.headers({});
  }

  /** The headers of a mistake; undefined if they are the right ones for this body. */
  mistaken(mistake: SigningMistake): readonly string[] | undefined {
    const headers = this.headers(mistake);
    return headers.every((text, index) => text === this.#own[index]) ? undefined : headers;
  }

  /** The headers of a mistake: name, value, name, value … */
  headers(mistake: SigningMistake): readonly string[] {
    const { scheme, fields: own } = this.context;
    const { fields = own, prefix, write = (digest) => digest.toString(scheme.encoding) } = mistake;
    const signature = write(this.#digest(mistake));
    const { headers, signatureHeader } = layoutOf(scheme);
    return headers.flatMap((header) => {
      const isBare = header === signatureHeader && prefix !== undefined;
      return [
        header.name,
        isBare ? prefix + signature : headerValue(header, scheme, { ...fields, signature }),
      ];
    });
  }

  #digest({ bytes = this.body, digest, fields, ...how }: SigningMistake): Buffer {
    const { scheme } = this.context;
    const frame = how.frame ?? (fields === undefined ? this.frame : frameOf(scheme, fields));
    const made = digest?.copy() ?? keyedHmac(how.algorithm ?? scheme.hash, how.key ?? this.key, frame);
    if (typeof bytes === 'function') bytes((piece) => Boolean(made.update(piece)));
    else made.update(bytes);
    return made.digest();
  }
}

function frameOf(scheme: SignatureScheme, fields: SignedFields): HmacFrame {
  const { before, after } = layoutOf(scheme);
  return { before: withFields(before, fields), after: withFields(after, fields) };
}
