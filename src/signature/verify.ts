import { diagnosisBudget, type DiagnosisBudget } from './diagnosis/deadline.ts';
import { undiagnosed, type Diagnosis } from './diagnosis/diagnose.ts';
import { KeptBody } from './diagnosis/body/kept-body.ts';
import { missingSignatureFix } from './diagnosis/reasons.ts';
import { readSignature } from './given-signature.ts';
import { indexOfSigner, matchOverStringified, rejectEmptySecrets } from './lenient-check.ts';
import { DEFAULT_SCHEMES, findSchemes } from './schemes/find-schemes.ts';
import { headerList } from './schemes/header-list.ts';
import { schemeListText, signatureHeaderNames } from './schemes/layout.ts';
import type { SignatureScheme } from './schemes/scheme.ts';
import type { SchemeMatch, SignatureCheck } from './signature-check.ts';
import { signatureChecks } from './signature-checks.ts';
import { checkVerifyOptions, type VerifyOptions, type VerifyResult } from './verify-options.ts';

export type { InvalidVerdict, ValidVerdict, VerifyOptions, VerifyResult } from './verify-options.ts';

/** The largest body that is kept whole, for the checks that need all of it. Of them only with `diagnose`. */
export const LARGEST_KEPT_BODY = 8 * 1024 * 1024;

/**
 * The largest body that is parsed to compare its JSON-stringified form, without `diagnose`. Four times the largest message:
 * one that a proxy has indented, or whose characters it has escaped, is within it. Parsing costs 20 to 200 times as much as
 * the digest, and anyone can send a mismatch.
 */
export const LARGEST_STRINGIFIED_BODY = 128 * 1024;

/**
 * Verifies that a body was signed with one of the secrets (contract, Signature), by the schemes that are named; by default over its bytes, then over its JSON-stringified
 * form, which of a body of more than 128 KiB is compared only with `diagnose`. With `diagnose` it finds the common mistake that
 * explains a mismatch; `budget` limits how long that may take. A string stands for its UTF-8. Throws SignatureError when
 * a secret is empty or there is none, and for a signature that is not text; ConfigError for an option that is misspelled
 * or of another kind, and for a scheme that is unknown.
 */
export function verify(
  given: VerifyOptions & { readonly body: Uint8Array | string },
  budget: DiagnosisBudget = diagnosisBudget(),
): VerifyResult {
  checkVerifyOptions(given, { body: 'given' });
  const { body: input, ...options } = given;
  if (options.scheme === undefined && options.headers === undefined && options.diagnose !== true) {
    return verifyByDefault(input, options);
  }
  return new Verifier(options, budget).update(bytesOf(input)).finish();
}

/** Verifies by the default scheme alone, without what a body in pieces takes. */
function verifyByDefault(
  input: Uint8Array | string,
  { signature: given, secrets, exact }: VerifyOptions,
): VerifyResult {
  const signature = readSignature(given);
  const secret = signature.shape === 'sha1' ? indexOfSigner(input, signature.digest, secrets) : 0;
  if (secret > 0) return { valid: true, secret, over: 'bytes' };
  const bytes = bytesOf(input);
  rejectEmptySecrets(secrets);
  const isKept = exact !== true && bytes.length <= LARGEST_STRINGIFIED_BODY;
  const match = matchOverStringified(
    isKept ? new KeptBody(bufferOver(bytes)) : undefined,
    signature,
    secrets,
  );
  return match === undefined ? { valid: false } : { valid: true, ...match };
}

function bytesOf(body: Uint8Array | string): Uint8Array {
  return typeof body === 'string' ? Buffer.from(body) : body;
}

function bufferOver({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

/** Verifies as `verify` does a body that arrives in pieces, of any size, in constant memory. Throws the errors of `verify`. */
export class Verifier {
  readonly #options: VerifyOptions;
  readonly #budget: DiagnosisBudget;
  readonly #schemes: readonly SignatureScheme[];
  /** One for each scheme that came. */
  readonly #checks: readonly SignatureCheck[];
  readonly #largestKept: number;
  #bytes = 0;
  #kept: Uint8Array[] | undefined;
  #body: KeptBody | undefined;

  constructor(options: VerifyOptions, budget: DiagnosisBudget = diagnosisBudget()) {
    checkVerifyOptions(options);
    rejectEmptySecrets(options.secrets);
    this.#options = options;
    this.#budget = budget;
    const {
      scheme,
      headers,
      signature,
      secrets,
      exact,
      diagnose,
      at = Date.now(),
      ignoreTimestamp = false,
    } = options;
    const schemes = scheme === undefined ? DEFAULT_SCHEMES : findSchemes(scheme, { key: 'scheme' });
    this.#schemes = schemes;
    const list = headers === undefined ? undefined : headerList(headers);
    this.#checks = signatureChecks(schemes, { headers: list, signature, secrets, at, ignoreTimestamp });
    const coversPart = schemes.some(({ covers }) => covers === 'first');
    this.#largestKept = diagnose === true || coversPart ? LARGEST_KEPT_BODY : LARGEST_STRINGIFIED_BODY;
    const isLenient = schemes.some((each) => each.isLenient === true) && exact !== true;
    this.#kept = isLenient || coversPart || diagnose === true ? [] : undefined;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** The chunk may be reused by the caller afterwards. */
  update(chunk: Uint8Array): this {
    this.#bytes += chunk.length;
    for (const check of this.#checks) check.update(chunk);
    if (this.bytes > this.#largestKept) this.#kept = undefined;
    this.#kept?.push(new Uint8Array(chunk));
    this.#body = undefined;
    return this;
  }

  /** The right signature of the bytes so far, under the first secret, of the first scheme that does not match. Shown to a sender, it would sign for a forger. */
  get expected(): string {
    return this.#failing()?.expected(this.#wholeBody()) ?? '';
  }

  /** The header of that scheme as it came. */
  get got(): string {
    return this.#failing()?.got ?? '';
  }

  finish(): VerifyResult {
    const verdict = this.verdict();
    if (verdict.valid || this.#options.diagnose !== true) return verdict;
    return { valid: false, diagnosis: this.explain(this.#options) };
  }

  /** The verdict without a diagnosis. */
  verdict(): VerifyResult {
    const matches = this.#checks.map((check) => this.#match(check));
    const [first, ...others] = matches.filter((match) => match !== undefined);
    if (first === undefined || others.length + 1 < this.#checks.length) return { valid: false };
    const partial = matches.every((match) => match?.partial !== undefined) ? first.partial : undefined;
    const { partial: _partial, ...match } = first;
    return {
      valid: true,
      ...match,
      ...(!this.#isDefault() && { scheme: schemeListText(this.#checks.map(({ scheme }) => scheme)) }),
      ...(partial !== undefined && { partial }),
    };
  }

  /** The diagnosis of a mismatch, with what is known of secrets besides those that are accepted. */
  explain({
    otherSecrets = [],
    secretOrigin,
  }: Pick<VerifyOptions, 'otherSecrets' | 'secretOrigin'>): Diagnosis {
    const check = this.#failing();
    if (check === undefined) return noSignature(this.#bytes, this.#schemes);
    const deadline = this.#budget(this.bytes);
    return check.explain({ body: this.#wholeBody(), otherSecrets, secretOrigin, deadline });
  }

  #isDefault(): boolean {
    return this.#checks.every(({ scheme }) => DEFAULT_SCHEMES.includes(scheme));
  }

  #failing(): SignatureCheck | undefined {
    return this.#checks.find((check) => this.#match(check) === undefined) ?? this.#checks[0];
  }

  #match(check: SignatureCheck): SchemeMatch | undefined {
    return check.match(
      this.#options.exact === true && check.scheme.isLenient === true ? undefined : this.#wholeBody(),
    );
  }

  #wholeBody(): KeptBody | undefined {
    return this.#kept && (this.#body ??= new KeptBody(Buffer.concat(this.#kept)));
  }
}

function noSignature(bytes: number, schemes: readonly SignatureScheme[]): Diagnosis {
  const names = signatureHeaderNames(schemes);
  const found = undiagnosed(bytes, {
    why: `no signature of a scheme that is accepted came (${names})`,
    fix: missingSignatureFix(names, schemeListText(schemes)),
  });
  return { ...found, code: 'no-signature' };
}
