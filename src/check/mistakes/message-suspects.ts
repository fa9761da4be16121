import { MAX_MESSAGE_BYTES } from '../../message/limits.ts';
import { shows, type Matches, type Suspect } from './suspects.ts';

const messages = (matches: Matches): Matches => {
  return (probe) => !probe.isForged && probe.facts !== undefined && matches(probe);
};
const hasFeature = (feature: string): Matches =>
  messages(({ facts }) => facts?.features.has(feature) === true);
const isLarge = messages(({ bytes }) => bytes > MAX_MESSAGE_BYTES / 2);

/** Makes a Suspect for each entry of `says`, whose key is a behavior or status that the mistake can cause. */
function suspected(
  code: string,
  matches: Matches,
  fix: string,
  says: Readonly<Record<string, string>>,
): readonly Suspect[] {
  return Object.entries(says).map(([behavior, text]) => {
    // Only likely: a receiver can reject the signatures of long bodies for other reasons, too.
    const confidence = code === 'part-of-body' ? 'likely' : 'proved';
    return { code, says: text, fix, confidence, predicts: shows([behavior], matches) };
  });
}

const LIMIT_FIX = 'raise the limit on bodies to 64 KB: a message may have 32 KB';

export const MESSAGE_SUSPECTS: readonly Suspect[] = [
  ...suspected(
    'refuses-duplicates',
    messages(({ isRepeated }) => isRepeated),
    'respond with 2xx to a messageId or Idempotency-Key that you know already, and do nothing: a message may come more than once, and a sender retries after 409',
    {
      refused: 'it rejects a message that it has seen before',
      unverified: 'it rejects a message that it has seen before',
    },
  ),
  ...suspected(
    'fails-on-duplicates',
    messages(({ isRepeated }) => isRepeated),
    'respond with 2xx to a messageId that you know already (INSERT … ON CONFLICT DO NOTHING): a message may come more than once',
    { failing: 'it fails on a message that it has seen before (a unique key in its database?)' },
  ),
  ...suspected(
    'fails-on-unicode',
    hasFeature('non-ASCII text'),
    'hash and keep the bytes of the body, decode them as UTF-8, and store text as utf8mb4 (MySQL) or UTF-8',
    {
      failing:
        'it fails on emoji and other scripts: probably it decodes the body in another charset or encodes it again, or a column of its database is utf8 instead of utf8mb4',
    },
  ),
  ...suspected('body-limit', isLarge, LIMIT_FIX, {
    413: 'it rejects a body of 32 KB',
    failing: 'it fails on a body of 32 KB: a limit on bodies, or a column of its database that is too short',
    broken: 'it closes the connection on a body of 32 KB: a limit on bodies',
  }),
  ...suspected('part-of-body', isLarge, 'read the body to its end, all its chunks, before you hash it', {
    unverified:
      'it accepts shorter messages, but rejects the signature of this one: it hashes only a part of a longer body',
  }),
  ...suspected(
    'decodes-parts',
    messages(({ check }) => check === 'in-parts'),
    'collect the parts as bytes and decode them once: chunks.push(chunk), then Buffer.concat(chunks), in place of body += chunk',
    {
      unverified:
        'it does not join the chunks of a body before it reads it: it decodes each by itself, or reads the first alone, so the signature differs',
    },
  ),
  ...suspected(
    'fails-on-unknown-type',
    messages(({ check }) => check === 'unknown-type'),
    'ignore unknown types with 2xx, or reject them with 400: after a 5xx the message is sent again for 4 hours',
    { failing: 'it fails on a message of a type that it does not know' },
  ),
];
