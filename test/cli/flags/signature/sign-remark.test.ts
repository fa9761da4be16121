import { expect, it } from 'vitest';
import { hooks } from '../../run-in-process.ts';

it.each([
  ['JSON', '{"a":1}\n', 'the body ends with a newline, which is signed too; --stringify leaves it out'],
  ['a text', 'hello\n', 'the body ends with a newline, which is signed too'],
  [
    'JSON that is too large to look at',
    `"${'x'.repeat(1024 * 1024)}"\n`,
    'the body ends with a newline, which is signed too',
  ],
  ['nothing', '', 'the body is empty; that is what was signed'],
])('hooks sign explains %s', async (_what, stdin, remark) => {
  const { code, stderr } = await hooks(['sign', '--secret', 's'], { stdin });
  expect([code, stderr]).toEqual([0, `note: ${remark}\n`]);
});
