// Needs bash, zsh, fish, python3.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { beforeAll, describe, expect, it } from 'vitest';
import { BINARY, inherited } from '../end-to-end/hooks.ts';
import { atTerminal } from '../end-to-end/terminal.ts';
import { hasTool } from '../external-tool.ts';
import { placeToComplete } from './place-to-complete.ts';

/** A folder to complete in, with the built program in `bin`. */
async function placeWithProgram(): Promise<string> {
  const cwd = await placeToComplete();
  await mkdir(join(cwd, 'bin'));
  await writeFile(join(cwd, 'bin/hooks'), `#!/bin/sh\nexec '${process.execPath}' '${BINARY}' "$@"\n`);
  await chmod(join(cwd, 'bin/hooks'), 0o755);
  return cwd;
}

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

/** Completes the last of these words, which are split as bash splits a line. */
function completing(words: readonly string[]): string {
  const quoted = ['hooks', ...words].map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ');
  return `eval "$(hooks completion bash)"; COMP_WORDS=(${quoted}); COMP_CWORD=${words.length}; __hooks_complete; printf '%s\\n' "\${COMPREPLY[@]}"`;
}

describe('hooks completion bash', () => {
  let cwd: string;
  beforeAll(async () => {
    cwd = await placeWithProgram();
  });

  it.each([
    ['se', 'send serve'],
    ['send tr', 'track'],
    ['send track -o ', 'text json'],
    // Bash splits these at = and replaces only the part after it.
    ['send --output =', 'text json'],
    ['send --output = j', 'json'],
    ['send track --integration Arch = t', ''],
    ['send track --integration Archive = t', 'true'],
    ['send --source mo', 'mobile-app'],
    ['test URL --only unsigned,tam', 'unsigned,tampered'],
    ['test URL --only = unsigned,tam', 'unsigned,tampered'],
    ['listen --save cap', 'captures'],
  ])('completes %j with %j', async (line, expected) => {
    expect((await inBash(completing(line.split(' ')), cwd)).join(' ')).toBe(expected);
  });

  it('never evaluates typed or offered words', async () => {
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

  it('can be loaded twice', async () => {
    expect(await inBash(`${completing(['sig'])}; ${completing(['sig'])}`, cwd)).toEqual(['sign', 'sign']);
  });
});

const PATH = (cwd: string): string => `${join(cwd, 'bin')}:${process.env['PATH'] ?? ''}`;
const noPython = !hasTool('python3', '--version');

describe('Tab at a prompt', () => {
  it.skipIf(noPython)('completes in bash', async () => {
    const cwd = await placeWithProgram();
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
    const cwd = await placeWithProgram();
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
    const cwd = await placeWithProgram();
    const fish = spawn(
      'fish',
      ['-c', 'hooks completion fish | source; complete -C "hooks send --source mo"'],
      { cwd, env: { ...inherited(), PATH: PATH(cwd), HOME: cwd } },
    );
    const [stdout] = await Promise.all([text(fish.stdout), once(fish, 'close')]);
    expect(stdout).toMatch(/^mobile-app/m);
  });
});
