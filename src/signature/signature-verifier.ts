import type { Deadline } from './deadline.ts';
import type { MismatchEvidence } from './evidence.ts';
import { KeptBody, type LossyMatch } from './body/kept-body.ts';
import { rejectEmptySecrets } from './lenient-signature.ts';
import { DEFAULT_SCHEMES, findSchemes } from './schemes/find-schemes.ts';
import { headerList } from './schemes/header-list.ts';
import { schemeListText } from './schemes/layout.ts';
import type { SignatureScheme } from './schemes/scheme.ts';
import type { SchemeMatch, SignatureVerification } from './signature-verification.ts';
import { signatureVerifications } from './signature-verifications.ts';
import type { VerifyOptions, VerifyResult } from './verify-options.ts';

/** Maximum bytes of a body that is kept whole for a diagnosis, or for a scheme that covers a part of the body. */
export const LARGEST_KEPT_BODY = 8 * 1024 * 1024;

/**
 * Maximum bytes of a body that is parsed to compare its JSON-stringified form, without `diagnose`. Four times the largest
 * message, so that a message that a proxy indented or escaped fits. Parsing costs 20 to 200 times as much as the digest, and
 * anyone can send a mismatch.
 */
export const LARGEST_STRINGIFIED_BODY = 128 * 1024;

/**
 * Verifies a body in chunks, of any size, in constant memory. Throws the errors of `verify`, but does not validate the names
 * and kinds of the options: only JavaScript can pass others, to `ExplainingVerifier`, which validates them.
 */
export class SignatureVerifier {
  readonly #options: VerifyOptions;
  readonly #schemes: readonly SignatureScheme[];
  /** The verifications, one per scheme whose headers are present. */
  readonly #verifications: readonly SignatureVerification[];
  readonly #largestKept: number;
  readonly #largestParsed: number;
  #bytes = 0;
  #kept: Uint8Array[] | undefined;
  #body: KeptBody | undefined;

  /** Bodies over `largestParsed` bytes are not compared in their JSON-stringified form. */
  constructor(options: VerifyOptions, largestParsed = LARGEST_KEPT_BODY) {
    rejectEmptySecrets(options.secrets);
    this.#options = options;
    const { scheme, headers, signature, secrets, exact, diagnose } = options;
    const { at = Date.now(), ignoreTimestamp = false } = options;
    const schemes = scheme === undefined ? DEFAULT_SCHEMES : findSchemes(scheme, { key: 'scheme' });
    this.#schemes = schemes;
    const list = headers === undefined ? undefined : headerList(headers);
    const given = { headers: list, signature, secrets, at, ignoreTimestamp };
    this.#verifications = signatureVerifications(schemes, given);
    const coversPart = schemes.some(({ covers }) => covers === 'first');
    this.#largestKept = diagnose === true || coversPart ? LARGEST_KEPT_BODY : LARGEST_STRINGIFIED_BODY;
    this.#largestParsed = coversPart ? LARGEST_KEPT_BODY : largestParsed;
    const isLenient = schemes.some((each) => each.isLenient === true) && exact !== true;
    this.#kept = isLenient || coversPart || diagnose === true ? [] : undefined;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Adds a chunk of the body, which the caller can reuse afterwards. */
  update(chunk: Uint8Array): this {
    this.#bytes += chunk.length;
    for (const verification of this.#verifications) verification.update(chunk);
    if (this.#bytes > this.#largestKept) this.#kept = undefined;
    this.#kept?.push(new Uint8Array(chunk));
    this.#body = undefined;
    return this;
  }

  /**
   * The right signature of the bytes so far, made with the first secret. Belongs to the first scheme that does not match.
   * Never show it to a sender.
   */
  get expected(): string {
    return this.#failing()?.expected(this.#wholeBody()) ?? '';
  }

  /** The signature header, as received, of the first scheme that does not match. */
  get got(): string {
    return this.#failing()?.got ?? '';
  }

  /** The verdict on all signatures, without the diagnosis of a mismatch. */
  verdict(): VerifyResult {
    const matches = this.#verifications.map((verification) => this.#match(verification));
    const [first, ...others] = matches.filter(counts);
    if (first === undefined || others.length + 1 < this.#verifications.length) return { valid: false };
    const partial = others.every((match) => match.partial !== undefined) ? first.partial : undefined;
    const { partial: _partial, ...match } = first;
    return {
      valid: true,
      ...match,
      ...(!this.#isDefault() && { scheme: schemeListText(this.#verifications.map(({ scheme }) => scheme)) }),
      ...(partial !== undefined && { partial }),
    };
  }

  /** Collects the evidence from which a mismatch is explained. */
  mismatch(
    { otherSecrets = [], secretOrigin }: Pick<VerifyOptions, 'otherSecrets' | 'secretOrigin'>,
    deadline: Deadline,
  ): MismatchEvidence {
    const lossy = this.lossy();
    if (lossy !== undefined) return lossy;
    const verification = this.#failing();
    if (verification === undefined) return { kind: 'none', bytes: this.#bytes, schemes: this.#schemes };
    return verification.evidence({
      body: this.#wholeBody(),
      otherSecrets,
      secretOrigin,
      deadline,
      target: this.#options.target,
      acceptsStringified: verification.scheme.isLenient === true && !this.#isExact(verification),
    });
  }

  /**
   * A match that does not make the signature valid, because parsing the body loses something. Undefined if there is none.
   */
  lossy(): LossyMatch | undefined {
    return this.#verifications
      .map((verification) => this.#match(verification))
      .find((match) => match !== undefined && 'loss' in match);
  }

  #isDefault(): boolean {
    return this.#verifications.every(({ scheme }) => DEFAULT_SCHEMES.includes(scheme));
  }

  /** The verification whose signature `expected` and `got` show: the first that fails, or the first of all if none fails. */
  #failing(): SignatureVerification | undefined {
    return (
      this.#verifications.find((verification) => !counts(this.#match(verification))) ?? this.#verifications[0]
    );
  }

  #match(verification: SignatureVerification): SchemeMatch | LossyMatch | undefined {
    const isExact = this.#isExact(verification);
    return verification.match(() => (isExact ? undefined : this.#wholeBody()));
  }

  #isExact({ scheme }: SignatureVerification): boolean {
    return this.#options.exact === true && scheme.isLenient === true;
  }

  #wholeBody(): KeptBody | undefined {
    return this.#kept && (this.#body ??= new KeptBody(Buffer.concat(this.#kept), this.#largestParsed));
  }
}

function counts(match: SchemeMatch | LossyMatch | undefined): match is SchemeMatch {
  return match !== undefined && !('loss' in match);
}
