import { layoutOf, signatureHeaderNames, type HeaderField } from '../signature/schemes/layout.ts';
import type { SignatureScheme } from '../signature/schemes/scheme.ts';
import type { Check } from './check.ts';
import { forgery, FORGERY_CHECKS } from './forgery-checks.ts';
import type { CheckRequest, Sample } from './sample.ts';
import type { Suspect } from './mistakes/suspect-model.ts';

/** A check of a field that a scheme signs, and the mistake of a receiver that fails it. */
type SchemeForgery = Readonly<{ check: Check; suspect: Suspect }>;

/**
 * Returns the forgery checks for these schemes: the common checks, and checks of the fields that the schemes sign besides
 * the body, such as a timestamp.
 */
export function schemeChecks(schemes: readonly SignatureScheme[]): readonly Check[] {
  return [...FORGERY_CHECKS, ...schemeForgeries(schemes).map(({ check }) => check)];
}

export function schemeForgeries(schemes: readonly SignatureScheme[]): readonly SchemeForgery[] {
  return schemes.flatMap((scheme) =>
    forgedFields(scheme, schemes).flatMap((forged) => (forged ? [schemeForgery(scheme, forged)] : [])),
  );
}

function forgedFields(
  scheme: SignatureScheme,
  schemes: readonly SignatureScheme[],
): readonly (ForgedField | false)[] {
  const { name, tolerance } = scheme;
  const { hasTimestamp, hasId } = layoutOf(scheme);
  const changed = (field: HeaderField, change: (text: string) => string): ForgedField['request'] => {
    return (sample, body) => sample.withField(body, { schemes: [scheme], field, change });
  };
  return [
    schemes.length > 1 &&
      isStrong(scheme, schemes) && {
        kind: 'forged',
        title: `a wrong signature of ${name} beside right ones of the others`,
        says: `it does not verify ${name}, so another scheme alone decides`,
        request: (sample, body) => sample.forged(body, { only: scheme }),
      },
    tolerance !== undefined && {
      kind: 'old-timestamp',
      title: `a right signature of ${name} with a very old timestamp`,
      says: 'it accepts a message of any age, so an intercepted message can be sent again',
      request: (sample, body) => sample.signedAt(body, { agoMs: (10 * tolerance + 3_600) * 1000 }),
    },
    hasTimestamp && {
      kind: 'other-timestamp',
      title: `a time of ${name} other than the signed one`,
      says: 'it does not verify the timestamp, so anyone can change it',
      request: changed('timestamp', (text) => String(Number(text) - 1)),
    },
    hasId && {
      kind: 'other-id',
      title: `an id of ${name} other than the signed one`,
      says: 'it does not verify the id, so a repeated message passes for a new one',
      request: changed('id', (text) => `${text}x`),
    },
  ];
}

/**
 * Whether a receiver must verify this scheme even if it verifies the other schemes, because the scheme is not weaker than
 * they are.
 */
function isStrong({ hash }: SignatureScheme, schemes: readonly SignatureScheme[]): boolean {
  return hash !== 'sha1' || schemes.every((scheme) => scheme.hash === 'sha1');
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

interface ForgedField {
  /** First part of the check's code. The scheme's name follows: `forged-github`. */
  readonly kind: string;
  readonly title: string;
  readonly says: string;
  readonly request: (sample: Sample, body: Buffer) => CheckRequest;
}

function schemeForgery(scheme: SignatureScheme, { kind, title, says, request }: ForgedField): SchemeForgery {
  const code = `${kind}-${scheme.name}`;
  const suspect: Suspect = {
    code: `accepts-${code}`,
    says: `it lets forgers in: ${says}`,
    fix: verifyingFix(scheme),
    always: [code],
    never: ['wrong-signature'],
    shows: ['taken'],
  };
  return { check: forgery(code, title, request), suspect };
}
