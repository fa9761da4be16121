import { explainMismatch as explain } from '../diagnosis/explain.ts';
import type { ReceiverOptions } from '../receiver/options.ts';
import { Receiver } from '../receiver/receiver.ts';
import type { DiagnosisBudget } from '../signature/deadline.ts';
import { ExplainingVerifier, verifyBody, type VerifyBodyOptions } from '../signature/verify.ts';
import type { VerifyOptions, VerifyResult } from '../signature/verify-options.ts';

/**
 * Verifies that a body was signed with one of the secrets (contract, Signature), by the named schemes. The default scheme
 * compares the body's bytes, then its JSON-stringified form: above 128 KiB only with `diagnose`, above 1 MB never. With
 * `diagnose` it finds the common mistake that explains a mismatch; `budget` limits how long that may take. A string body
 * means its UTF-8 bytes. Throws SignatureError if a secret is empty or missing, or the signature is not a string. Throws
 * ConfigError for an option that is misspelled or of the wrong kind, and for an unknown scheme.
 */
export function verify(given: VerifyBodyOptions, budget?: DiagnosisBudget): VerifyResult {
  return verifyBody(given, { explain, budget });
}

/** Verifies, like `verify`, a body of any size that arrives in chunks, in constant memory. Throws the errors of `verify`. */
export class Verifier extends ExplainingVerifier {
  constructor(options: VerifyOptions, budget?: DiagnosisBudget) {
    super(options, { explain, budget });
  }
}

/**
 * Starts an HTTP receiver that verifies signatures, responds according to its script and reports each request. Responds to
 * methods other than POST with 405 and reports them; `GET /`, `HEAD /` and CORS preflights are not reported.
 * Throws ConfigError for an option that is misspelled, missing or of the wrong kind, and if it cannot listen on the address.
 */
export function startReceiver(options: ReceiverOptions): Promise<Receiver> {
  return Receiver.start(options, explain);
}
