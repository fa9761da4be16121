import { explainMismatch as explain } from '../diagnosis/explain.ts';
import type { ReceiverOptions } from '../receiver/options.ts';
import { Receiver } from '../receiver/receiver.ts';
import type { DiagnosisBudget } from '../signature/deadline.ts';
import { ExplainingVerifier, verifyBody, type VerifyBodyOptions } from '../signature/verify.ts';
import type { VerifyOptions, VerifyResult } from '../signature/verify-options.ts';

/**
 * Verifies that a body was signed with one of the secrets (contract, Signature), by the schemes that are named; by default over its bytes, then over its JSON-stringified
 * form, which of a body of more than 128 KiB is compared only with `diagnose`, and of one of more than 1 MB never. With `diagnose` it finds the common mistake that
 * explains a mismatch; `budget` limits how long that may take. A string stands for its UTF-8. Throws SignatureError when
 * a secret is empty or there is none, and for a signature that is not text; ConfigError for an option that is misspelled
 * or of another kind, and for a scheme that is unknown.
 */
export function verify(given: VerifyBodyOptions, budget?: DiagnosisBudget): VerifyResult {
  return verifyBody(given, { explain, budget });
}

/** Verifies as `verify` does a body that arrives in pieces, of any size, in constant memory. Throws the errors of `verify`. */
export class Verifier extends ExplainingVerifier {
  constructor(options: VerifyOptions, budget?: DiagnosisBudget) {
    super(options, { explain, budget });
  }
}

/**
 * Starts an HTTP receiver that checks signatures, responds as its script says and reports each request. Responds to any other
 * method than POST with 405 and reports it; `GET /`, `HEAD /` and CORS preflights are not reported.
 * Throws ConfigError for an option that is misspelled, missing or of another kind, and when it cannot listen on the address.
 */
export function startReceiver(options: ReceiverOptions): Promise<Receiver> {
  return Receiver.start(options, explain);
}
