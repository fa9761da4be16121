import { KeptBody, LARGEST_DIAGNOSED } from './body/kept-body.ts';
import { diagnosisBudget, type DiagnosisBudget } from './deadline.ts';
import type { ExplainMismatch } from './evidence.ts';
import {
  indexOfSigner,
  lenientDigest,
  matchOverStringified,
  rejectEmptySecrets,
  signatureText,
} from './lenient-signature.ts';
import { LARGEST_STRINGIFIED_BODY, SignatureVerifier } from './signature-verifier.ts';
import { validateVerifyOptions, type VerifyOptions, type VerifyResult } from './verify-options.ts';

/** Options of `verify`, with the body. */
export type VerifyBodyOptions = VerifyOptions & { readonly body: Uint8Array | string };

/** The function that explains mismatches, and its time limit. */
export interface Explaining {
  readonly explain: ExplainMismatch;
  /** Maximum time that an explanation may take. @default the budget of the contract */
  readonly budget?: DiagnosisBudget | undefined;
}

/** Verifies a whole body. This is `verify` of the library. */
export function verifyBody(given: VerifyBodyOptions, explaining: Explaining): VerifyResult {
  validateVerifyOptions(given, true);
  const { body: input, ...options } = given;
  if (options.scheme === undefined && options.headers === undefined && options.diagnose !== true) {
    return verifyByDefault(input, options, explaining);
  }
  return new ExplainingVerifier(options, explaining).update(bytesOf(input)).finish();
}

/** Verifies by the default scheme only. This path is fast, because it need not support bodies in chunks. */
function verifyByDefault(
  input: Uint8Array | string,
  { signature: given, secrets, exact }: VerifyOptions,
  { explain }: Explaining,
): VerifyResult {
  const digest = lenientDigest(signatureText(given));
  const secret = digest === undefined ? 0 : indexOfSigner(input, digest, secrets);
  if (secret > 0) return { valid: true, secret, over: 'bytes' };
  const bytes = bytesOf(input);
  rejectEmptySecrets(secrets);
  const isKept = exact !== true && bytes.length <= LARGEST_STRINGIFIED_BODY;
  const match = matchOverStringified(isKept ? new KeptBody(bufferOver(bytes)) : undefined, digest, secrets);
  if (match === undefined) return { valid: false };
  if (!('loss' in match)) return { valid: true, ...match };
  return { valid: false, diagnosis: explain(match) };
}

function bytesOf(body: Uint8Array | string): Uint8Array {
  return typeof body === 'string' ? Buffer.from(body) : body;
}

function bufferOver({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

/** Verifies like `verifyBody`, but a body in chunks, of any size, in constant memory. Throws the errors of `verifyBody`. */
export class ExplainingVerifier extends SignatureVerifier {
  readonly #options: VerifyOptions;
  readonly #explain: ExplainMismatch;
  readonly #budget: DiagnosisBudget;

  constructor(options: VerifyOptions, { explain, budget = diagnosisBudget() }: Explaining) {
    validateVerifyOptions(options);
    super(options, LARGEST_DIAGNOSED);
    this.#options = options;
    this.#explain = explain;
    this.#budget = budget;
  }

  finish(): VerifyResult {
    // The deadline starts before the verdict is known, because the verdict parses the body, which takes most of the time.
    const deadline = this.#options.diagnose === true ? this.#budget(this.bytes) : undefined;
    const verdict = this.verdict();
    if (verdict.valid) return verdict;
    const evidence = deadline === undefined ? this.lossy() : this.mismatch(this.#options, deadline);
    return evidence === undefined ? verdict : { valid: false, diagnosis: this.#explain(evidence) };
  }
}
