import { processorMs, type Clock } from '../clock.ts';
import { shownSignature } from './shown-signature.ts';
import { Deadline, type DiagnosisBudget } from '../signature/deadline.ts';
import {
  diagnosisOf,
  undiagnosed,
  type Diagnosis,
  type ExplainMismatch,
  type RequestTarget,
} from '../signature/evidence.ts';
import { FIXES, missingSignatureFix } from '../signature/reasons.ts';
import { detectSchemes, missingSignature } from '../signature/schemes/detect-schemes.ts';
import { DEFAULT_SCHEMES, findSchemes } from '../signature/schemes/find-schemes.ts';
import { headerValues, rawHeaderList, type HeaderList } from '../signature/schemes/header-list.ts';
import { layoutOf, schemeListText, signatureHeaderNames } from '../signature/schemes/layout.ts';
import type { SignatureScheme } from '../signature/schemes/scheme.ts';
import { rejectUnusableSchemes } from '../signature/schemes/secrets.ts';
import { signatureHeadersText } from '../signature/signature-headers.ts';
import { LARGEST_STRINGIFIED_BODY } from '../signature/signature-verifier.ts';
import { prefixWarning } from '../signature/lenient-signature.ts';
import type { ValidVerdict, VerifyOptions, VerifyResult } from '../signature/verify-options.ts';
import { ExplainingVerifier, verifyBody, type Explaining } from '../signature/verify.ts';
import type { ReceiverOptions, SecretsForDiagnosis } from './options.ts';
import type { ReceivedRequest, SignatureJudgement } from './received-request.ts';

export const UNCHECKED: SignatureJudgement = { verdict: 'unchecked' };

/** The facts of a request that a later search for the cause of its mismatch needs. */
export type MismatchedRequest = Pick<ReceivedRequest, 'rawHeaders' | 'body' | 'at' | 'method' | 'path'>;

type JudgeOptions = Pick<ReceiverOptions, 'secrets' | 'scheme' | 'detectSchemes' | 'knownSecrets'>;

/** Verifies the signatures of requests. */
export class SignatureJudge {
  readonly #secrets: readonly string[];
  readonly #known: SecretsForDiagnosis;
  /** The expected schemes. Undefined to detect the schemes from each request. */
  readonly #schemes: readonly SignatureScheme[] | undefined;
  readonly #own: readonly SignatureScheme[];
  readonly #clock: Clock;
  readonly #explaining: Explaining;
  readonly #quota: DiagnosisQuota;

  /** Creates a judge of signatures. Throws ConfigError if a scheme is unknown or cannot use any of the secrets. */
  constructor(
    { secrets, scheme, detectSchemes: own = false, knownSecrets = {} }: JudgeOptions,
    { clock, explain }: { readonly clock: Clock; readonly explain: ExplainMismatch },
  ) {
    this.#secrets = secrets;
    this.#known = knownSecrets;
    const isDetecting = scheme === undefined && own !== false;
    this.#schemes = isDetecting ? undefined : findSchemes(scheme ?? DEFAULT_SCHEMES, { key: 'scheme' });
    if (this.#schemes !== undefined && secrets.length > 0) rejectUnusableSchemes(this.#schemes, secrets);
    this.#own = own === false ? [] : own;
    this.#clock = clock;
    this.#explaining = { explain };
    this.#quota = new DiagnosisQuota(() => clock.now());
  }

  judge(rawHeaders: readonly string[], body: Uint8Array, target: RequestTarget): SignatureJudgement {
    const secrets = this.#secrets;
    if (secrets.length === 0) return UNCHECKED;
    const headers = rawHeaderList(rawHeaders);
    const scheme = this.#schemesOf(headers);
    const signatures = headerValues(headers, SIGNATURE_HEADER);
    if (isDefault(scheme) && signatures.length > 1) return severalSignatures(signatures.length);
    if (
      scheme.every((each) => headerValues(headers, layoutOf(each).signatureHeader.lowerName).length === 0)
    ) {
      return unsigned(rawHeaders, scheme);
    }
    const options = this.#optionsOf(headers, scheme, this.#clock.now());
    const verification = verifyBody({ body, ...options }, this.#explaining);
    if (!verification.valid) return this.#invalid(body, { ...options, target }, verification.diagnosis);
    const missing = this.#schemes === undefined ? missingSignature(headers, this.#own) : undefined;
    const warning = missing ?? (isDefault(scheme) ? prefixWarning(signatures[0]) : undefined);
    return { ...toValid(verification), ...(warning !== undefined && { warning }) };
  }

  /**
   * Searches for the cause of a mismatch for at most `budgetMs` of processor time, during which the receiver serves no
   * request. Undefined if the request has no mismatch.
   */
  searchLonger(
    { rawHeaders, body, at, method, path }: MismatchedRequest,
    budgetMs: number,
  ): Diagnosis | undefined {
    const headers = rawHeaderList(rawHeaders);
    const options = this.#optionsOf(headers, this.#schemesOf(headers), at);
    const budget = (): Deadline => new Deadline(budgetMs);
    const verifier = this.#verifierOf(body, { ...options, target: { method, path } }, budget);
    return explained(verifier.finish(), body, FIXES['no-match']);
  }

  /** The options of a verification. The default scheme needs no list of schemes and no other headers, and is faster so. */
  #optionsOf(headers: HeaderList, scheme: readonly SignatureScheme[], at: number): VerifyOptions {
    const secrets = this.#secrets;
    return isDefault(scheme)
      ? { secrets, signature: headerValues(headers, SIGNATURE_HEADER)[0] }
      : { secrets, scheme, headers, at };
  }

  #schemesOf(headers: HeaderList): readonly SignatureScheme[] {
    if (this.#schemes !== undefined) return this.#schemes;
    const detected = detectSchemes(headers, { own: this.#own, secrets: this.#secrets });
    return detected.length === 0 ? DEFAULT_SCHEMES : detected;
  }

  #invalid(body: Uint8Array, options: VerifyOptions, lossy: Diagnosis | undefined): SignatureJudgement {
    const verifier = this.#verifierOf(body, options);
    const verification = lossy === undefined ? this.#quota.use(() => verifier.finish()) : undefined;
    const found = verification && explained(verification, body, SEARCH_LONGER);
    const diagnosis = lossy ?? found ?? undiagnosed(body.byteLength, TOO_MANY);
    const { expected } = verifier;
    const got = shownSignature(verifier.got, this.#secrets);
    return { verdict: 'invalid', diagnosis, ...(expected !== '' && { expected }), got };
  }

  #verifierOf(body: Uint8Array, options: VerifyOptions, budget?: DiagnosisBudget): ExplainingVerifier {
    const diagnosing = { ...options, diagnose: true, ...this.#known };
    return new ExplainingVerifier(diagnosing, { ...this.#explaining, budget }).update(body);
  }
}

const SIGNATURE_HEADER = 'x-signature';

function isDefault(schemes: readonly SignatureScheme[]): boolean {
  return schemes.length === 1 && schemes[0] === DEFAULT_SCHEMES[0];
}

function toValid({ secret, note, scheme, partial }: ValidVerdict): SignatureJudgement {
  return {
    verdict: 'valid',
    secret,
    ...(note !== undefined && { note }),
    ...(scheme !== undefined && { scheme }),
    ...(partial !== undefined && { partial }),
  };
}

/** Returns the cause of a mismatch. A search that was cut short proves nothing about the secrets: `fix` says what to do. */
function explained(verification: VerifyResult, body: Uint8Array, fix: string): Diagnosis | undefined {
  if (verification.valid) return tooLargeFor(verification, body);
  const { diagnosis } = verification;
  if (diagnosis?.isCutShort !== true) return diagnosis;
  const { code } = diagnosis;
  return { ...undiagnosed(body.byteLength, { why: CUT_SHORT, fix }), code, codes: [code] };
}

const CUT_SHORT = 'the cause is unknown, because the search for it was cut short by its time limit';
const SEARCH_LONGER = 'Search longer before you change a secret';

/**
 * Explains why a large body does not count as signed although its JSON-stringified form matches. A receiver parses large
 * bodies only for a diagnosis, and diagnoses are limited by a quota: the verdict must not depend on that quota.
 */
function tooLargeFor({ note }: ValidVerdict, { byteLength }: Uint8Array): Diagnosis {
  return { ...undiagnosed(byteLength, TOO_LARGE), code: note ?? 'no-match' };
}

const TOO_LARGE = {
  why: `it matches the JSON-stringified body, which counts for bodies up to ${LARGEST_STRINGIFIED_BODY / 1024} KiB only`,
  fix: 'Sign and send one string, or save the request and pass it to hooks verify, which compares bodies up to 8 MiB',
};

const TOO_MANY = {
  why: 'not diagnosed: too many other mismatches came within a second',
  fix: 'Send one of these requests by itself to learn why',
};

/** The judgement of a request without a signature. Its diagnosis names the signature header of another scheme, if one came. */
function unsigned(rawHeaders: readonly string[], schemes: readonly SignatureScheme[]): SignatureJudgement {
  const wanted = signatureHeaderNames(schemes);
  const other = signatureHeadersText(
    rawHeaders.filter((_, index) => index % 2 === 0),
    { wanted },
  );
  const hint = `${other ?? `No ${wanted} came`}. ${missingSignatureFix(wanted, schemeListText(schemes))}`;
  return { verdict: 'unsigned', diagnosis: diagnosisOf('no-signature', 'proved', hint) };
}

/**
 * The judgement of a request with several signatures. The receiver cannot know which one counts, because a sender or a proxy
 * may have added the others.
 */
function severalSignatures(count: number): SignatureJudgement {
  const hint = `the request has ${count} X-Signature headers; send exactly one`;
  return { verdict: 'invalid', diagnosis: diagnosisOf('no-match', 'proved', hint) };
}

const MOST_A_SECOND = 10;
const MOST_MS_A_SECOND = 200;

/**
 * Limits a receiver to 10 diagnoses and 200 ms of processor time for them per second. Anyone can send requests that do not
 * match, and other requests must not wait for their diagnosis.
 */
export class DiagnosisQuota {
  readonly #now: () => number;
  readonly #spent: () => number;
  #since = -Infinity;
  #count = 0;
  #spentMs = 0;

  /** Creates a quota. `now` returns the time, and `spent` the processor time of the process, in ms. */
  constructor(now: () => number, spent: () => number = processorMs) {
    this.#now = now;
    this.#spent = spent;
  }

  /** Calls `diagnose` and returns its result. Undefined if the quota of this second is used up. */
  use<Result>(diagnose: () => Result): Result | undefined {
    const startedAt = this.#now();
    if (startedAt >= this.#since + 1_000) this.#renew(startedAt);
    if (this.#count >= MOST_A_SECOND || this.#spentMs >= MOST_MS_A_SECOND) return undefined;
    this.#count++;
    const before = this.#spent();
    const result = diagnose();
    this.#spentMs += this.#spent() - before;
    return result;
  }

  #renew(now: number): void {
    this.#since = now;
    this.#count = 0;
    this.#spentMs = 0;
  }
}
