import { MESSAGE_TYPES } from '../message/types.ts';
import { signedTitles, type Check } from './check.ts';

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
    title: 'a track of an anonymous user: anonymousId instead of userId',
    expects: 'taken',
    requests: (sample) => [
      sample.signed(
        sample.body('track', 'anonymous', { userId: undefined, anonymousId: 'hooks-test-anonymous' }),
      ),
    ],
  },
  {
    code: 'duplicate',
    title: 'the same message twice, byte by byte',
    expects: 'taken',
    requests: (sample) => {
      const request = sample.signed(sample.body('track', 'duplicate'));
      return [request, request];
    },
  },
  {
    code: 'unicode',
    title: 'texts of many scripts, emoji, U+2028, markup and escapes',
    expects: 'taken',
    requests: (sample) => [sample.signed(sample.body('identify', 'unicode', { traits: TEXTS }))],
  },
  {
    code: 'numbers',
    title: 'numbers that languages write in different ways',
    expects: 'taken',
    requests: (sample) => [sample.signed(sample.body('track', 'numbers', { properties: NUMBERS }))],
  },
  {
    code: 'large',
    title: 'a message of 32 KB, the largest there is',
    expects: 'taken',
    requests: (sample) => [sample.signed(sample.largestBody('large'))],
  },
  {
    code: 'unknown-type',
    title: 'a message of a type that does not exist yet',
    expects: 'decided',
    requests: (sample) => {
      const body = sample.body('track', 'unknown-type').toString();
      return [sample.signed(Buffer.from(body.replace('"type":"track"', '"type":"hooks-test"')))];
    },
  },
];
