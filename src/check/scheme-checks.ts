import { layoutOf, signatureHeaderNames } from '../signature/schemes/layout.ts';
import type { SignatureScheme } from '../signature/schemes/scheme.ts';
import type { Check, ReceiverMistake } from './check.ts';
import { forgery, FORGERY_CHECKS } from './forgery-checks.ts';
import type { CheckRequest, Sample } from './sample.ts';

/**
 * Returns the forgery checks for these schemes: the common checks with texts for the schemes, and checks of the fields that
 * the schemes sign besides the body, such as a timestamp.
 */
export function schemeChecks(schemes: readonly SignatureScheme[]): readonly Check[] {
  const common = FORGERY_CHECKS.map((check) => inWordsOf(schemes, check));
  const own = schemes.flatMap((scheme) => [
    ...(schemes.length > 1 && isStrong(scheme, schemes) ? [forgedAmongOthers(scheme)] : []),
    ...(scheme.tolerance === undefined ? [] : [oldTimestamp(scheme, scheme.tolerance)]),
    ...(layoutOf(scheme).hasTimestamp ? [otherField(scheme, OTHER_TIMESTAMP)] : []),
    ...(layoutOf(scheme).hasId ? [otherField(scheme, OTHER_ID)] : []),
  ]);
  return [...common, ...own];
}

/**
 * Whether a receiver must verify this scheme even if it verifies the other schemes, because the scheme is not weaker than
 * they are.
 */
function isStrong({ hash }: SignatureScheme, schemes: readonly SignatureScheme[]): boolean {
  return hash !== 'sha1' || schemes.every((scheme) => scheme.hash === 'sha1');
}

/**
 * Returns a forgery check with texts for these schemes. The original texts are for the default scheme and name its header.
 */
function inWordsOf(schemes: readonly SignatureScheme[], check: Check): Check {
  const { taken, failing } = check.mistakes ?? {};
  if (check.needsSecret !== true || taken === undefined) return check;
  const fix = check.code === 'malformed' ? taken.fix : verifyingFixes(schemes);
  const says = taken.says.replace('X-Signature', signatureHeaderNames(schemes));
  return { ...check, mistakes: { taken: { ...taken, says, fix }, ...(failing && { failing }) } };
}

/** Tells how to verify by all of these schemes. */
export function verifyingFixes(schemes: readonly SignatureScheme[]): string {
  return schemes.map(verifyingFix).join('; ');
}

/** Tells how to verify by a scheme. */
function verifyingFix(scheme: SignatureScheme): string {
  const { hash, signs, encoding, name, tolerance, covers } = scheme;
  const bytes =
    covers === 'first'
      ? "the first item of the body's list, JSON-stringified,"
      : signs === '{body}'
        ? 'the raw body'
        : `${signs} with the raw body`;
  const age = tolerance === undefined ? '' : `, reject a timestamp more than ${tolerance} s away`;
  return `for ${name} compute the HMAC-${hash.toUpperCase()} of ${bytes} in ${encoding}, compare it with ${signatureHeaderNames([scheme])}${age}, and respond with 401 before doing anything else`;
}

interface SchemeForgery {
  /** First part of the check's code. The scheme's name follows: `forged-github`. */
  readonly kind: string;
  readonly title: string;
  readonly says: string;
  readonly request: (sample: Sample, body: Buffer) => CheckRequest;
}

function schemeForgery(scheme: SignatureScheme, { kind, title, says, request }: SchemeForgery): Check {
  const code = `${kind}-${scheme.name}`;
  const mistake = (mistakeCode: string, text: string): ReceiverMistake => ({
    code: mistakeCode,
    says: text,
    fix: verifyingFix(scheme),
  });
  const taken = mistake(`accepts-${code}`, `it lets forgers in: ${says}`);
  const failing = mistake('fails-on-bad-signature', 'it fails instead of rejecting');
  return forgery(code, title, { taken, failing }, request);
}

function forgedAmongOthers(scheme: SignatureScheme): Check {
  return schemeForgery(scheme, {
    kind: 'forged',
    title: `a wrong signature of ${scheme.name} beside right ones of the others`,
    says: `it does not verify ${scheme.name}, so another scheme alone decides`,
    request: (sample, body) => sample.forged(body, { only: scheme }),
  });
}

function oldTimestamp(scheme: SignatureScheme, tolerance: number): Check {
  return schemeForgery(scheme, {
    kind: 'old-timestamp',
    title: `a right signature of ${scheme.name} with a very old timestamp`,
    says: 'it accepts a message of any age, so an intercepted message can be sent again',
    request: (sample, body) => sample.signedAt(body, { agoMs: (10 * tolerance + 3_600) * 1000 }),
  });
}

interface OtherField {
  readonly field: 'id' | 'timestamp';
  readonly name: string;
  readonly says: string;
  readonly change: (text: string) => string;
}

const OTHER_TIMESTAMP: OtherField = {
  field: 'timestamp',
  name: 'a time',
  says: 'it does not verify the timestamp, so anyone can change it',
  change: (text) => String(Number(text) - 1),
};

const OTHER_ID: OtherField = {
  field: 'id',
  name: 'an id',
  says: 'it does not verify the id, so a repeated message passes for a new one',
  change: (text) => `${text}x`,
};

function otherField(scheme: SignatureScheme, { field, name, says, change }: OtherField): Check {
  return schemeForgery(scheme, {
    kind: `other-${field}`,
    title: `${name} of ${scheme.name} other than the signed one`,
    says,
    request: (sample, body) => sample.withField(body, { schemes: [scheme], field, change }),
  });
}
