import type { Confidence } from '../../confidence.ts';
import {
  diagnosisOf,
  mismatchText,
  type Diagnosis,
  type SignatureEvidence,
} from '../../signature/evidence.ts';
import { FIXES, X_SIGNATURE_FIXES, type ReasonCode } from '../../signature/reasons.ts';
import { layoutOf } from '../../signature/schemes/layout.ts';
import type { SignatureScheme } from '../../signature/schemes/scheme.ts';
import { hmacName } from './constructs.ts';

/** A reason why a signature does not match, with a fix. */
export interface Explanation {
  readonly code: ReasonCode;
  /** The reason as a clause, without a period at its end: `the signature is empty`. */
  readonly found: string;
  /** @default the fix that `fixOf` returns for the code */
  readonly fix?: string;
}

export function diagnosisFor(
  evidence: SignatureEvidence,
  { code, found, fix }: Explanation,
  confidence: Confidence = 'proved',
): Diagnosis {
  const hint = mismatchText(evidence.digests.bytes, found, fix ?? fixOf(code, evidence));
  return diagnosisOf(code, confidence, hint);
}

/**
 * Returns the fix for a reason code. Where FIXES describe X-Signature, returns how to sign with the scheme instead,
 * unless the scheme is that one (the lenient one).
 */
export function fixOf(code: ReasonCode, { scheme }: SignatureEvidence): string {
  return scheme.isLenient !== true && code in X_SIGNATURE_FIXES ? recipeOf(scheme) : FIXES[code];
}

/** Describes how to sign with a scheme, in one sentence without a period at its end. */
export function recipeOf(scheme: SignatureScheme): string {
  const { signatureHeader } = layoutOf(scheme);
  const { hash, encoding, signs, name, headers } = scheme;
  const key = scheme.secret === 'base64' ? 'the bytes that the secret is the base64 of' : 'the secret';
  return `Sign as ${name} does: ${hmacName(hash)} over ${signs}, keyed with ${key}, in ${encoding}, sent as ${signatureHeader.name}: ${headers[signatureHeader.name]}`;
}
