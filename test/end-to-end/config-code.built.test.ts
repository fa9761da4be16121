import { chmodSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { asNobody } from '../as-nobody.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { SEND } from './delivering.ts';
import { hooks } from './hooks.ts';

const CODE = `console.error('code ran'); export default { endpoint: 'https://a.example' };`;

async function stderrIn(cwd: string, args: readonly string[] = []): Promise<string> {
  const { code, stdout, stderr } = await hooks(['config', ...args], { cwd });
  expect([code, stdout.includes('https://a.example')]).toEqual([0, true]);
  return stderr;
}

describe('a config that is code', () => {
  it.each(['.hooksrc.js', '.hooksrc.mjs', '.hooksrc.ts', 'hooks.config.js'])(
    'is named before it runs with -v only: %s',
    async (name) => {
      const cwd = temporaryFolder({ [name]: CODE });
      expect(await stderrIn(cwd)).toBe('code ran\n');
      const named = `running the config ${join(cwd, name)}: it is code\ncode ran\n`;
      expect(await stderrIn(cwd, ['-v'])).toContain(named);
    },
  );

  it('is not named when the user names it', async () => {
    const cwd = temporaryFolder({ 'mine.mjs': CODE });
    expect(await stderrIn(cwd, ['-v', '--config', 'mine.mjs'])).not.toContain('running the config');
  });

  it.each([
    ['no package.json', {}],
    ['a package.json without a type', { 'package.json': '{}' }],
  ])('does not make Node warn about module types: %s', async (_, files) => {
    const cwd = temporaryFolder({ ...files, '.hooksrc.js': CODE });
    expect(await stderrIn(cwd)).toBe('code ran\n');
  });

  it('still shows its own warnings', async () => {
    const cwd = temporaryFolder({ '.hooksrc.mjs': `process.emitWarning('mind the gap'); ${CODE}` });
    expect(await stderrIn(cwd)).toContain('Warning: mind the gap');
  });

  it('is reported if it awaits a promise that never settles, which would look like success', async () => {
    const cwd = temporaryFolder({ 'never.mjs': 'await new Promise(() => {});\nexport default {};\n' });
    const args = [...SEND, '--url', 'http://127.0.0.1:9', '-c', 'never.mjs'];
    expect(await hooks(args, { cwd })).toMatchObject({
      code: 2,
      stdout: '',
      stderr:
        'error: The command ended early: it awaits a promise that can no longer settle\n' +
        'hint:  look for a config that awaits something forever\n',
    });
  });
});

describe('a data folder that every user may write to', () => {
  const folder = temporaryFolder({ 'in.ndjson': '{"type":"delete","userId":"u"}' });
  chmodSync(folder, 0o777);

  it.each([
    ['queue', 'stats'],
    ['replay', 'in.ndjson', '--url', 'http://127.0.0.1:1', '--retry-for', '0'],
  ])('is rejected by a command that would write there: %s', async (...args) => {
    const run = () => hooks(args, { cwd: folder, env: { HOOKS_DATA_DIR: folder } });
    const { code, stderr } = await asNobody(run);
    expect([code, stderr]).toEqual([2, expect.stringContaining(`Expected the data folder ${folder}`)]);
    expect(readdirSync(folder)).toEqual(['in.ndjson']);
  });
});
