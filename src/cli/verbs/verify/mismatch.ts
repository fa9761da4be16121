import { printable } from '../../../redact.ts';
import { Deadline } from '../../../signature/deadline.ts';
import { explainMismatch } from '../../../diagnosis/explain.ts';
import { undiagnosed } from '../../../signature/evidence.ts';
import type { SignatureVerifier } from '../../../signature/signature-verifier.ts';
import { knownSecrets } from '../../flags/signature/known-secrets.ts';
import type { PrintedVerdict, Verification } from './verification.ts';

/** Longer values are no signatures, and would fill the screen. */
const MAX_SHOWN_SIGNATURE = 200;

/** Explains a mismatch. Only now looks for other secrets, in HOOKS_SECRET and the config. */
export async function explainedVerdict(
  verifier: SignatureVerifier,
  { flags, secrets, context: { io } }: Verification,
): Promise<PrintedVerdict> {
  const known = await knownSecrets(flags, io, secrets);
  return {
    valid: false,
    diagnosis: explainMismatch(verifier.mismatch(known, new Deadline(PATIENT_MS))),
    ...(verifier.expected !== '' && { expected: verifier.expected }),
    got: printable(verifier.got, MAX_SHOWN_SIGNATURE),
  };
}

/**
 * The budget of the contract keeps a service responsive. Here one person waits for one result, from code that runs for the
 * first time, perhaps on a busy machine: 20 ms would leave out much that 200 find.
 */
const PATIENT_MS = 2_000;

/** Explains a mismatch by the variable, which may be left from an earlier check. */
export function hiddenByVariable(verdict: PrintedVerdict, bytes: number): PrintedVerdict {
  if (verdict.valid || verdict.diagnosis === undefined) return verdict;
  const what = 'HOOKS_SIGNATURE hides the X-Signature of the capture';
  const { hint } = undiagnosed(bytes, { why: what, fix: 'Unset it: unset HOOKS_SIGNATURE' });
  return { ...verdict, diagnosis: { ...verdict.diagnosis, hint } };
}
