import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { asNobody } from '../as-nobody.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { hooks } from './hooks.ts';

const CODE = `console.error('code ran'); export default { endpoint: 'https://a.example' };`;

let dataDir: string;

beforeEach(() => {
  dataDir = join(temporaryFolder(), 'data');
});

async function stderrIn(cwd: string, args: readonly string[] = [], env = {}): Promise<string> {
  const given = { HOOKS_DATA_DIR: dataDir, ...env };
  const { code, stdout, stderr } = await hooks(['config', ...args], { cwd, env: given });
  expect([code, stdout.includes('https://a.example')]).toEqual([0, true]);
  return stderr;
}

const named = (path: string): string =>
  `running the config ${path}: it is code (said once; --no-config goes on without it)\ncode ran\n`;

describe('a config that is code', () => {
  it.each(['.hooksrc.js', '.hooksrc.mjs', '.hooksrc.ts', 'hooks.config.js'])(
    'is named before it runs, the first time in a folder: %s',
    async (name) => {
      const folders = [temporaryFolder({ [name]: CODE }), temporaryFolder({ [name]: CODE })];
      for (const cwd of folders) expect(await stderrIn(cwd)).toBe(named(join(cwd, name)));
      for (const cwd of folders) expect(await stderrIn(cwd)).toBe('code ran\n');
      expect(statSync(dataDir).mode & 0o777).toBe(0o700);
      expect(statSync(join(dataDir, 'config-code.ndjson')).mode & 0o777).toBe(0o600);
    },
  );

  it('is named again when nothing can be remembered', async () => {
    const cwd = temporaryFolder({ '.hooksrc.mjs': CODE, file: '' });
    const env = { HOOKS_DATA_DIR: join(cwd, 'file') };
    for (let run = 0; run < 2; run++) {
      expect(await stderrIn(cwd, [], env)).toBe(named(join(cwd, '.hooksrc.mjs')));
    }
  });

  it('is not named in continuous integration, nor when only errors are wanted, and does not count as named', async () => {
    const cwd = temporaryFolder({ '.hooksrc.mjs': CODE });
    expect(await stderrIn(cwd, [], { CI: 'true' })).toBe('code ran\n');
    expect(await stderrIn(cwd, ['-q'])).toBe('code ran\n');
    expect(await stderrIn(cwd, [], { CI: 'false' })).toBe(named(join(cwd, '.hooksrc.mjs')));
  });

  it('is not named when the user names it', async () => {
    const cwd = temporaryFolder({ 'mine.mjs': CODE });
    expect(await stderrIn(cwd, ['--config', 'mine.mjs'])).toBe('code ran\n');
  });

  it('is not remembered through a symbolic link', async () => {
    const cwd = temporaryFolder({ '.hooksrc.mjs': CODE, precious: 'precious' });
    mkdirSync(dataDir);
    symlinkSync(join(cwd, 'precious'), join(dataDir, 'config-code.ndjson'));
    await stderrIn(cwd);
    expect(readFileSync(join(cwd, 'precious'), 'utf8')).toBe('precious');
  });

  it('is remembered whole by commands that run at once', async () => {
    const cwd = temporaryFolder({ '.hooksrc.mjs': CODE });
    await Promise.all([stderrIn(cwd), stderrIn(cwd)]);
    const lines = readFileSync(join(dataDir, 'config-code.ndjson'), 'utf8').trimEnd().split('\n');
    expect(new Set(lines)).toEqual(new Set([JSON.stringify(join(cwd, '.hooksrc.mjs'))]));
  });

  it.each([
    ['no package.json', {}],
    ['a package.json without a type', { 'package.json': '{}' }],
  ])('gets no advice of Node on module types: %s', async (_, files) => {
    const cwd = temporaryFolder({ ...files, '.hooksrc.js': CODE });
    expect(await stderrIn(cwd, [], { CI: 'true' })).toBe('code ran\n');
  });

  it('still shows its own warnings', async () => {
    const cwd = temporaryFolder({ '.hooksrc.mjs': `process.emitWarning('mind the gap'); ${CODE}` });
    expect(await stderrIn(cwd, [], { CI: 'true' })).toContain('Warning: mind the gap');
  });
});

describe('a data folder that any user may write to', () => {
  const folder = temporaryFolder({ 'in.ndjson': '{"type":"delete","userId":"u"}' });
  chmodSync(folder, 0o777);

  it.each([
    ['queue', 'stats'],
    ['replay', 'in.ndjson', '--url', 'http://127.0.0.1:1', '--retry-for', '0'],
  ])('stops what would keep something there: %s', async (...args) => {
    const run = () => hooks(args, { cwd: folder, env: { HOOKS_DATA_DIR: folder } });
    const { code, stderr } = await asNobody(run);
    expect([code, stderr]).toEqual([2, expect.stringContaining(`Expected the data folder ${folder}`)]);
    expect(readdirSync(folder)).toEqual(['in.ndjson']);
  });

  it('that awaits forever ends the command, which would look like success', async () => {
    const cwd = temporaryFolder({ 'never.mjs': 'await new Promise(() => {});\nexport default {};\n' });
    const args = [
      'send',
      'track',
      '--event',
      'E',
      '--user-id',
      'u',
      '--url',
      'http://127.0.0.1:9',
      '-c',
      'never.mjs',
    ];
    expect(await hooks(args, { cwd })).toMatchObject({
      code: 2,
      stdout: '',
      stderr:
        'error: The command ended before it was done: what it waits for can no longer come\n' +
        'hint:  look for a config that awaits something forever\n',
    });
  });
});
