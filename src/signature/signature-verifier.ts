import type { Deadline } from './deadline.ts';
import type { MismatchEvidence } from './evidence.ts';
import { KeptBody, type LossyMatch } from './body/kept-body.ts';
import { rejectEmptySecrets } from './lenient-check.ts';
import { DEFAULT_SCHEMES, findSchemes } from './schemes/find-schemes.ts';
import { headerList } from './schemes/header-list.ts';
import { schemeListText } from './schemes/layout.ts';
import type { SignatureScheme } from './schemes/scheme.ts';
import type { SchemeMatch, SignatureCheck } from './signature-check.ts';
import { signatureChecks } from './signature-checks.ts';
import { checkVerifyOptions, type VerifyOptions, type VerifyResult } from './verify-options.ts';

/** The largest body that is kept whole, for the checks that need all of it. Of them only with `diagnose`. */
export const LARGEST_KEPT_BODY = 8 * 1024 * 1024;

/**
 * The largest body that is parsed to compare its JSON-stringified form, without `diagnose`. Four times the largest message:
 * one that a proxy has indented, or whose characters it has escaped, is within it. Parsing costs 20 to 200 times as much as
 * the digest, and anyone can send a mismatch.
 */
export const LARGEST_STRINGIFIED_BODY = 128 * 1024;

/** Verifies a body that arrives in pieces, of any size, in constant memory. Throws the errors of `verify`. */
export class SignatureVerifier {
  readonly #options: VerifyOptions;
  readonly #schemes: readonly SignatureScheme[];
  /** One for each scheme that came. */
  readonly #checks: readonly SignatureCheck[];
  readonly #largestKept: number;
  readonly #largestParsed: number;
  #bytes = 0;
  #kept: Uint8Array[] | undefined;
  #body: KeptBody | undefined;

  /** The JSON-stringified form of a body that is larger than `largestParsed` is not compared. */
  constructor(options: VerifyOptions, largestParsed = LARGEST_KEPT_BODY) {
    checkVerifyOptions(options);
    rejectEmptySecrets(options.secrets);
    this.#options = options;
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
    this.#largestParsed = coversPart ? LARGEST_KEPT_BODY : largestParsed;
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

  /** The verdict without a diagnosis. */
  verdict(): VerifyResult {
    const matches = this.#checks.map((check) => this.#match(check));
    const [first, ...others] = matches.filter(counts);
    if (first === undefined || others.length + 1 < this.#checks.length) return { valid: false };
    const partial = others.every((match) => match.partial !== undefined) ? first.partial : undefined;
    const { partial: _partial, ...match } = first;
    return {
      valid: true,
      ...match,
      ...(!this.#isDefault() && { scheme: schemeListText(this.#checks.map(({ scheme }) => scheme)) }),
      ...(partial !== undefined && { partial }),
    };
  }

  /** What explains a mismatch, with what is known of secrets besides those that are accepted. */
  mismatch(
    { otherSecrets = [], secretOrigin }: Pick<VerifyOptions, 'otherSecrets' | 'secretOrigin'>,
    deadline: Deadline,
  ): MismatchEvidence {
    const lossy = this.lossy();
    if (lossy !== undefined) return lossy;
    const check = this.#failing();
    if (check === undefined) return { kind: 'none', bytes: this.#bytes, schemes: this.#schemes };
    return check.evidence({ body: this.#wholeBody(), otherSecrets, secretOrigin, deadline });
  }

  /** What explains a match that does not count, since parsing the body loses something. */
  lossy(): LossyMatch | undefined {
    return this.#checks
      .map((check) => this.#match(check))
      .find((match) => match !== undefined && 'loss' in match);
  }

  #isDefault(): boolean {
    return this.#checks.every(({ scheme }) => DEFAULT_SCHEMES.includes(scheme));
  }

  #failing(): SignatureCheck | undefined {
    return this.#checks.find((check) => !counts(this.#match(check))) ?? this.#checks[0];
  }

  #match(check: SignatureCheck): SchemeMatch | LossyMatch | undefined {
    return check.match(
      this.#options.exact === true && check.scheme.isLenient === true ? undefined : this.#wholeBody(),
    );
  }

  #wholeBody(): KeptBody | undefined {
    return this.#kept && (this.#body ??= new KeptBody(Buffer.concat(this.#kept), this.#largestParsed));
  }
}

function counts(match: SchemeMatch | LossyMatch | undefined): match is SchemeMatch {
  return match !== undefined && !('loss' in match);
}
