import { join } from 'node:path';
import { expect, it } from 'vitest';
import { hooks } from '../end-to-end/hooks.ts';
import { track } from '../end-to-end/receiving.ts';
import { answersBytes } from '../hostile-receivers.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { started } from '../transport/sending.ts';
import { COMMANDS, RUNNERS, obeyed } from './foreign-commands.ts';

it('the program and its debug log print no workflow commands except annotations', async () => {
  const body = COMMANDS.join('\n');
  const head = `HTTP/1.1 500 No\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n`;
  const answer = Buffer.concat([Buffer.from(head), Buffer.from(body)]);
  const { url } = await started(answersBytes(answer.toString('binary')));
  const cwd = temporaryFolder({
    'day.ndjson': COMMANDS.map((event, index) => `${track(index, { event })}\n`).join(''),
  });
  const env = { ...RUNNERS, DEBUG: 'analytics', HOOKS_DATA_DIR: join(cwd, 'data') };
  for (const to of [['--loopback'], ['--endpoint', url, '--write-key', 'k', '--retry-for', '0']]) {
    for (const output of [['-v'], ['-v', '-o', 'json']]) {
      const { stdout, stderr } = await hooks(['replay', 'day.ndjson', ...to, ...output], { cwd, env });
      expect(stderr).toContain('analytics');
      expect(stdout).toContain(String.raw`\u0023#`);
      expect(obeyed(stdout)).toEqual([]);
      const foreign = stderr.split('\n').map((line) => line.replace(/^::error [^:]*::/, ''));
      expect(obeyed(foreign.join('\n'))).toEqual([]);
    }
  }
});

it('an annotation that COMMAND prints reaches the runner', async () => {
  const program = 'console.log("::error file=a.js,line=1::boom\\nplain")';
  const { stderr } = await hooks(['expect', '--count', '0', '--', process.execPath, '-e', program], {
    env: RUNNERS,
  });
  expect(stderr).toMatch(/^::error file=a\.js,line=1::boom\n\| plain$/m);
});
