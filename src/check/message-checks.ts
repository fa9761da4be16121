import { MESSAGE_TYPES } from '../message/types.ts';
import { signedTitles, type Check, type ReceiverMistake } from './check.ts';

/**
 * Texts that libraries of other languages write differently from JSON.stringify, to find receivers that hash re-serialized
 * JSON.
 */
const TEXTS = {
  'Łódź 京都': 'é and e\u0301, ß, Ω, Ž',
  emoji: '👩‍💻🇦🇹',
  lines: 'U+2028 \u2028 and U+2029 \u2029',
  markup: `<b>&amp;</b> = 'single' + "double" \``,
  slashes: 'https://example.com/a/b \\ C:\\',
  controls: '\t \n \r \b \f \u0001 \u007f',
  'right to left': 'שלום',
};

/** Numbers that libraries of other languages write differently from JSON.stringify: 1e-7 is 1e-07 in Python. */
const NUMBERS = {
  small: 1e-7,
  large: 1e21,
  long: 123_456_789_012_345_680_000,
  fraction: 0.1,
  negative: -273.15,
  zero: 0,
  safe: 9_007_199_254_740_991,
};

/** The mistake of rejecting unusual content, if no probe has found how the receiver spells JSON. */
const RE_SERIALISED: ReceiverMistake = {
  code: 're-serialised',
  says: 'it accepts plain messages, but rejects this one: it hashes re-serialized JSON, or its validation rejects the content',
  fix: 'hash the bytes of the body as received, before any parser',
};

const USE_ANONYMOUS_ID =
  'use anonymousId when there is no userId: page, screen, identify, track and group can come without a userId';

/** The mistake of failing on the largest message because of a limit on bodies. */
const BODY_LIMIT: ReceiverMistake = {
  code: 'body-limit',
  says: 'it rejects a body of 32 KB',
  fix: 'raise the limit on bodies to 64 KB: a message may have 32 KB',
};

/**
 * The mistake of rejecting the signature of the largest message, which differs from accepted messages only in its length.
 */
const PART_OF_BODY: ReceiverMistake = {
  code: 'part-of-body',
  says: 'it accepts shorter messages, but rejects the signature of this one: it hashes only a part of a longer body',
  fix: 'read the body to its end, all its chunks, before you hash it',
};

const TYPE_CHECKS = MESSAGE_TYPES.map((type): Check => ({
  code: type,
  ...signedTitles(`${/^[aeiou]/.test(type) ? 'an' : 'a'} ${type} message`),
  expects: 'taken',
  requests: (sample) => [sample.signed(sample.body(type, type))],
}));

/** The checks of messages that real senders send. The receiver must accept all of them. */
export const MESSAGE_CHECKS: readonly Check[] = [
  ...TYPE_CHECKS,
  {
    code: 'anonymous',
    plain: 'track',
    title: 'a track of an anonymous user: anonymousId instead of userId',
    expects: 'taken',
    requests: (sample) => [
      sample.signed(
        sample.body('track', 'anonymous', { userId: undefined, anonymousId: 'hooks-test-anonymous' }),
      ),
    ],
    mistakes: {
      rejected: {
        code: 'needs-user-id',
        says: 'it rejects a message that has no userId',
        fix: USE_ANONYMOUS_ID,
      },
      failing: {
        code: 'needs-user-id',
        says: 'it fails when a message has no userId',
        fix: USE_ANONYMOUS_ID,
      },
    },
  },
  {
    code: 'duplicate',
    plain: 'track',
    title: 'the same message twice, byte by byte',
    expects: 'taken',
    requests: (sample) => {
      const request = sample.signed(sample.body('track', 'duplicate'));
      return [request, request];
    },
    mistakes: {
      rejected: {
        code: 'refuses-duplicates',
        says: 'it rejects a message that it has seen before',
        fix: 'respond with 2xx to a messageId that you know already, and do nothing: a message may come more than once',
      },
      failing: {
        code: 'fails-on-duplicates',
        says: 'it fails on a message that it has seen before (a unique key in its database?)',
        fix: 'respond with 2xx to a messageId that you know already (INSERT … ON CONFLICT DO NOTHING): a message may come more than once',
      },
    },
  },
  {
    code: 'unicode',
    plain: 'identify',
    title: 'texts of many scripts, emoji, U+2028, markup and escapes',
    expects: 'taken',
    requests: (sample) => [sample.signed(sample.body('identify', 'unicode', { traits: TEXTS }))],
    mistakes: {
      rejected: RE_SERIALISED,
      failing: {
        code: 'fails-on-unicode',
        says: 'it fails on emoji and other scripts: usually a database column of utf8 instead of utf8mb4, or a program that reads another encoding',
        fix: 'store text as utf8mb4 (MySQL) or UTF-8, connect with that charset, and read the body as UTF-8',
      },
    },
  },
  {
    code: 'numbers',
    plain: 'track',
    title: 'numbers that languages write in different ways',
    expects: 'taken',
    requests: (sample) => [sample.signed(sample.body('track', 'numbers', { properties: NUMBERS }))],
    mistakes: {
      rejected: RE_SERIALISED,
      failing: {
        code: 'fails-on-numbers',
        says: 'it fails on very small, very large or negative numbers',
        fix: 'store numbers of messages as double or numeric, or the body as text',
      },
    },
  },
  {
    code: 'large',
    plain: 'track',
    title: 'a message of 32 KB, the largest there is',
    expects: 'taken',
    requests: (sample) => [sample.signed(sample.largestBody('large'))],
    statusMistakes: { 401: PART_OF_BODY, 413: BODY_LIMIT },
    mistakes: {
      rejected: {
        code: 'refuses-large',
        says: 'it rejects a body of 32 KB, but accepts shorter ones',
        fix: 'read the body to its end, and check for a limit on bodies: a message may have 32 KB',
      },
      failing: {
        ...BODY_LIMIT,
        says: 'it fails on a body of 32 KB: a limit on bodies, or a column of its database that is too short',
      },
      none: { ...BODY_LIMIT, says: 'it closes the connection on a body of 32 KB: a limit on bodies' },
    },
  },
  {
    code: 'unknown-type',
    plain: 'track',
    title: 'a message of a type that does not exist yet',
    expects: 'decided',
    requests: (sample) => {
      const body = sample.body('track', 'unknown-type').toString();
      return [sample.signed(Buffer.from(body.replace('"type":"track"', '"type":"hooks-test"')))];
    },
    mistakes: {
      failing: {
        code: 'fails-on-unknown-type',
        says: 'it fails on a message of a type that it does not know',
        fix: 'ignore unknown types with 2xx, or reject them with 400: after a 5xx the message is sent again for 4 hours',
      },
    },
  },
];
