import { expect, it } from 'vitest';
import { checkFields } from '../../../../src/cli/verbs/test-receiver/result-text.ts';

it.each([
  ['😀'.repeat(200), '😀'.repeat(100)],
  [`a${'😀'.repeat(200)}`, `a${'😀'.repeat(99)}`],
  ['short', 'short'],
])(
  'a line of JSON holds the first 200 code units of a response without half a surrogate pair: %#',
  (reply, told) => {
    const result = { check: 'track', title: '', outcome: 'failed', reply } as const;
    expect(checkFields(result)).toMatchObject({ reply: told });
  },
);
