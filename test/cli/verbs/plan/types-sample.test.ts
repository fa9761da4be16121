import { expect, it } from 'vitest';
import { jsonLines } from '../../../end-to-end/receiving.ts';
import { temporaryFolder } from '../../../temporary-folder.ts';
import { hooks } from '../../run-in-process.ts';

const rule = (key: string, a: object): object => {
  const properties = { properties: { type: 'object', properties: { a }, required: ['a'] } };
  return {
    key,
    type: 'TRACK',
    version: 1,
    jsonSchema: { type: 'object', properties, required: ['properties'] },
  };
};
const plan = (...rules: readonly object[]): string => JSON.stringify({ rules });

it('prints messages that lint accepts', async () => {
  const rules = [rule('A', { type: 'integer', minimum: 3 }), rule('B ☃', { format: 'email' })];
  const cwd = temporaryFolder({ 'plan.json': plan(...rules) });
  const { code, stdout, stderr } = await hooks(['plan', 'sample', 'plan.json'], { cwd });
  expect([code, stderr]).toEqual([0, '']);
  expect(jsonLines(stdout)).toMatchObject([
    { event: 'A', properties: { a: 3 } },
    { event: 'B ☃', properties: { a: 'user@example.com' } },
  ]);
  const other = temporaryFolder({ 'plan.json': plan(...rules), 'a.ndjson': stdout });
  expect((await hooks(['plan', 'lint', 'plan.json', 'a.ndjson'], { cwd: other })).code).toBe(0);
});

it('names a rule for which it finds no message, and prints the others', async () => {
  const cwd = temporaryFolder({
    'plan.json': plan(rule('A\u001b', { type: 'string', pattern: '^(?!)' }), rule('B', {})),
  });
  const { code, stdout, stderr } = await hooks(['plan', 'sample', 'plan.json'], { cwd });
  expect(code).toBe(1);
  expect(jsonLines(stdout)).toMatchObject([{ event: 'B' }]);
  expect(stderr).toMatch(
    /^error: no message was found for track "A.*": Expected a value that matches pattern/,
  );
  expect(stderr).not.toContain('\u001b');
});

it('writes types, and none for a plan that does not compile', async () => {
  const cwd = temporaryFolder({
    'plan.json': plan(rule('A b', {})),
    'wrong.json': plan(rule('A', { type: 'texts' })),
  });
  const { code, stdout } = await hooks(['plan', 'types', 'plan.json'], { cwd });
  expect([code, stdout]).toEqual([0, expect.stringContaining('"A b": AB;')]);
  expect(await hooks(['plan', 'types', 'wrong.json'], { cwd })).toMatchObject({ code: 2, stdout: '' });
});
