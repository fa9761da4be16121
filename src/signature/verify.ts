import { checkOptions } from '../check-options.ts';
import { SignatureError } from '../errors.ts';
import { BodyDigests } from './diagnosis/body-digests.ts';
import { diagnosisBudget, type DiagnosisBudget } from './diagnosis/deadline.ts';
import { diagnose, type Diagnosis } from './diagnosis/diagnose.ts';
import { readSignature, sameDigest, type GivenSignature } from './given-signature.ts';
import { KeptBody } from './diagnosis/body/kept-body.ts';
import type { NoteCode } from './diagnosis/reasons.ts';
import type { OtherSecret } from './diagnosis/secret-variants.ts';
import { sign } from './sign.ts';
import { whyDiffers } from './diagnosis/json/why-differs.ts';

export type VerifyResult = ValidVerdict | InvalidVerdict;

export interface ValidVerdict {
  readonly valid: true;
  /** The secret that matched, counted from 1. */
  readonly secret: number;
  /** The signed bytes: the body as received, or JSON-stringified. */
  readonly over: 'bytes' | 'stringified';
  /** With `stringified`: why the bytes differ from it. */
  readonly note?: NoteCode;
}

export interface InvalidVerdict {
  readonly valid: false;
  /** Why it does not match; only with `diagnose`. */
  readonly diagnosis?: Diagnosis;
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
   * Finds out why a signature does not match. That blocks the event loop for up to 20 ms with a body of 32 KB, and 200 ms
   * with any: anyone can slow down a receiver that does it for each request.
   * @default false
   */
  readonly diagnose?: boolean | undefined;
  /**
   * Known secrets that are not accepted: a mismatch that one of them explains is diagnosed as such. Only with
   * `diagnose`.
   * @default []
   */
  readonly otherSecrets?: readonly OtherSecret[] | undefined;
  /**
   * Where the secrets come from, as `HOOKS_SECRET`: a mismatch that nothing explains then tells this and how long they are. For
   * the person who gave them, not for a sender. Only with `diagnose`.
   * @default not told
   */
  readonly secretOrigin?: string | undefined;
}

/** The kinds of the options. Signature and secrets are `given`, since they have more specific errors. */
const KINDS = {
  signature: 'given',
  secrets: 'given',
  exact: 'a boolean',
  diagnose: 'a boolean',
  otherSecrets: 'a list',
  secretOrigin: 'a string',
} as const satisfies Record<keyof VerifyOptions, string>;

const OTHER_NAMES = { sharedSecret: 'secrets', sharedSecrets: 'secrets' };

/** The largest body that is kept whole, for the checks that need all of it. Of them only with `diagnose`. */
export const LARGEST_KEPT_BODY = 8 * 1024 * 1024;

/**
 * The largest body that is parsed to compare its JSON-stringified form, without `diagnose`. Four times the largest message:
 * one that a proxy has indented, or whose characters it has escaped, is within it. Parsing costs 20 to 200 times as much as
 * the digest, and anyone can send a mismatch.
 */
export const LARGEST_STRINGIFIED_BODY = 128 * 1024;

/**
 * Verifies that a body was signed with one of the secrets (contract, Signature): over its bytes, then over its JSON-stringified
 * form, which of a body of more than 128 KiB is compared only with `diagnose`. With `diagnose` it finds the common mistake that
 * explains a mismatch; `budget` limits how long that may take. A string stands for its UTF-8. Throws SignatureError when
 * a secret is empty or there is none, and for a signature that is not text; ConfigError for an option that is misspelled
 * or of another kind.
 */
export function verify(
  given: VerifyOptions & { readonly body: Uint8Array | string },
  budget: DiagnosisBudget = diagnosisBudget(),
): VerifyResult {
  checkOptions(given, { kinds: { body: 'given', ...KINDS }, required: ['body'], otherNames: OTHER_NAMES });
  const { body: input, ...options } = given;
  const { exact, diagnose: isAsked, secrets } = options;
  const signature = readSignature(options.signature);
  const secret = signature.shape === 'sha1' ? indexOfSigner(input, signature.digest, secrets) : 0;
  if (secret > 0) return { valid: true, secret, over: 'bytes' };
  const bytes = typeof input === 'string' ? Buffer.from(input) : input;
  if (isAsked === true) return new Verifier(options, budget).update(bytes).finish();
  rejectEmptySecrets(secrets);
  const isKept = exact !== true && bytes.length <= LARGEST_STRINGIFIED_BODY;
  const body = isKept ? new KeptBody(bufferOver(bytes)) : undefined;
  return validOverStringified(body, signature, secrets) ?? { valid: false };
}

/** Verifies as `verify` does a body that arrives in pieces, of any size, in constant memory. Throws the errors of `verify`. */
export class Verifier {
  readonly #given: GivenSignature;
  readonly #options: VerifyOptions;
  readonly #budget: DiagnosisBudget;
  /** The digests that the signature should be among. */
  readonly #right: BodyDigests;
  /** The digests with the hash that the signature seems to have. */
  readonly #digests: BodyDigests;
  #kept: Uint8Array[] | undefined;
  #body: KeptBody | undefined;

  constructor(options: VerifyOptions, budget: DiagnosisBudget = diagnosisBudget()) {
    checkOptions(options, { kinds: KINDS, otherNames: OTHER_NAMES });
    rejectEmptySecrets(options.secrets);
    this.#options = options;
    this.#budget = budget;
    this.#given = readSignature(options.signature);
    this.#kept = options.exact === true && options.diagnose !== true ? undefined : [];
    const { secrets } = options;
    this.#right = new BodyDigests('sha1', secrets);
    const given = this.#given;
    this.#digests = given.shape === 'other-hash' ? new BodyDigests(given.algorithm, secrets) : this.#right;
  }

  /** The number of bytes so far. */
  get bytes(): number {
    return this.#digests.bytes;
  }

  /** The chunk may be reused by the caller afterwards. */
  update(chunk: Uint8Array): this {
    this.#digests.update(chunk);
    if (this.#right !== this.#digests) this.#right.update(chunk);
    if (this.bytes > this.#largestKept) this.#kept = undefined;
    this.#kept?.push(new Uint8Array(chunk));
    this.#body = undefined;
    return this;
  }

  /** The right signature of the bytes so far, under the first secret. Shown to a sender, it would sign for a forger. */
  get expected(): string {
    return this.#right.all()[0]?.toString('hex') ?? '';
  }

  finish(): VerifyResult {
    const verdict = this.verdict();
    if (verdict.valid || this.#options.diagnose !== true) return verdict;
    return { valid: false, diagnosis: this.explain(this.#options) };
  }

  /** The verdict without a diagnosis. */
  verdict(): VerifyResult {
    const { exact, secrets } = this.#options;
    const body = exact === true ? undefined : this.#wholeBody();
    return this.#overBytes() ?? validOverStringified(body, this.#given, secrets) ?? { valid: false };
  }

  /** The diagnosis of a mismatch, with what is known of secrets besides those that are accepted. */
  explain({
    otherSecrets = [],
    secretOrigin,
  }: Pick<VerifyOptions, 'otherSecrets' | 'secretOrigin'>): Diagnosis {
    const { secrets } = this.#options;
    const body = this.#wholeBody();
    const evidence = {
      given: this.#given,
      digests: this.#digests,
      secrets,
      otherSecrets,
      secretOrigin,
      body,
    };
    return diagnose(evidence, this.#budget(this.bytes));
  }

  #wholeBody(): KeptBody | undefined {
    return this.#kept && (this.#body ??= new KeptBody(Buffer.concat(this.#kept)));
  }

  get #largestKept(): number {
    return this.#options.diagnose === true ? LARGEST_KEPT_BODY : LARGEST_STRINGIFIED_BODY;
  }

  #overBytes(): ValidVerdict | undefined {
    if (this.#given.shape !== 'sha1') return undefined;
    const { digest } = this.#given;
    const secret = 1 + this.#digests.all().findIndex((each) => sameDigest(each, digest));
    return secret > 0 ? { valid: true, secret, over: 'bytes' } : undefined;
  }
}

function validOverStringified(
  body: KeptBody | undefined,
  given: GivenSignature,
  secrets: readonly string[],
): ValidVerdict | undefined {
  // The bytes did not match, so the same bytes need no second digest.
  if (given.shape !== 'sha1' || body?.json === undefined || body.isStringified) return undefined;
  const secret = indexOfSigner(body.json, given.digest, secrets);
  if (secret === 0) return undefined;
  const note = whyDiffers(body.bytes.toString('utf8'), body.json);
  return { valid: true, secret, over: 'stringified', note };
}

function bufferOver({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

/** The secret that gives this digest, counted from 1; 0 if none does. */
function indexOfSigner(body: Uint8Array | string, digest: Buffer, secrets: readonly string[]): number {
  rejectEmptySecrets(secrets);
  return 1 + secrets.findIndex((secret) => sameDigest(Buffer.from(sign(body, secret), 'hex'), digest));
}

function rejectEmptySecrets(secrets: readonly string[]): void {
  if (!Array.isArray(secrets) || secrets.some((secret) => typeof secret !== 'string')) throw secretsNotText();
  if (secrets.length > 0 && !secrets.includes('')) return;
  throw new SignatureError('Expected at least one secret to verify with, got none or an empty one', {
    reason: 'empty-secret',
    hint: 'give every secret that the sender may sign with; with an empty one anyone could sign',
  });
}

function secretsNotText(): SignatureError {
  return new SignatureError('Expected `secrets` to be a list of strings', {
    reason: 'secret-type',
    hint: "write secrets: ['the secret that the sender signs with']",
  });
}
