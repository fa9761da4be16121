// Needs mkfifo.
import { execFileSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../../../temporary-folder.ts';
import { hooks, startHooks } from '../../run-in-process.ts';

const CALL = 'curl a.example/y -d x';

it('rejects a named pipe that a curl command names, without waiting for its writer', async () => {
  const cwd = temporaryFolder({ 'a.sh': `${CALL} --data-binary @pipe` });
  execFileSync('mkfifo', [join(cwd, 'pipe')]);
  const { code, stderr } = await hooks(['import', 'a.sh', '--to', 'out'], { cwd });
  expect(stderr).toContain('it sends the file pipe, which is not a regular file');
  expect(code).toBe(1);
});

it('reads a named pipe as an input, and ends its wait for the writer at an interruption', async () => {
  const cwd = temporaryFolder();
  execFileSync('mkfifo', [join(cwd, 'pipe')]);
  const args = ['import', 'pipe', '--to', 'out'];
  const [read] = await Promise.all([hooks(args, { cwd }), writeFile(join(cwd, 'pipe'), CALL)]);
  expect(read.code, read.stderr).toBe(0);
  const waiting = startHooks(args, { cwd });
  expect((await waiting.stop('SIGINT')).code).toBe(130);
});
