import type { ReceiverMistake } from '../../check/check.ts';
import { KeptBody } from '../../signature/body/kept-body.ts';
import { keyedHmac, type HmacAlgorithm, type HmacFrame } from '../../signature/hmac.ts';
import { layoutOf, withFields } from '../../signature/schemes/layout.ts';
import type { SignatureScheme, SignedFields } from '../../signature/schemes/scheme.ts';
import { signingKey } from '../../signature/schemes/secrets.ts';
import { headerValue } from '../../signature/schemes/signer.ts';

export interface SigningContext {
  readonly scheme: SignatureScheme;
  readonly secrets: readonly string[];
  readonly fields: SignedFields;
  readonly url: string;
}

/** The parts of a signature that a receiver computes differently from the scheme. Absent parts are as in the scheme. */
interface SigningMistake {
  readonly algorithm?: HmacAlgorithm;
  readonly key?: string | Uint8Array;
  readonly frame?: HmacFrame;
  /** The timestamp that is sent. @default the present time */
  readonly timestamp?: string;
  /** The bytes that the receiver expects to be signed in place of the body. */
  readonly bytes?: Uint8Array;
  /** The digest that the receiver computes in place of the HMAC, such as a plain hash. */
  readonly digest?: Buffer;
  /** Writes the digest as text. @default in the encoding of the scheme */
  readonly write?: (digest: Buffer) => string;
  /** The text that the receiver expects before the digest: `sha256=`, or empty. @default as in the scheme */
  readonly prefix?: string;
}

export type ExplainedMistake = readonly [SigningMistake, ReceiverMistake];

/** Signs a body as a receiver with a mistake expects it. */
export class MistakenSigner {
  readonly context: SigningContext;
  readonly key: string | Uint8Array;
  readonly frame: HmacFrame;
  /** The part of the body that the scheme signs: all of it, or its first item as JSON.stringify writes it. */
  readonly body: Buffer;

  constructor(body: Buffer, context: SigningContext) {
    const { scheme, secrets, fields } = context;
    this.context = context;
    this.key = signingKey(scheme, secrets, { origin: { key: 'scheme' } }).key;
    this.frame = frameOf(scheme, fields);
    this.body = scheme.covers === 'first' ? Buffer.from(new KeptBody(body).firstItem?.json ?? body) : body;
  }

  headers(mistake: SigningMistake): readonly string[] {
    const { scheme, fields } = this.context;
    const { prefix, timestamp = fields.timestamp } = mistake;
    const { write = (digest) => digest.toString(scheme.encoding) } = mistake;
    const signature = write(this.#digest(mistake));
    const { headers, signatureHeader } = layoutOf(scheme);
    return headers.flatMap((header) => {
      const isBare = header === signatureHeader && prefix !== undefined;
      return [
        header.name,
        isBare ? prefix + signature : headerValue(header, scheme, { ...fields, timestamp, signature }),
      ];
    });
  }

  #digest({ bytes = this.body, digest, algorithm, key, frame }: SigningMistake): Buffer {
    const hash = algorithm ?? this.context.scheme.hash;
    return digest ?? keyedHmac(hash, key ?? this.key, frame ?? this.frame).digest(bytes);
  }
}

export function frameOf(scheme: SignatureScheme, fields: SignedFields): HmacFrame {
  const { before, after } = layoutOf(scheme);
  return { before: withFields(before, fields), after: withFields(after, fields) };
}
