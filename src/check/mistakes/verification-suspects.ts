import type { CheckResponse } from '../check-response.ts';
import type { ReceiverMistake } from '../check.ts';

/** A request whose response is compared with that to a forgery of the right length. */
type FurtherRequest = 'unsigned' | 'short' | 'unparsable' | 'elsewhere';

/** Evidence that can disprove a mistake: another response, or words of the rejection that name the signature. */
type Evidence = FurtherRequest | 'words';

/** A mistake that makes a receiver reject all messages alike. */
interface VerificationSuspect {
  readonly says: string;
  readonly fix: string;
  /** The evidence that disproves this mistake, such as another response to a request that it rejects like a forgery. */
  readonly disprovedBy: readonly Evidence[];
  /** The evidence without which this mistake is not suspected. */
  readonly needs?: readonly Evidence[];
}

/** The likeliest first. */
const SUSPECTS: readonly VerificationSuspect[] = [
  {
    says: 'it hashes what it has made of the parsed message, which it reads before it verifies',
    fix: 'hash the bytes of the body as received (express.raw(), request.get_data(), request.raw_post)',
    disprovedBy: [],
    needs: ['unparsable'],
  },
  {
    says: 'a layer in front never lets it through (authentication, CSRF protection, a proxy, another program at this port)',
    fix: "look into the receiver's log for this request: if its handler does not run, exempt this path in the layer in front",
    disprovedBy: ['words', 'unsigned', 'short', 'unparsable', 'elsewhere'],
  },
  {
    says: 'it reads a header of a rarer name',
    fix: "print the header that it reads, which must be as long as the one that was sent (Node gives undefined for request.headers['X-Signature']: names are in lower case)",
    disprovedBy: ['unsigned', 'short'],
  },
  {
    says: 'its secret is another',
    fix: 'compare the length of its secret with that of yours (is it the same secret?)',
    disprovedBy: [],
  },
  {
    says: 'it hashes other bytes than those of the body, or with another hash',
    fix: 'print the length of what it hashes, and pass what it received to hooks verify',
    disprovedBy: ['short'],
  },
  {
    says: 'it hashes other bytes than those of the body',
    fix: 'print the length of what it hashes, and pass what it received to hooks verify',
    disprovedBy: [],
    needs: ['short'],
  },
];

/** Sentences about what each different response shows. */
const EVIDENCE: Readonly<Record<FurtherRequest, (status: string) => string>> = {
  unsigned: (status) => `a message without a signature gets ${status}, so it reads the right header`,
  short: (status) => `half a signature gets ${status}, so it compares with a signature of the right length`,
  unparsable: (status) => `a body that is not JSON gets ${status}, so it parses before it verifies`,
  elsewhere: (status) => `another path gets ${status}`,
};

interface RejectedAlike {
  readonly forgery: Exclude<CheckResponse, { kind: 'none' }>;
  /** The responses to the other requests. */
  readonly compared: Readonly<Record<FurtherRequest, CheckResponse>>;
  /** Number of wrong signatures that were rejected, too. */
  readonly tried: number;
}

/**
 * Names the mistakes that remain for a receiver that rejects correct and forged messages alike: those that predict each
 * response.
 */
export function remainingMistakes({ forgery, compared, tried }: RejectedAlike): ReceiverMistake {
  const blames = forgery.cause?.code === 'signature-invalid-there';
  const seen = new Set<Evidence>(blames ? ['words'] : []);
  const facts = [
    `it rejects correct and forged messages alike with ${forgery.status}${blames ? ', and blames the signature' : ''}`,
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
    ({ disprovedBy, needs = [] }) =>
      !disprovedBy.some((each) => seen.has(each)) && needs.every((each) => seen.has(each)),
  );
  return {
    code: 'refuses-valid',
    says: `${facts.join('; ')}; what remains: ${left.map(({ says }) => says).join(', or ')}`,
    fix: [...new Set(left.map(({ fix }) => fix))].join('; '),
    confidence: 'likely',
  };
}

/** The response as text if it differs from the one to the forgery: its status, and its words if only they differ. */
function otherThan(forgery: RejectedAlike['forgery'], response: CheckResponse): string | undefined {
  if (response.kind === 'none') return 'no response';
  if (response.status !== forgery.status) return String(response.status);
  return response.reply === forgery.reply ? undefined : `${response.status} with other words`;
}
