// Needs mkfifo.
import { execFileSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { hooks } from '../cli/run-in-process.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { receiving } from './receiving.ts';

it.each([
  ['pipe', '\ufeff [1,\r\n2] \n', ['\ufeff [1,\r\n2] \n']],
  ['pipe', gzipSync('{"batch":[{"type":"track"}]}\n'), ['{"batch":[{"type":"track"}]}\n']],
  ['pipe.ndjson', ' [1]\r\n{"a":1} \n', [' [1]', '{"a":1} ']],
  ['several', '{"a":1}\n{"b":2}\n', []],
])('replay --exact sends the bytes of a named pipe (%s) unchanged', async (name, content, bodies) => {
  const to = await receiving();
  const cwd = temporaryFolder();
  execFileSync('mkfifo', [join(cwd, name)]);
  const args = ['replay', name, '--exact', '--order', 'none', '--concurrency', '1', '--url', to.url];
  const [{ code, stderr }] = await Promise.all([hooks(args, { cwd }), writeFile(join(cwd, name), content)]);
  expect(code, stderr).toBe(bodies.length === 0 ? 2 : 0);
  expect(to.bodies()).toEqual(bodies);
});
