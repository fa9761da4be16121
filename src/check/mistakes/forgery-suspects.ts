import { layoutOf, signatureHeaderNames } from '../../signature/schemes/layout.ts';
import type { SignatureScheme } from '../../signature/schemes/scheme.ts';
import { schemeForgeries, verifyingFixes } from '../scheme-checks.ts';
import { shows, type Behavior, type Matches, type Prediction, type Suspect } from './suspects.ts';

const of = (...checks: readonly string[]): Matches => {
  return ({ check }) => checks.includes(check);
};
const isForged: Matches = (probe) => probe.isForged;
const isCutOff: Matches = ({ check, bytes }) => check === 'malformed' && bytes > 0;
const isEmpty: Matches = ({ check, bytes }) => check === 'malformed' && bytes === 0;
/** Matches forgeries with a wrong signature of the right length. */
const isOfRightLength = of('wrong-signature', 'other-secret');

/** Predicts these behaviors for probes that match `shown`. On probes that match `never`, they disprove the mistake. */
function behaves(behaviors: readonly Behavior[], shown: Matches, never?: Matches): Suspect['predicts'] {
  const predicts = shows(behaviors, shown);
  return (probe) => predicts(probe) ?? (never?.(probe) === true ? { disproves: behaviors } : undefined);
}

const lets = (shown: Matches, never?: Matches) => behaves(['taken'], shown, never);
const fails = (shown: Matches, never?: Matches) => behaves(['failing', 'broken'], shown, never);

/** Predicts that the receiver accepts a forgery. Every other behavior disproves the mistake. */
const TAKES_EACH: Prediction = {
  explains: ['taken'],
  disproves: ['unverified', 'refused', 'unclear', 'failing', 'broken', 'late'],
};

const REJECT = 'respond with 401 to every request that does not verify';
const EMPTY_FIX =
  'call the handler for a body of 0 bytes too, and let it respond with 400; in Express 4, pass the errors of async handlers to next()';

/** Returns the mistakes in verifying these schemes, and in reading bodies that are not JSON. */
export function forgerySuspects(schemes: readonly SignatureScheme[]): readonly Suspect[] {
  const forgeries = schemeForgeries(schemes).map(({ suspect }) => suspect);
  const several = schemes.filter(({ separator }) => separator !== undefined).map(firstSignatureOnly);
  return [...verifyingSuspects(schemes), ...LENGTH_SUSPECTS, ...MALFORMED_SUSPECTS, ...forgeries, ...several];
}

function verifyingSuspects(schemes: readonly SignatureScheme[]): readonly Suspect[] {
  const verify = verifyingFixes(schemes);
  const missing = of('unsigned');
  return [
    {
      code: 'takes-everything',
      says: 'it accepts everything: it does not verify signatures, responds before it has verified them, or the URL is not the receiver (a catch-all route, a request inspector)',
      fix: `check the URL; then verify each message: ${verify}`,
      predicts: (probe) =>
        of('malformed')(probe) ? { explains: ['taken'] } : isForged(probe) ? TAKES_EACH : undefined,
    },
    {
      code: 'accepts-forgeries',
      says: 'it lets forgers in: it accepts messages without a signature and with a wrong one, although not all of them',
      fix: verify,
      predicts: (probe) => (isForged(probe) ? { explains: ['taken'] } : undefined),
    },
    {
      code: 'accepts-any-signature',
      says: 'it lets forgers in: it accepts a wrong signature',
      fix: verify,
      predicts: lets((probe) => isForged(probe) && !missing(probe), missing),
    },
    {
      code: 'accepts-unsigned',
      says: `it lets forgers in: it accepts a message without ${signatureHeaderNames(schemes)}`,
      fix: 'respond with 401 when the header is missing, not only when it is wrong',
      predicts: lets(missing, of('wrong-signature', 'short-signature')),
    },
  ];
}

/** Mistakes that show only for some forgeries, depending on what is wrong with the signature. */
const LENGTH_SUSPECTS: readonly Suspect[] = [
  {
    code: 'accepts-part-of-signature',
    says: 'it lets forgers in: a part of the signature is enough',
    fix: 'compare whole digests: startsWith, a prefix or the shorter of two lengths can be guessed digit by digit',
    // A missing header is an empty prefix, which some of these receivers reject.
    predicts: (probe) => {
      if (of('unsigned')(probe)) return { explains: ['taken'] };
      return of('short-signature')(probe)
        ? TAKES_EACH
        : isOfRightLength(probe)
          ? { disproves: ['taken'] }
          : undefined;
    },
  },
  {
    code: 'accepts-after-error',
    says: 'it lets forgers in: it accepts a signature that it cannot compare, as if an error of the comparison was ignored',
    fix: 'respond with 401 where the error of the comparison is caught',
    predicts: lets(of('garbage-signature'), isOfRightLength),
  },
  {
    code: 'accepts-tampered',
    says: 'it lets forgers in: the signature of one body passes for another',
    fix: 'compute the signature over the whole body of this request',
    predicts: lets(of('tampered'), isOfRightLength),
  },
  {
    code: 'fails-on-bad-signature',
    says: 'it fails instead of rejecting: usually an uncaught error of the comparison',
    fix: `${REJECT}. Compare lengths first (timingSafeEqual throws when they differ), and compare bytes (compare_digest throws on text that is not ASCII)`,
    predicts: (probe) => (isForged(probe) ? { explains: ['failing', 'broken'] } : undefined),
  },
  {
    code: 'fails-on-bad-signature',
    says: 'it fails instead of rejecting when the signature has another length, as timingSafeEqual does',
    fix: `${REJECT}: compare the lengths first`,
    confidence: 'likely',
    predicts: (probe) =>
      of('unsigned', 'garbage-signature')(probe)
        ? { explains: ['failing', 'broken'] }
        : fails(of('short-signature'), isOfRightLength)(probe),
  },
  {
    code: 'fails-on-bad-signature',
    says: 'it fails instead of rejecting when there is no signature: it uses a header that is missing',
    fix: `${REJECT}: look first whether the header is there`,
    predicts: fails(of('unsigned'), of('wrong-signature', 'short-signature')),
  },
  {
    code: 'fails-on-bad-signature',
    says: 'it fails instead of rejecting when the signature is not hex or not ASCII, as compare_digest and decoders do',
    fix: `${REJECT}: compare bytes, and catch the error of the decoder`,
    confidence: 'likely',
    predicts: fails(of('garbage-signature'), of('wrong-signature', 'short-signature')),
  },
];

const MALFORMED_SUSPECTS: readonly Suspect[] = [
  {
    code: 'accepts-malformed',
    says: 'it accepts bodies that it cannot have read',
    fix: 'parse before you respond, and respond with 400 to bodies that are not JSON',
    predicts: lets(isCutOff),
  },
  {
    code: 'accepts-malformed',
    says: 'it accepts an empty body, but rejects another that is not JSON: its parser turns an empty body into {}',
    fix: 'respond with 400 to a body of 0 bytes',
    predicts: lets(isEmpty, isCutOff),
  },
  {
    code: 'fails-on-malformed',
    says: 'it fails on a body that is not JSON: usually an uncaught error of the parser',
    fix: 'verify first, then parse; respond with 400 to bodies that are not JSON: after a 5xx the message is sent again for 4 hours',
    predicts: fails(isCutOff),
  },
  {
    code: 'fails-on-malformed',
    says: 'it fails on an empty body, but rejects another that is not JSON',
    fix: EMPTY_FIX,
    predicts: fails(isEmpty, isCutOff),
  },
  {
    code: 'hangs-on-empty',
    says: 'it never responds to an empty body, but to all others: its reader of bodies skips the handler when there is nothing to read, or an error of the handler was lost',
    fix: EMPTY_FIX,
    predicts: behaves(['late'], isEmpty, isCutOff),
  },
];

function firstSignatureOnly(scheme: SignatureScheme): Suspect {
  const { name, separator } = scheme;
  const between = separator === ' ' ? 'spaces' : 'commas';
  return {
    code: 'reads-first-signature',
    says: `it reads only the first of several signatures, so it rejects messages while the secret of ${name} is being changed`,
    fix: `split ${layoutOf(scheme).signatureHeader.name} at its ${between} and compare each signature in it: one that is right is enough`,
    predicts: shows(['unverified', 'refused'], of(`several-${name}`)),
  };
}
