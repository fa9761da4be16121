import { checkOptions } from '../check-options.ts';
import { SignatureError } from '../errors.ts';
import { BodyDigests } from './body-digests.ts';
import { diagnose, type Diagnosis } from './diagnose.ts';
import { readSignature, sameDigest, type GivenSignature } from './given-signature.ts';
import { KeptBody } from './kept-body.ts';
import type { NoteCode } from './reason.ts';
import type { OtherSecret } from './secret-variants.ts';
import { sign } from './sign.ts';
import { whyDiffers } from './why-differs.ts';

export type Verdict = ValidVerdict | InvalidVerdict;

export interface ValidVerdict {
  readonly valid: true;
  /** Which of the secrets, counted from 1. */
  readonly secret: number;
  /** What matched: the bytes as received, or the JSON-stringified body. */
  readonly over: 'bytes' | 'stringified';
  /** With `stringified`: why the bytes differ from it. */
  readonly note?: NoteCode;
}

export interface InvalidVerdict {
  readonly valid: false;
  readonly diagnosis: Diagnosis;
}

export interface VerifyOptions {
  /** The header's value: 40 hex digits in either case; white space around them and `sha1=` are allowed. Without a header nothing matches. */
  readonly signature: string | null | undefined;
  /** At least one; any of them may match. */
  readonly secrets: readonly string[];
  /**
   * Only the bytes as received count, not the JSON-stringified body.
   * @default false
   */
  readonly exact?: boolean | undefined;
  /**
   * Secrets that are at hand but not to be trusted: a mismatch that one of them explains is diagnosed as such.
   * @default []
   */
  readonly otherSecrets?: readonly OtherSecret[] | undefined;
}

/** The signature and the secrets have errors of their own. */
const KINDS = {
  signature: 'given',
  secrets: 'given',
  exact: 'a boolean',
  otherSecrets: 'a list',
} as const satisfies Record<keyof VerifyOptions, string>;

const OTHER_NAMES = { sharedSecret: 'secrets', sharedSecrets: 'secrets' };

/** Bodies up to here are kept, to try what needs all of them. */
export const LARGEST_KEPT_BODY = 8 * 1024 * 1024;

/**
 * Whether a body was signed with one of the secrets (contract, Signature), and if not, what usually goes wrong that
 * explains it. A string stands for its UTF-8. Throws SignatureError when a secret is empty or there is none,
 * and for a signature that is no text; ConfigError for an option that is misspelled or of another kind.
 */
export function verify(given: VerifyOptions & { readonly body: Uint8Array | string }): Verdict {
  checkOptions(given, { kinds: { body: 'given', ...KINDS }, required: ['body'], otherNames: OTHER_NAMES });
  const { body, ...options } = given;
  const signature = readSignature(options.signature);
  const secret = signature.shape === 'sha1' ? indexOfSigner(body, signature.digest, options.secrets) : 0;
  if (secret > 0) return { valid: true, secret, over: 'bytes' };
  return new Verifier(options).update(typeof body === 'string' ? Buffer.from(body) : body).finish();
}

/** Verifies a body that comes in pieces, of any size, in constant memory. Throws what `verify` does. */
export class Verifier {
  readonly #given: GivenSignature;
  readonly #options: VerifyOptions;
  readonly #digests: BodyDigests;
  #kept: Uint8Array[] | undefined = [];

  constructor(options: VerifyOptions) {
    checkOptions(options, { kinds: KINDS, otherNames: OTHER_NAMES });
    refuseEmpty(options.secrets);
    this.#options = options;
    this.#given = readSignature(options.signature);
    this.#digests = new BodyDigests(this.#given.shape === 'sha256' ? 'sha256' : 'sha1', options.secrets);
  }

  /** The bytes so far. */
  get bytes(): number {
    return this.#digests.bytes;
  }

  /** The chunk may be reused by the caller afterwards. */
  update(chunk: Uint8Array): this {
    this.#digests.update(chunk);
    if (this.bytes > LARGEST_KEPT_BODY) this.#kept = undefined;
    this.#kept?.push(new Uint8Array(chunk));
    return this;
  }

  finish(): Verdict {
    const body = this.#kept && new KeptBody(Buffer.concat(this.#kept));
    return this.#overBytes() ?? this.#overStringified(body) ?? this.#invalid(body);
  }

  #overBytes(): ValidVerdict | undefined {
    const { shape } = this.#given;
    if (shape !== 'sha1') return undefined;
    const { digest } = this.#given;
    const secret = 1 + this.#digests.all().findIndex((each) => sameDigest(each, digest));
    return secret > 0 ? { valid: true, secret, over: 'bytes' } : undefined;
  }

  #overStringified(body: KeptBody | undefined): ValidVerdict | undefined {
    if (this.#given.shape !== 'sha1' || this.#options.exact || body?.json === undefined) return undefined;
    const secret = indexOfSigner(body.json, this.#given.digest, this.#options.secrets);
    if (secret === 0) return undefined;
    return {
      valid: true,
      secret,
      over: 'stringified',
      note: whyDiffers(body.bytes.toString('utf8'), body.json),
    };
  }

  #invalid(body: KeptBody | undefined): InvalidVerdict {
    const { secrets, otherSecrets = [] } = this.#options;
    return {
      valid: false,
      diagnosis: diagnose({ given: this.#given, digests: this.#digests, secrets, otherSecrets, body }),
    };
  }
}

/** Which secret gives this digest, counted from 1; 0: none. */
function indexOfSigner(body: Uint8Array | string, digest: Buffer, secrets: readonly string[]): number {
  refuseEmpty(secrets);
  return 1 + secrets.findIndex((secret) => sameDigest(Buffer.from(sign(body, secret), 'hex'), digest));
}

function refuseEmpty(secrets: readonly string[]): void {
  if (!Array.isArray(secrets) || secrets.some((secret) => typeof secret !== 'string')) throw notText();
  if (secrets.length > 0 && !secrets.includes('')) return;
  throw new SignatureError('Expected secrets to verify with, got none or an empty one', {
    reason: 'empty-secret',
    hint: 'give every secret that the sender may sign with; an empty one would let anybody sign',
  });
}

function notText(): SignatureError {
  return new SignatureError('Expected `secrets` to be a list of strings', {
    reason: 'secret-type',
    hint: "for example secrets: ['the secret that the sender signs with']",
  });
}
