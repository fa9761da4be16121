import type { Confidence } from '../../confidence.ts';
import {
  diagnosisOf,
  mismatchText,
  type Diagnosis,
  type SignatureEvidence,
} from '../../signature/evidence.ts';
import { FIXES, type ReasonCode } from '../../signature/reasons.ts';
import { layoutOf } from '../../signature/schemes/layout.ts';
import type { SignatureScheme } from '../../signature/schemes/scheme.ts';
import { hmacName } from './constructs.ts';

/** The cause of a mismatch, and its fix. */
export interface Explanation {
  readonly code: ReasonCode;
  /** A clause without a full stop: `the signature is empty`. */
  readonly found: string;
  /** @default the fix of the code */
  readonly fix?: string;
}

/** Makes a diagnosis from an explanation. */
export function diagnosisFor(
  evidence: SignatureEvidence,
  { code, found, fix }: Explanation,
  confidence: Confidence = 'proved',
): Diagnosis {
  const hint = mismatchText(evidence.digests.bytes, found, fix ?? fixOf(code, evidence));
  return diagnosisOf(code, confidence, hint);
}

/**
 * Returns the fix for a reason code. Some fixes describe how to sign X-Signature. If the request uses another scheme,
 * returns how to sign with that scheme instead.
 */
export function fixOf(code: ReasonCode, { scheme }: SignatureEvidence): string {
  return scheme.isLenient !== true && ABOUT_SIGNATURES.has(code) ? recipeOf(scheme) : FIXES[code];
}

/** Codes whose fixes describe how to sign X-Signature. */
const ABOUT_SIGNATURES: ReadonlySet<ReasonCode> = new Set<ReasonCode>([
  'sha256',
  'other-hash',
  'plain-hash',
  'hashed-twice',
  'base64',
  'other-encoding',
  'other-template',
  'other-id',
  'truncated-signature',
]);

/** Describes how to sign with a scheme, in one sentence. */
export function recipeOf(scheme: SignatureScheme): string {
  const { signatureHeader } = layoutOf(scheme);
  const { hash, encoding, signs, name, headers } = scheme;
  const key = scheme.secret === 'base64' ? 'the bytes that the secret is the base64 of' : 'the secret';
  return `Sign as ${name} does: ${hmacName(hash)} over ${signs}, keyed with ${key}, in ${encoding}, sent as ${signatureHeader.name}: ${headers[signatureHeader.name]}`;
}
