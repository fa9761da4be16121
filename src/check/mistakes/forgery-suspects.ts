import { layoutOf, signatureHeaderNames } from '../../signature/schemes/layout.ts';
import type { SignatureScheme } from '../../signature/schemes/scheme.ts';
import { schemeForgeries, verifyingFixes } from '../scheme-checks.ts';
import { shows, type Matches, type Prediction, type Suspect } from './suspects.ts';

const of = (...checks: readonly string[]): Matches => {
  return ({ check }) => checks.includes(check);
};
const isMalformed = of('malformed');
const isForged: Matches = (probe) => probe.isForged;
/** Matches a signature with a wrong last digit, and one made with another secret: both have the right length. */
const isOfRightLength = of('wrong-signature', 'other-secret');

/** Predicts that forgeries matching `shown` are accepted. Accepting one that matches `never` disproves the mistake. */
function lets(shown: Matches, never: Matches): Suspect['predicts'] {
  const predicts = shows(['taken'], shown);
  return (probe) => predicts(probe) ?? (never(probe) ? { disproves: ['taken'] } : undefined);
}

/** Prediction for a forgery that a receiver with the mistake always accepts: other behaviors disprove the mistake. */
const TAKES_EACH: Prediction = {
  explains: ['taken'],
  disproves: ['unverified', 'refused', 'unclear', 'failing', 'broken', 'late'],
};

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
        isMalformed(probe) ? { explains: ['taken'] } : isForged(probe) ? TAKES_EACH : undefined,
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

const LENGTH_SUSPECTS: readonly Suspect[] = [
  {
    code: 'accepts-part-of-signature',
    says: 'it lets forgers in: a part of the signature is enough',
    fix: 'compare whole digests: startsWith, a prefix or the shorter of two lengths can be guessed digit by digit',
    // A receiver that compares only a part of the signature may accept a request without one, as if the part were empty.
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
    code: 'accepts-tampered',
    says: 'it lets forgers in: the signature of one body passes for another',
    fix: 'compute the signature over the whole body of this request',
    predicts: lets(of('tampered'), isOfRightLength),
  },
  {
    code: 'fails-on-bad-signature',
    says: 'it fails instead of rejecting: usually an uncaught error of the comparison',
    fix: 'respond with 401 to every request that does not verify: look first whether the header is there, compare the lengths (timingSafeEqual throws when they differ), and compare bytes (compare_digest throws on text that is not ASCII)',
    predicts: (probe) => (isForged(probe) ? { explains: ['failing', 'broken'] } : undefined),
  },
];

const MALFORMED_SUSPECTS: readonly Suspect[] = [
  {
    code: 'accepts-malformed',
    says: 'it accepts a body that it cannot have read: one that is cut off, or an empty one, which some parsers turn into {}',
    fix: 'parse before you respond, and respond with 400 to bodies that are not JSON, those of 0 bytes too',
    predicts: (probe) => (isMalformed(probe) ? { explains: ['taken'] } : undefined),
  },
  {
    code: 'fails-on-malformed',
    says: 'it fails on a body that is not JSON: usually an uncaught error of the parser',
    fix: 'verify first, then parse; respond with 400 to bodies that are not JSON, those of 0 bytes too: after a 5xx the message is sent again for 4 hours',
    predicts: (probe) => (isMalformed(probe) ? { explains: ['failing', 'broken'] } : undefined),
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
