import { printable } from '../../../redact.ts';
import { shownSignature } from '../../../receiver/shown-signature.ts';
import { Deadline } from '../../../signature/deadline.ts';
import { explainMismatch } from '../../../diagnosis/explain.ts';
import { undiagnosed } from '../../../signature/evidence.ts';
import type { SignatureVerifier } from '../../../signature/signature-verifier.ts';
import { knownSecrets } from '../../flags/signature/known-secrets.ts';
import type { PrintedVerdict, Verification } from './verification.ts';

/** Maximum characters of a printed signature. Longer values are not signatures, and would fill the screen. */
const MAX_SHOWN_SIGNATURE = 200;

/** Explains a mismatch. Also tries the secrets of HOOKS_SECRET and the config, which only a mismatch needs. */
export async function explainedVerdict(
  verifier: SignatureVerifier,
  { flags, secrets, context: { io } }: Verification,
): Promise<PrintedVerdict> {
  const known = await knownSecrets(flags, io, secrets);
  return {
    valid: false,
    diagnosis: explainMismatch(verifier.mismatch(known, new Deadline(PATIENT_MS))),
    ...(verifier.expected !== '' && { expected: verifier.expected }),
    got: printable(shownSignature(verifier.got, secrets), MAX_SHOWN_SIGNATURE),
  };
}

/**
 * Time limit for finding the explanation of a mismatch. Longer than the default, which keeps a service responsive: here one
 * user waits for one result, on code that runs for the first time, perhaps on a busy machine. 20 ms would miss many mistakes
 * that 200 ms find.
 */
const PATIENT_MS = 500;

/** Explains a mismatch by HOOKS_SIGNATURE, which may be left over from an earlier command. */
export function hiddenByVariable(verdict: PrintedVerdict, bytes: number): PrintedVerdict {
  if (verdict.valid || verdict.diagnosis === undefined) return verdict;
  const what = 'HOOKS_SIGNATURE hides the X-Signature of the capture';
  const { hint } = undiagnosed(bytes, { why: what, fix: 'Unset it: unset HOOKS_SIGNATURE' });
  return { ...verdict, diagnosis: { ...verdict.diagnosis, confidence: 'likely', hint } };
}
