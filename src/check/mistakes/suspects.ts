import { layoutOf, signatureHeaderNames } from '../../signature/schemes/layout.ts';
import type { SignatureScheme } from '../../signature/schemes/scheme.ts';
import { schemeForgeries, verifyingFixes } from '../scheme-checks.ts';
import type { Suspect } from './suspect-model.ts';

/** Returns the mistakes to suspect in a receiver that verifies signatures of these schemes. */
export function suspectsFor(schemes: readonly SignatureScheme[]): readonly Suspect[] {
  const forgeries = schemeForgeries(schemes).map(({ suspect }) => suspect);
  const several = schemes.filter(({ separator }) => separator !== undefined).map(firstSignatureOnly);
  return [...MESSAGE_SUSPECTS, ...verifyingSuspects(schemes), ...FORGERY_SUSPECTS, ...forgeries, ...several];
}

const MESSAGE_SUSPECTS: readonly Suspect[] = [
  {
    code: 'refuses-duplicates',
    always: ['repeated'],
    shows: ['refused', 'unverified', 'failing'],
    says: 'it rejects a message that it has seen before, or fails on it (a unique key in its database?)',
    fix: 'respond with 2xx to a messageId or Idempotency-Key that you know already, and do nothing (INSERT … ON CONFLICT DO NOTHING): a message may come more than once, and a sender retries after 409',
  },
  {
    code: 'fails-on-unicode',
    always: ['non-ASCII text'],
    shows: ['failing'],
    says: 'it fails on emoji and other scripts: probably it decodes the body in another charset or encodes it again, or a column of its database is utf8 instead of utf8mb4',
    fix: 'hash and keep the bytes of the body, decode them as UTF-8, and store text as utf8mb4 (MySQL) or UTF-8',
  },
  {
    code: 'body-limit',
    always: ['large'],
    shows: ['413', 'failing', 'broken'],
    says: 'it rejects a body of 32 KB, fails on it, or closes the connection: a limit on bodies, or a column of its database that is too short',
    fix: 'raise the limit on bodies to 64 KB: a message may have 32 KB',
  },
  {
    code: 'part-of-body',
    always: ['large'],
    shows: ['unverified'],
    says: 'it accepts shorter messages, but rejects the signature of this one: it hashes only a part of a longer body',
    fix: 'read the body to its end, all its chunks, before you hash it',
    // A receiver can reject the signatures of long bodies for other reasons, too.
    confidence: 'likely',
  },
  {
    code: 'decodes-parts',
    always: ['in-parts'],
    shows: ['unverified'],
    confidence: 'likely',
    says: 'it does not join the chunks of a body before it reads it: it decodes each by itself, or reads the first alone, so the signature differs',
    fix: 'collect the parts as bytes and decode them once: chunks.push(chunk), then Buffer.concat(chunks), in place of body += chunk',
  },
];

function verifyingSuspects(schemes: readonly SignatureScheme[]): readonly Suspect[] {
  const verify = verifyingFixes(schemes);
  return [
    {
      code: 'takes-everything',
      always: ['forged'],
      sometimes: ['malformed'],
      shows: ['taken'],
      says: 'it accepts everything: it does not verify signatures, responds before it has verified them, or the URL is not the receiver (a catch-all route, a request inspector)',
      fix: `check the URL; then verify each message: ${verify}`,
    },
    {
      code: 'accepts-forgeries',
      sometimes: ['forged'],
      shows: ['taken'],
      says: 'it lets forgers in: it accepts messages without a signature, or with a wrong one, although not all of them',
      fix: verify,
    },
    {
      code: 'accepts-unsigned',
      always: ['unsigned'],
      never: ['wrong-signature', 'short-signature'],
      shows: ['taken'],
      says: `it lets forgers in: it accepts a message without ${signatureHeaderNames(schemes)}`,
      fix: 'respond with 401 when the header is missing, not only when it is wrong',
    },
  ];
}

/** Codes of checks whose signature is wrong but has the right length: a wrong last digit, and another secret. */
const OF_RIGHT_LENGTH = ['wrong-signature', 'other-secret'];

const FORGERY_SUSPECTS: readonly Suspect[] = [
  {
    code: 'accepts-part-of-signature',
    always: ['short-signature'],
    // A receiver that compares only a part of the signature may accept a request without one, as if the part were empty.
    sometimes: ['unsigned'],
    never: OF_RIGHT_LENGTH,
    shows: ['taken'],
    says: 'it lets forgers in: a part of the signature is enough',
    fix: 'compare whole digests: startsWith, a prefix or the shorter of two lengths can be guessed digit by digit',
  },
  {
    code: 'accepts-tampered',
    always: ['tampered'],
    never: OF_RIGHT_LENGTH,
    shows: ['taken'],
    says: 'it lets forgers in: the signature of one body passes for another',
    fix: 'compute the signature over the whole body of this request',
  },
  {
    code: 'fails-on-bad-signature',
    sometimes: ['forged'],
    shows: ['failing', 'broken'],
    says: 'it fails instead of rejecting: usually an uncaught error of the comparison',
    fix: 'respond with 401 to every request that does not verify: look first whether the header is there, compare the lengths (timingSafeEqual throws when they differ), and compare bytes (compare_digest throws on text that is not ASCII)',
  },
  {
    code: 'accepts-malformed',
    sometimes: ['malformed'],
    shows: ['taken'],
    says: 'it accepts a body that it cannot have read: one that is cut off, or an empty one, which some parsers turn into {}',
    fix: 'parse before you respond, and respond with 400 to bodies that are not JSON, those of 0 bytes too',
  },
  {
    code: 'fails-on-malformed',
    sometimes: ['malformed'],
    shows: ['failing', 'broken'],
    says: 'it fails on a body that is not JSON: usually an uncaught error of the parser',
    fix: 'verify first, then parse; respond with 400 to bodies that are not JSON, those of 0 bytes too: after a 5xx the message is sent again for 4 hours',
  },
];

function firstSignatureOnly(scheme: SignatureScheme): Suspect {
  const { name, separator } = scheme;
  const between = separator === ' ' ? 'spaces' : 'commas';
  return {
    code: 'reads-first-signature',
    always: [`several-${name}`],
    shows: ['unverified', 'refused'],
    says: `it reads only the first of several signatures, so it rejects messages while the secret of ${name} is being changed`,
    fix: `split ${layoutOf(scheme).signatureHeader.name} at its ${between} and compare each signature in it: one that is right is enough`,
  };
}
