import { access, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { MESSAGE_TYPES } from '../../src/message/types.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';
import { filledQueue } from './filled-queue.ts';
import { placeToComplete } from './place-to-complete.ts';
import { hooks } from './run-in-process.ts';
import { collectGarbage } from '../collect-garbage.ts';

const SECRETS = { sharedSecret: 'hunter2', writeKey: 'hunter2' };
async function asked(
  words: readonly string[],
  cwd = process.cwd(),
  env: Readonly<Record<string, string>> = {},
) {
  const { code, stdout, stderr } = await hooks(['complete', '--', ...words], { cwd, env });
  expect([code, stderr]).toEqual([0, '']);
  const lines = stdout.trimEnd().split('\n');
  const directive = lines.pop() ?? '';
  return { values: lines.map((line) => line.split('\t', 1)[0] ?? ''), directive };
}

describe('hooks complete', () => {
  it.each([
    ['se', 'send serve'],
    ['send ', [...MESSAGE_TYPES, 'help'].join(' ')],
    ['send track --ev', '--event'],
    ['-o ', 'text json'],
    ['--output=j', 'json'],
    ['send track --event send --strategy ', 'fallback broadcast'],
    ['queue re', 'retry recover'],
    ['help queue s', ''],
    ['help qu', 'queue'],
    ['queue list --state de', 'delivered dead'],
    ['completion ', 'bash zsh fish powershell'],
    ['send --nonsense tra', 'track'],
    ['nonsense x', ''],
    ['test URL --only unsi', 'unsigned'],
    ['test URL --only unsigned,tam', 'unsigned,tampered'],
    ['test URL --only tampered,tam', ''],
    ['test URL --skip=unsigned,tam', 'unsigned,tampered'],
    ['test URL --state app.db --only twice', 'twice twice-at-once'],
    ['test URL --scheme stripe --only several', 'several-stripe'],
    ['sign --scheme st', 'standard-webhooks stripe'],
    ['verify --scheme stripe,git', 'stripe,github'],
  ])('completes %j with %j', async (line, expected) => {
    expect((await asked(line.split(' '))).values.join(' ')).toBe(expected);
  });

  it('knows where files, folders or neither belong', async () => {
    expect((await asked(['replay', 'x'])).directive).toBe(':0');
    expect((await asked(['send', '--secret-file', ''])).directive).toBe(':0');
    expect((await asked(['listen', '--save', ''])).directive).toBe(':16');
    expect((await asked(['expect', '--count', '1', '--', ''])).directive).toBe(':0');
    expect(await asked(['send', '--secret', ''])).toEqual({ values: [], directive: ':4' });
    expect(await asked(['send', '--write-key', ''])).toEqual({ values: [], directive: ':4' });
  });

  it('offers the names of the config, and no secret', async () => {
    const cwd = await placeToComplete();
    expect((await asked(['send', '--source', ''], cwd)).values).toEqual(['web', 'mobile-app']);
    expect((await asked(['send', 'track', '--integration', 'A'], cwd)).values).toEqual([
      'All=true',
      'All=false',
      'Archive=true',
      'Archive=false',
    ]);
    for (const flag of ['--secret', '--write-key', '--url', '--endpoint', '--header', '--source']) {
      expect(JSON.stringify(await asked(['send', flag, ''], cwd))).not.toContain('hunter2');
    }
  });

  it('offers the schemes of the config, and only the built-in ones if the config is broken', async () => {
    const acme = { headers: { 'X-Acme': '{signature}' }, signs: '{body}', hash: 'sha256', encoding: 'hex' };
    const cwd = temporaryFolder({ '.hooksrc.json': JSON.stringify({ schemes: { 'st-acme': acme } }) });
    const builtIn = ['standard-webhooks', 'stripe'];
    expect((await asked(['sign', '--scheme', 'st'], cwd)).values).toEqual([...builtIn, 'st-acme']);
    await writeFile(join(cwd, '.hooksrc.json'), '{');
    expect((await asked(['sign', '--scheme', 'st'], cwd)).values).toEqual(builtIn);
  });

  it('offers the ids of the queue, dead letters first, and changes no file', async () => {
    const dataDir = temporaryFolder();
    await filledQueue(dataDir);
    const file = join(dataDir, 'hooks.db');
    const contents = async () => [await readdir(dataDir), await readFile(file)];
    // SQLite closes the file when the statements of its connection are collected.
    await until(async () => {
      collectGarbage();
      return (await readdir(dataDir)).length === 2;
    }, 'the queue to be closed');
    const before = await contents();
    const ids = async (...words: readonly string[]) => {
      return (await asked(['queue', ...words], dataDir, { HOOKS_DATA_DIR: dataDir })).values;
    };
    const dead = ['cd34-dead', 'ab12-dead'];
    expect(await ids('retry', '')).toEqual(dead);
    expect(await ids('retry', '--now', '')).toEqual([...dead, 'ef56-pending', 'ab12-later']);
    expect(await ids('show', '')).toEqual([...dead, 'ef56-pending', 'ab12-later']);
    expect(await ids('drop', 'cd34-dead', 'ab12')).toEqual(['ab12-dead', 'ab12-later']);
    expect(await ids('show', '--store', file, 'ef')).toEqual(['ef56-pending']);
    expect(await ids('show', '--store', 'sqlite:missing.db', '')).toEqual([]);
    expect(await ids('show', '--store=redis://127.0.0.1:1', '')).toEqual([]);
    expect(await ids('show', 'ab12-dead', '')).toEqual([]);
    expect(await contents()).toEqual(before);
  });

  it('prints no error for a file that is not a queue', async () => {
    const cwd = temporaryFolder({ 'hooks.db': 'text' });
    expect(await asked(['queue', 'show', '--store', 'hooks.db', ''], cwd)).toEqual({
      values: [],
      directive: ':4',
    });
  });

  it.each([
    '-c other.json send --source ',
    '-cother.json send --source ',
    '--config other.json send --source ',
    '--config=other.json send --source ',
    'send --config=other.json --source o',
  ])('offers the names of the file that %j gives', async (line) => {
    const cwd = await placeToComplete();
    await writeFile(join(cwd, 'other.json'), JSON.stringify({ sources: { other: {} } }));
    expect((await asked(line.split(' '), cwd)).values).toEqual(['other']);
  });

  it('prints no error for any config, and does not run a config that is code', async () => {
    const broken = temporaryFolder({ '.hooksrc.json': '{' });
    expect(await asked(['send', '--source', ''], broken)).toEqual({ values: [], directive: ':4' });
    const code = temporaryFolder({
      'hooks.config.mjs': `import fs from 'node:fs'; fs.writeFileSync('evaluated', ''); export default {}`,
    });
    expect(await asked(['send', '--source', ''], code)).toEqual({ values: [], directive: ':4' });
    await expect(access(join(code, 'evaluated'))).rejects.toThrow('ENOENT');
    expect((await asked(['-c', 'no-such.yaml', 'send', '--source', ''])).values).toEqual([]);
  });

  it('offers neither secrets nor itself', async () => {
    const cwd = await placeToComplete(SECRETS);
    const { values } = await asked([''], cwd);
    expect(values).toEqual(
      expect.arrayContaining(['send', 'replay', 'expect', 'doctor', 'init', 'completion']),
    );
    expect(values).not.toContain('complete');
  });
});

describe('hooks completion', () => {
  it('has a script for each shell, and rejects an unknown shell', async () => {
    for (const shell of ['bash', 'zsh', 'fish', 'powershell']) {
      const { code, stdout, stderr } = await hooks(['completion', shell]);
      expect([code, stderr]).toEqual([0, '']);
      expect(stdout).toContain('hooks complete');
      expect(stdout).not.toMatch(/^readonly /m);
      // These would evaluate typed words.
      expect(stdout).not.toMatch(/\beval\b|Invoke-Expression/);
    }
    expect(await hooks(['completion', 'tcsh'])).toMatchObject({ code: 2, stdout: '' });
  });
});
