import { diagnosisBudget, type DiagnosisBudget } from '../diagnosis/signature/deadline.ts';
import { explainMismatch } from '../diagnosis/signature/explain-mismatch.ts';
import { KeptBody, LARGEST_DIAGNOSED } from '../diagnosis/signature/body/kept-body.ts';
import { readSignature } from './given-signature.ts';
import { indexOfSigner, matchOverStringified, rejectEmptySecrets } from './lenient-check.ts';
import { LARGEST_STRINGIFIED_BODY, SignatureVerifier } from './signature-verifier.ts';
import { checkVerifyOptions, type VerifyOptions, type VerifyResult } from './verify-options.ts';

export type { InvalidVerdict, ValidVerdict, VerifyOptions, VerifyResult } from './verify-options.ts';

/**
 * Verifies that a body was signed with one of the secrets (contract, Signature), by the schemes that are named; by default over its bytes, then over its JSON-stringified
 * form, which of a body of more than 128 KiB is compared only with `diagnose`, and of one of more than 1 MB never. With `diagnose` it finds the common mistake that
 * explains a mismatch; `budget` limits how long that may take. A string stands for its UTF-8. Throws SignatureError when
 * a secret is empty or there is none, and for a signature that is not text; ConfigError for an option that is misspelled
 * or of another kind, and for a scheme that is unknown.
 */
export function verify(
  given: VerifyOptions & { readonly body: Uint8Array | string },
  budget: DiagnosisBudget = diagnosisBudget(),
): VerifyResult {
  checkVerifyOptions(given, true);
  const { body: input, ...options } = given;
  if (options.scheme === undefined && options.headers === undefined && options.diagnose !== true) {
    return verifyByDefault(input, options);
  }
  return new Verifier(options, budget).update(bytesOf(input)).finish();
}

/** Verifies by the default scheme alone, without what a body in pieces takes. */
function verifyByDefault(
  input: Uint8Array | string,
  { signature: given, secrets, exact }: VerifyOptions,
): VerifyResult {
  const signature = readSignature(given);
  const secret = signature.shape === 'sha1' ? indexOfSigner(input, signature.digest, secrets) : 0;
  if (secret > 0) return { valid: true, secret, over: 'bytes' };
  const bytes = bytesOf(input);
  rejectEmptySecrets(secrets);
  const isKept = exact !== true && bytes.length <= LARGEST_STRINGIFIED_BODY;
  const match = matchOverStringified(
    isKept ? new KeptBody(bufferOver(bytes)) : undefined,
    signature,
    secrets,
  );
  if (match === undefined) return { valid: false };
  if (!('loss' in match)) return { valid: true, ...match };
  return { valid: false, diagnosis: explainMismatch(match) };
}

function bytesOf(body: Uint8Array | string): Uint8Array {
  return typeof body === 'string' ? Buffer.from(body) : body;
}

function bufferOver({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

/** Verifies as `verify` does a body that arrives in pieces, of any size, in constant memory. Throws the errors of `verify`. */
export class Verifier extends SignatureVerifier {
  readonly #options: VerifyOptions;
  readonly #budget: DiagnosisBudget;

  constructor(options: VerifyOptions, budget: DiagnosisBudget = diagnosisBudget()) {
    super(options, LARGEST_DIAGNOSED);
    this.#options = options;
    this.#budget = budget;
  }

  finish(): VerifyResult {
    // The verdict parses the body, which takes most of the time.
    const deadline = this.#options.diagnose === true ? this.#budget(this.bytes) : undefined;
    const verdict = this.verdict();
    if (verdict.valid) return verdict;
    const evidence = deadline === undefined ? this.lossy() : this.mismatch(this.#options, deadline);
    return evidence === undefined ? verdict : { valid: false, diagnosis: explainMismatch(evidence) };
  }
}
