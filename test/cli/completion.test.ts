import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { beforeAll, describe, expect, it } from 'vitest';
import { MESSAGE_TYPES } from '../../src/message/types.ts';
import { BINARY, hooks, inherited } from '../end-to-end/hooks.ts';
import { atTerminal } from '../end-to-end/terminal.ts';
import { hasTool } from '../external-tool.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const SECRETS = { sharedSecret: 'hunter2', writeKey: 'hunter2' };
const CONFIG = {
  sources: {
    web: { writeKey: 'hunter2', destinations: { Webhooks: {}, Archive: { sharedSecret: 'hunter2' } } },
    'mobile-app': {},
    // No shell may ever get this one to evaluate.
    '$(touch evaluated)': {},
  },
};

async function place(config: object | undefined = CONFIG): Promise<string> {
  const cwd = temporaryFolder(config === undefined ? {} : { '.hooksrc.json': JSON.stringify(config) });
  await mkdir(join(cwd, 'captures'));
  await writeFile(join(cwd, 'day.ndjson'), '');
  await mkdir(join(cwd, 'bin'));
  await writeFile(join(cwd, 'bin/hooks'), `#!/bin/sh\nexec '${process.execPath}' '${BINARY}' "$@"\n`);
  await chmod(join(cwd, 'bin/hooks'), 0o755);
  return cwd;
}

async function asked(
  words: readonly string[],
  cwd?: string,
): Promise<{ values: string[]; directive: string }> {
  const { code, stdout, stderr } = await hooks(
    ['complete', '--', ...words],
    cwd === undefined ? {} : { cwd },
  );
  expect([code, stderr]).toEqual([0, '']);
  const lines = stdout.trimEnd().split('\n');
  const directive = lines.pop() ?? '';
  return { values: lines.map((line) => line.split('\t', 1)[0] ?? ''), directive };
}

describe('hooks complete', () => {
  it.each<[string[], string[]]>([
    [['se'], ['send', 'serve']],
    [
      ['send', ''],
      [...MESSAGE_TYPES, 'help'],
    ],
    [['send', 'track', '--ev'], ['--event']],
    [
      ['-o', ''],
      ['text', 'json'],
    ],
    [['--output=j'], ['json']],
    [
      ['send', 'track', '--event', 'send', '--strategy', ''],
      ['fallback', 'broadcast'],
    ],
    [
      ['queue', 're'],
      ['retry', 'recover'],
    ],
    [['help', 'queue', 's'], []],
    [['help', 'qu'], ['queue']],
    [['queue', 'list', '--state', 'de'], ['delivered', 'dead'].filter((state) => state.startsWith('de'))],
    [
      ['completion', ''],
      ['bash', 'zsh', 'fish', 'powershell'],
    ],
    [['send', '--nonsense', 'tra'], ['track']],
    [['nonsense', 'x'], []],
  ])('answers %j', async (words, expected) => {
    expect((await asked(words)).values).toEqual(expected);
  });

  it('knows where files, folders and neither go', async () => {
    expect((await asked(['replay', 'x'])).directive).toBe(':0');
    expect((await asked(['send', '--secret-file', ''])).directive).toBe(':0');
    expect((await asked(['listen', '--save', ''])).directive).toBe(':16');
    expect((await asked(['expect', '--count', '1', '--', ''])).directive).toBe(':0');
    expect(await asked(['send', '--secret', ''])).toEqual({ values: [], directive: ':4' });
    expect(await asked(['send', '--write-key', ''])).toEqual({ values: [], directive: ':4' });
  });

  it('offers the names of the config, and no secret', async () => {
    const cwd = await place();
    expect((await asked(['send', '--source', ''], cwd)).values).toEqual(['web', 'mobile-app']);
    expect((await asked(['send', 'track', '--integration', 'A'], cwd)).values).toEqual([
      'All=true',
      'All=false',
      'Archive=true',
      'Archive=false',
    ]);
    for (const flag of ['--secret', '--write-key', '--url', '--endpoint', '--header', '--source'])
      expect(JSON.stringify(await asked(['send', flag, ''], cwd))).not.toContain('hunter2');
  });

  it.each([
    [['-c', 'other.json', 'send', '--source', ''], ['other']],
    [['-cother.json', 'send', '--source', ''], ['other']],
    [['--config', 'other.json', 'send', '--source', ''], ['other']],
    [['--config=other.json', 'send', '--source', ''], ['other']],
    [['send', '--config=other.json', '--source', 'o'], ['other']],
  ])('offers the names of the file that %j gives', async (words, expected) => {
    const cwd = await place();
    await writeFile(join(cwd, 'other.json'), JSON.stringify({ sources: { other: {} } }));
    expect((await asked(words, cwd)).values).toEqual(expected);
  });

  it('prints no error whatever the config is, and runs none that is code', async () => {
    const broken = temporaryFolder({ '.hooksrc.json': '{' });
    expect(await asked(['send', '--source', ''], broken)).toEqual({ values: [], directive: ':4' });
    const code = temporaryFolder({
      'hooks.config.mjs': `import fs from 'node:fs'; fs.writeFileSync('evaluated', ''); export default {}`,
    });
    expect(await asked(['send', '--source', ''], code)).toEqual({ values: [], directive: ':4' });
    await expect(access(join(code, 'evaluated'))).rejects.toThrow('ENOENT');
    expect((await asked(['-c', 'no-such.yaml', 'send', '--source', ''])).values).toEqual([]);
  });

  it('has neither secrets nor itself in the list of commands', async () => {
    const cwd = await place(SECRETS);
    const { values } = await asked([''], cwd);
    expect(values).toEqual(
      expect.arrayContaining(['send', 'replay', 'expect', 'doctor', 'init', 'completion']),
    );
    expect(values).not.toContain('complete');
  });
});

async function inBash(script: string, cwd: string): Promise<string[]> {
  const shell = spawn('bash', ['--norc', '--noprofile', '-c', script], {
    cwd,
    env: { ...inherited(), PATH: `${join(cwd, 'bin')}:${process.env['PATH'] ?? ''}` },
    timeout: 20_000,
  });
  const [stdout, stderr] = await Promise.all([text(shell.stdout), text(shell.stderr), once(shell, 'close')]);
  expect(stderr).toBe('');
  return stdout.split('\n').filter((line) => line !== '');
}

/** The words as bash takes a line apart, the last one being typed. */
function completing(words: readonly string[]): string {
  const quoted = ['hooks', ...words].map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ');
  return `eval "$(hooks completion bash)"; COMP_WORDS=(${quoted}); COMP_CWORD=${words.length}; __hooks_complete; printf '%s\\n' "\${COMPREPLY[@]}"`;
}

describe('hooks completion bash', () => {
  let cwd: string;
  beforeAll(async () => {
    cwd = await place();
  });

  it.each<[string[], string[]]>([
    [['se'], ['send', 'serve']],
    [['send', 'tr'], ['track']],
    [
      ['send', 'track', '-o', ''],
      ['text', 'json'],
    ],
    // Bash takes these apart at = and replaces what stands behind it.
    [
      ['send', '--output', '='],
      ['text', 'json'],
    ],
    [['send', '--output', '=', 'j'], ['json']],
    [['send', 'track', '--integration', 'Arch', '=', 't'], []],
    [['send', 'track', '--integration', 'Archive', '=', 't'], ['true']],
    [['send', '--source', 'mo'], ['mobile-app']],
    [['listen', '--save', 'cap'], ['captures']],
  ])('completes %j', async (words, expected) => {
    expect(await inBash(completing(words), cwd)).toEqual(expected);
  });

  it('evaluates nothing of what is typed or offered', async () => {
    for (const words of [
      ['send', '$(touch evaluated)', ''],
      ['send', '"a; touch evaluated; b', ''],
      ['send', '`touch evaluated`'],
      ['send', '--source', ''],
    ]) {
      await inBash(completing(words), cwd);
    }
    await expect(access(join(cwd, 'evaluated'))).rejects.toThrow('ENOENT');
  });

  it('may be read twice', async () => {
    expect(await inBash(`${completing(['sig'])}; ${completing(['sig'])}`, cwd)).toEqual(['sign', 'sign']);
  });
});

const PATH = (cwd: string): string => `${join(cwd, 'bin')}:${process.env['PATH'] ?? ''}`;
const noPython = !hasTool('python3', '--version');

describe('Tab at a prompt', () => {
  it.skipIf(noPython)('completes in bash', async () => {
    const cwd = await place();
    const { shown } = await atTerminal(['bash', '--norc', '--noprofile', '-i'], {
      cwd,
      env: { PATH: PATH(cwd), PS1: 'ready> ' },
      steps: [
        ['ready> ', 'eval "$(hooks completion bash)"; echo lo""aded\r'],
        ['loaded', 'echo; hooks send --source mo\t'],
        ['mobile-app ', '\x15hooks replay da\t'],
        ['day.ndjson ', '\x15exit\r'],
      ],
    });
    expect(shown).toContain('--source mobile-app ');
    expect(shown).toContain('replay day.ndjson ');
  });

  it.skipIf(noPython || !hasTool('zsh', '--version'))('completes in zsh', async () => {
    const cwd = await place();
    const { shown } = await atTerminal(['zsh', '-f', '-i'], {
      cwd,
      env: { PATH: PATH(cwd), PS1: 'ready> ', HOME: cwd },
      steps: [
        ['ready> ', 'autoload -U compinit; compinit -u; source <(hooks completion zsh); echo lo""aded\r'],
        ['loaded', 'hooks send --source mo\t'],
        ['mobile-app', '\x15exit\r'],
      ],
    });
    expect(shown).toContain('mobile-app');
  });

  it.skipIf(!hasTool('fish', '--version'))('completes in fish', async () => {
    const cwd = await place();
    const fish = spawn(
      'fish',
      ['-c', 'hooks completion fish | source; complete -C "hooks send --source mo"'],
      {
        cwd,
        env: { ...inherited(), PATH: PATH(cwd), HOME: cwd },
      },
    );
    const [stdout] = await Promise.all([text(fish.stdout), once(fish, 'close')]);
    expect(stdout).toMatch(/^mobile-app/m);
  });

  it('has a script for each shell, and tells a wrong one', async () => {
    for (const shell of ['bash', 'zsh', 'fish', 'powershell']) {
      const { code, stdout, stderr } = await hooks(['completion', shell]);
      expect([code, stderr]).toEqual([0, '']);
      expect(stdout).toContain('hooks complete');
      expect(stdout).not.toMatch(/^readonly /m);
      // What is typed would be evaluated.
      expect(stdout).not.toMatch(/\beval\b|Invoke-Expression/);
    }
    expect(await hooks(['completion', 'tcsh'])).toMatchObject({ code: 2, stdout: '' });
  });
});
