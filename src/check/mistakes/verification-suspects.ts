import type { CheckResponse } from '../check-response.ts';
import type { ReceiverMistake } from '../check.ts';

/** Fix for a receiver that does not show the digest that it computes. That digest tells the remaining mistakes apart. */
const SHOW_DIGEST =
  'check that it has the same secret, and let it print "computed" and the digest that it computes: behind hooks test URL -- COMMAND, or in its response while you test, hooks finds what it hashes';
const COMPARE_SECRETS =
  "compare the secrets without showing them (printf %s 'SECRET' | sha256sum on both sides); if they are equal, print the length of what the receiver hashes";
const EXEMPT =
  "look into the receiver's log for this request: if its handler does not run, exempt this path in the layer in front; else ";

interface RejectedAlike {
  readonly forgery: Exclude<CheckResponse, { kind: 'none' }>;
  /** The responses to a message without a signature, to a body that is not JSON, and at another path. */
  readonly compared: Readonly<Record<'unsigned' | 'unparsable' | 'elsewhere', CheckResponse>>;
  /** Number of signatures tried that were computed with a common mistake. The receiver rejected all of them. */
  readonly tried: number;
  /** Whether the receiver shows a digest that it computed and that no known change of secret or body explains. */
  readonly showsOther: boolean;
}

/** Explains why a receiver may reject correct and forged messages alike: what other requests show, and what remains. */
export function remainingMistakes({ forgery, compared, tried, showsOther }: RejectedAlike): ReceiverMistake {
  const blames = forgery.cause?.code === 'signature-invalid-there';
  const unsigned = otherThan(forgery, compared.unsigned);
  const unparsable = otherThan(forgery, compared.unparsable);
  const elsewhere = otherThan(forgery, compared.elsewhere);
  const isBehindLayer = !blames && !showsOther && (unsigned ?? unparsable ?? elsewhere) === undefined;
  const facts = [
    `it rejects correct and forged messages alike with ${forgery.status}${blames ? ', and blames the signature' : ''}`,
    showsOther && 'no change of secret or body explains the digest that it shows',
    tried > 0 && `none of ${tried} signatures of usual mistakes passes`,
    elsewhere && `another path gets ${elsewhere}`,
    unsigned && `a message without a signature gets ${unsigned}, so it reads the right header`,
    unparsable && `a body that is not JSON gets ${unparsable}, so it parses before it verifies`,
    isBehindLayer &&
      'perhaps a layer in front never lets it through (authentication, CSRF protection, a proxy)',
  ];
  return {
    code: 'refuses-valid',
    says: `${facts.filter(Boolean).join('; ')}; what remains: a different secret, header or hash, other bytes than those of the body, or a condition besides the signature`,
    fix: (isBehindLayer ? EXEMPT : '') + (showsOther ? COMPARE_SECRETS : SHOW_DIGEST),
    confidence: 'likely',
  };
}

/** Describes how a response differs from that to a forged message. Undefined if status and body are the same. */
function otherThan(forgery: RejectedAlike['forgery'], response: CheckResponse): string | undefined {
  if (response.kind === 'none') return 'no response';
  if (response.status !== forgery.status) return String(response.status);
  return response.reply === forgery.reply ? undefined : `${response.status} with other words`;
}
