import { expect, it } from 'vitest';
import { hooks } from '../../run-in-process.ts';

const NEWLINE = 'the body ends with a newline, which is signed too';

it.each([
  ['JSON', '{"a":1}\n', `${NEWLINE}; --stringify leaves it out`],
  ['a text', 'hello\n', NEWLINE],
  ['JSON that is too large to look at', `"${'x'.repeat(1024 * 1024)}"\n`, NEWLINE],
  ['nothing', '', 'the body is empty; that is what was signed'],
])('hooks sign explains %s', async (_what, stdin, remark) => {
  const { code, stderr } = await hooks(['sign', '--secret', 's'], { stdin });
  expect([code, stderr]).toEqual([0, `note: ${remark}\n`]);
});
