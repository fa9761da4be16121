import type { CheckResponse } from '../check-response.ts';
import type { ReceiverMistake } from '../check.ts';

/** A request whose response is compared with the response to a forgery, whose signature is wrong but whole. */
type FurtherRequest = 'unsigned' | 'short' | 'unparsable' | 'elsewhere';

/**
 * Evidence for or against a mistake: a response that differs from the response to the forgery, words about the
 * signature, or a digest that the receiver shows.
 */
type Evidence = FurtherRequest | 'words' | 'digest';

/** A mistake that makes a receiver reject all messages in the same way. */
interface VerificationSuspect {
  readonly says: string;
  /**
   * Evidence that disproves this mistake. A receiver with the mistake responds to a listed request as to the forgery.
   */
  readonly disprovedBy: readonly Evidence[];
  /** The evidence without which this mistake is not suspected. */
  readonly needs?: Evidence;
}

const LAYER: VerificationSuspect = {
  says: 'a layer in front never lets it through (authentication, CSRF protection, a proxy, another program at this port)',
  disprovedBy: ['words', 'digest', 'unsigned', 'short', 'unparsable', 'elsewhere'],
};

/** Mistakes, the likeliest first. */
const SUSPECTS: readonly VerificationSuspect[] = [
  { says: 'it hashes what it has made of the parsed message', disprovedBy: [], needs: 'unparsable' },
  LAYER,
  { says: 'it reads a header with an unusual name', disprovedBy: ['digest', 'unsigned', 'short'] },
  { says: 'it has a different secret', disprovedBy: [] },
  { says: 'it hashes other bytes than those of the body', disprovedBy: ['unparsable'] },
  { says: 'it uses another hash', disprovedBy: ['short'] },
  { says: 'it compares the right signature incorrectly', disprovedBy: ['digest'] },
];

/** The fix if the receiver shows no digest. Its digest would tell the remaining mistakes apart. */
const SHOW_DIGEST =
  'check that it has the same secret, and let it print the digest that it computes: behind hooks test URL -- COMMAND, or in its response while you test, hooks finds what it hashes';
const COMPARE_SECRETS =
  "compare the secrets without showing them (printf %s 'SECRET' | sha256sum on both sides); if they are equal, print the length of what the receiver hashes";
const EXEMPT =
  "look into the receiver's log for this request: if its handler does not run, exempt this path in the layer in front; else ";

/** Sentences about what a response shows that differs from the response to the forgery. */
const EVIDENCE: Readonly<Record<FurtherRequest, (status: string) => string>> = {
  unsigned: (status) => `a message without a signature gets ${status}, so it reads the right header`,
  short: (status) => `half a signature gets ${status}, so it compares with a signature of the right length`,
  unparsable: (status) => `a body that is not JSON gets ${status}, so it parses before it verifies`,
  elsewhere: (status) => `another path gets ${status}`,
};

interface RejectedAlike {
  readonly forgery: Exclude<CheckResponse, { kind: 'none' }>;
  /** The responses to the further requests. */
  readonly compared: Readonly<Record<FurtherRequest, CheckResponse>>;
  /** Number of signatures of common mistakes that the receiver rejected. */
  readonly tried: number;
  /** Whether the receiver shows a digest that no change of secret or body explains. */
  readonly showsOther: boolean;
}

/**
 * Names the mistakes that remain for a receiver that rejects correct and forged messages alike: those that the evidence
 * does not disprove.
 */
export function remainingMistakes({ forgery, compared, tried, showsOther }: RejectedAlike): ReceiverMistake {
  const blames = forgery.cause?.code === 'signature-invalid-there';
  const seen = new Set<Evidence>([
    ...(blames ? ['words' as const] : []),
    ...(showsOther ? ['digest' as const] : []),
  ]);
  const facts = [
    `it rejects correct and forged messages alike with ${forgery.status}${blames ? ', and blames the signature' : ''}`,
    ...(showsOther ? ['no change of secret or body explains the digest that it shows'] : []),
    ...(tried === 0 ? [] : [`none of ${tried} signatures of usual mistakes passes`]),
  ];
  for (const [name, response] of Object.entries(compared)) {
    const comparison = name as FurtherRequest; // a key of the record
    const other = otherThan(forgery, response);
    if (other === undefined) continue;
    seen.add(comparison);
    facts.push(EVIDENCE[comparison](other));
  }
  const left = SUSPECTS.filter(
    ({ disprovedBy, needs }) =>
      !disprovedBy.some((each) => seen.has(each)) && (needs === undefined || seen.has(needs)),
  );
  return {
    code: 'refuses-valid',
    says: `${facts.join('; ')}; what remains: ${left.map(({ says }) => says).join(', or ')}`,
    fix: (left.includes(LAYER) ? EXEMPT : '') + (showsOther ? COMPARE_SECRETS : SHOW_DIGEST),
    confidence: 'likely',
  };
}

/**
 * Describes a response that differs from the response to the forgery: `no response`, its status, or its status `with
 * other words`. Undefined if the two are alike.
 */
function otherThan(forgery: RejectedAlike['forgery'], response: CheckResponse): string | undefined {
  if (response.kind === 'none') return 'no response';
  if (response.status !== forgery.status) return String(response.status);
  return response.reply === forgery.reply ? undefined : `${response.status} with other words`;
}
