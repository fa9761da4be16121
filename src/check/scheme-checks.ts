import { layoutOf } from '../signature/schemes/layout.ts';
import type { SignatureScheme } from '../signature/schemes/scheme.ts';
import type { Check, Fault } from './check.ts';
import { FORGERY_CHECKS } from './forgery-checks.ts';

/** The forgeries of these schemes: those of every scheme, told in their words, and those of what they sign besides the body. */
export function schemeChecks(schemes: readonly SignatureScheme[]): readonly Check[] {
  const common = FORGERY_CHECKS.map((check) => inWordsOf(schemes, check));
  const own = schemes.flatMap((scheme) => [
    ...(schemes.length > 1 && isStrong(scheme, schemes) ? [forgedAmongOthers(scheme)] : []),
    ...(scheme.tolerance === undefined ? [] : [oldTimestamp(scheme, scheme.tolerance)]),
    ...(layoutOf(scheme).hasTimestamp ? [otherTimestamp(scheme)] : []),
    ...(layoutOf(scheme).hasId ? [otherId(scheme)] : []),
  ]);
  return [...common, ...own];
}

/** Whether a receiver that checks others may not pass this one over: it is not weaker than they are. */
function isStrong({ hash }: SignatureScheme, schemes: readonly SignatureScheme[]): boolean {
  return hash !== 'sha1' || schemes.every((scheme) => scheme.hash === 'sha1');
}

/** Texts that name a header are those of the default scheme alone. */
function inWordsOf(schemes: readonly SignatureScheme[], check: Check): Check {
  const { taken, failing } = check.faults ?? {};
  if (check.needsSecret !== true || taken === undefined) return check;
  const fix = check.code === 'malformed' ? taken.fix : fixFor(schemes);
  const says = taken.says.replace(
    'X-Signature',
    schemes.map((scheme) => layoutOf(scheme).signatureHeader.name).join(' and '),
  );
  return { ...check, faults: { taken: { ...taken, says, fix }, ...(failing && { failing }) } };
}

function fixFor(schemes: readonly SignatureScheme[]): string {
  return schemes.map(verifyingFix).join('; ');
}

/** How a receiver verifies by a scheme. */
function verifyingFix(scheme: SignatureScheme): string {
  const { hash, signs, encoding, name, tolerance } = scheme;
  const age = tolerance === undefined ? '' : `, reject a timestamp more than ${tolerance} s away`;
  return `for ${name} compute the HMAC-${hash.toUpperCase()} of ${signs} over the raw body in ${encoding}, compare it with ${layoutOf(scheme).signatureHeader.name}${age}, and respond with 401 before doing anything else`;
}

interface SchemeForgery {
  readonly code: string;
  readonly title: string;
  readonly says: string;
  readonly requests: Check['requests'];
}

function schemeForgery(scheme: SignatureScheme, { code, title, says, requests }: SchemeForgery): Check {
  const fault = (kind: string, text: string): Fault => ({
    code: kind,
    says: text,
    fix: verifyingFix(scheme),
  });
  return {
    code,
    title,
    expects: 'rejected',
    needsSecret: true,
    requests,
    faults: {
      taken: fault(`accepts-${code}`, `it lets forgers in: ${says}`),
      failing: fault('fails-on-bad-signature', 'it fails instead of rejecting'),
    },
  };
}

function forgedAmongOthers(scheme: SignatureScheme): Check {
  const code = `forged-${scheme.name}`;
  return schemeForgery(scheme, {
    code,
    title: `a wrong signature of ${scheme.name} beside right ones of the others`,
    says: `it does not check ${scheme.name}, so that another scheme alone decides`,
    requests: (sample) => [sample.forged(forgeryBody(sample, code), { only: scheme })],
  });
}

function oldTimestamp(scheme: SignatureScheme, tolerance: number): Check {
  const code = `old-timestamp-${scheme.name}`;
  return schemeForgery(scheme, {
    code,
    title: `a right signature of ${scheme.name} whose time is long over`,
    says: 'it accepts a message of any age, so that one that was seen can be sent again',
    requests: (sample) => [
      sample.signedAt(forgeryBody(sample, code), { agoMs: (10 * tolerance + 3_600) * 1000 }),
    ],
  });
}

function otherTimestamp(scheme: SignatureScheme): Check {
  const code = `other-timestamp-${scheme.name}`;
  return schemeForgery(scheme, {
    code,
    title: `a time of ${scheme.name} other than the signed one`,
    says: 'its timestamp is not part of what it verifies, so that anyone can change it',
    requests: (sample) => [
      sample.withField(forgeryBody(sample, code), {
        scheme,
        field: 'timestamp',
        change: (text) => String(Number(text) - 1),
      }),
    ],
  });
}

function otherId(scheme: SignatureScheme): Check {
  const code = `other-id-${scheme.name}`;
  return schemeForgery(scheme, {
    code,
    title: `an id of ${scheme.name} other than the signed one`,
    says: 'the id is not part of what it verifies, so that a message passes for a new one',
    requests: (sample) => [
      sample.withField(forgeryBody(sample, code), { scheme, field: 'id', change: (text) => `${text}x` }),
    ],
  });
}

function forgeryBody(sample: Parameters<Check['requests']>[0], code: string): Buffer {
  return sample.body('track', code, { event: 'Hooks Test Forgery' });
}
