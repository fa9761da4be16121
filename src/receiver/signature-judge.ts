import type { Clock } from '../clock.ts';
import { diagnosisBudget, type DiagnosisBudget } from '../signature/diagnosis/deadline.ts';
import { undiagnosed, type Diagnosis } from '../signature/diagnosis/diagnose.ts';
import { REASONS } from '../signature/diagnosis/reasons.ts';
import { sign } from '../signature/sign.ts';
import { signatureHeadersText } from '../signature/signature-headers.ts';
import {
  LARGEST_STRINGIFIED_BODY,
  verify,
  type ValidVerdict,
  type VerifyOptions,
} from '../signature/verify.ts';
import { DiagnosisQuota } from './diagnosis-quota.ts';
import type { SignatureJudgement } from './received-request.ts';

export const UNCHECKED: SignatureJudgement = { verdict: 'unchecked' };

/** What the diagnosis of a mismatch may know of secrets besides those that are accepted. */
export type SecretsForDiagnosis = Pick<VerifyOptions, 'otherSecrets' | 'secretOrigin'>;

/** Checks the signature of each request. */
export class SignatureJudge {
  readonly #secrets: readonly string[];
  readonly #known: SecretsForDiagnosis;
  readonly #quota: DiagnosisQuota;
  readonly #budget: DiagnosisBudget;

  constructor(secrets: readonly string[], clock: Clock, known: SecretsForDiagnosis = {}) {
    this.#secrets = secrets;
    this.#known = known;
    this.#quota = new DiagnosisQuota(() => clock.now());
    this.#budget = diagnosisBudget(() => clock.now());
  }

  judge(rawHeaders: readonly string[], body: Uint8Array): SignatureJudgement {
    const secrets = this.#secrets;
    if (secrets.length === 0) return UNCHECKED;
    const signatures = signaturesOf(rawHeaders);
    const [signature] = signatures;
    if (signature === undefined) return unsigned(rawHeaders);
    if (signatures.length > 1) return severalSignatures(signatures.length);
    const verification = verify({ body, signature, secrets });
    return verification.valid ? toValid(verification) : this.#invalid(body, signature);
  }

  #invalid(body: Uint8Array, signature: string): SignatureJudgement {
    const options = { body, signature, secrets: this.#secrets, diagnose: true, ...this.#known };
    const verification = this.#quota.use(() => verify(options, this.#budget));
    const found = verification?.valid === true ? tooLargeFor(verification, body) : verification?.diagnosis;
    const diagnosis = found ?? undiagnosed(body.byteLength, TOO_MANY);
    return { verdict: 'invalid', diagnosis, expected: sign(body, this.#secrets[0] ?? ''), got: signature };
  }
}

function toValid({ secret, note }: ValidVerdict): SignatureJudgement {
  return note === undefined ? { verdict: 'valid', secret } : { verdict: 'valid', secret, note };
}

/**
 * Explains a match over the JSON-stringified form of a body that is too large for it to count. Only diagnosing parses such
 * a body, and a verdict must not depend on how many requests are diagnosed.
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

/** Explains a missing signature where another header came in its place. */
function unsigned(rawHeaders: readonly string[]): SignatureJudgement {
  const text = signatureHeadersText(rawHeaders.filter((_, index) => index % 2 === 0));
  if (text === undefined) return { verdict: 'unsigned' };
  const hint = `${text}. ${REASONS['no-signature'].fix}`;
  return { verdict: 'unsigned', diagnosis: { code: 'no-signature', hint } };
}

/** Reads the raw headers, since Node's parsed ones join two X-Signature headers into one value. */
function signaturesOf(rawHeaders: readonly string[]): string[] {
  const found: string[] = [];
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const [name, value] = [rawHeaders[index], rawHeaders[index + 1]];
    if (name?.length === 11 && name.toLowerCase() === 'x-signature' && value !== undefined) found.push(value);
  }
  return found;
}

/** Rejects a second signature that a sender or a proxy adds: the receiver cannot know which one counts. */
function severalSignatures(count: number): SignatureJudgement {
  const hint = `the request has ${count} X-Signature headers; send exactly one`;
  return { verdict: 'invalid', diagnosis: { code: 'no-match', hint } };
}
