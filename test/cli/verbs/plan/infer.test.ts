import { expect, it } from 'vitest';
import { temporaryFolder } from '../../../temporary-folder.ts';
import { hooks } from '../../run-in-process.ts';

const lines = Array.from({ length: 30 }, (_, index) =>
  JSON.stringify({
    type: 'track',
    event: index % 2 === 0 ? 'A' : 'a',
    userId: 'u',
    properties: { n: index },
  }),
).join('\n');

it('writes a plan that its messages follow, and remarks on stderr', async () => {
  const cwd = temporaryFolder({ 'm.ndjson': lines });
  const { code, stdout, stderr } = await hooks(['plan', 'infer', 'm.ndjson', '-v'], { cwd });
  expect([code, stderr]).toEqual([
    0,
    'note: the events "A", "a" differ only in their spelling\n       15  track "A"\n       15  track "a"\n',
  ]);
  const after = temporaryFolder({ 'm.ndjson': lines, 'plan.json': stdout });
  expect(await hooks(['plan', 'lint', 'plan.json', 'm.ndjson'], { cwd: after })).toMatchObject({ code: 0 });
});

it('reads on after an entry that is not a message, and exits with 1', async () => {
  const cwd = temporaryFolder({ 'm.ndjson': `{"type"\n${lines}` });
  const { code, stdout, stderr } = await hooks(['plan', 'infer', 'm.ndjson'], { cwd });
  expect([code, stderr]).toEqual([1, expect.stringContaining('note: m.ndjson:1 is not a message: ')]);
  expect(JSON.parse(stdout)).toMatchObject({ rules: [{ key: 'A' }, { key: 'a' }] });
});

it('exits with 2 for a file without a message', async () => {
  const cwd = temporaryFolder({ 'm.ndjson': '' });
  expect(await hooks(['plan', 'infer', 'm.ndjson'], { cwd })).toMatchObject({ code: 2, stdout: '' });
});
