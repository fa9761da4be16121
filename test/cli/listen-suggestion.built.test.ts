import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { BINARY, startHooks } from '../end-to-end/hooks.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';

const SECRET = 'hooks-suggestion-secret';

/** Runs a command in a shell of another folder, with no variable of the first shell except the given ones. */
async function inOtherTerminal(
  line: string,
  typed: string,
  env: Record<string, string>,
): Promise<number | null> {
  const cwd = temporaryFolder({ hooks: `#!/bin/sh\nexec '${process.execPath}' '${BINARY}' "$@"\n` });
  chmodSync(join(cwd, 'hooks'), 0o700);
  const { PATH = '' } = process.env;
  const shell = spawn('sh', ['-c', line], {
    cwd,
    env: { PATH: `${cwd}:${PATH}`, HOME: cwd, XDG_CONFIG_HOME: '/nonexistent', ...env },
    stdio: ['pipe', 'ignore', 'ignore'],
    timeout: 30_000,
  });
  shell.stdin.on('error', () => {}).end(typed);
  const [code] = (await once(shell, 'close')) as [number | null];
  return code;
}

interface Terminals {
  readonly name: string;
  readonly args?: readonly string[];
  readonly files?: Readonly<Record<string, string>>;
  readonly env?: Record<string, string>;
  readonly typed?: string;
  readonly otherEnv?: Record<string, string>;
}

const SET = { HOOKS_SECRET: SECRET };
const FLAG = ['--secret', SECRET];
const OTHER = { HOOKS_SECRET: 'another' };
const LINE = `${SECRET}\n`;

const TERMINALS: readonly Terminals[] = [
  { name: 'without a secret' },
  { name: 'with HOOKS_SECRET here and there', env: SET, typed: LINE, otherEnv: SET },
  { name: 'with HOOKS_SECRET here only', env: SET, typed: LINE },
  { name: 'with --secret', args: FLAG, typed: LINE },
  { name: 'with --secret here, another HOOKS_SECRET there', args: FLAG, typed: LINE, otherEnv: OTHER },
  { name: 'with a file of the folder', args: ['--secret-file', 'my secret'], files: { 'my secret': LINE } },
  { name: 'with a config', files: { '.hooksrc.yaml': `sharedSecret: ${LINE}` }, typed: LINE },
];

describe('the command that listen suggests', () => {
  it.concurrent.each(TERMINALS)(
    'works in another terminal: $name',
    async ({ name, args = [], files, env, typed = '', otherEnv = {} }) => {
      const listen = startHooks(['listen', '--port', '0', ...args], {
        cwd: temporaryFolder(files),
        ...(env && { env }),
      });
      await until(() => /^Try: .*\n/m.test(listen.stderr()), 'the suggestion');
      const [, command = ''] = /^Try: (.*)$/m.exec(listen.stderr()) ?? [];
      expect(command).not.toContain(SECRET);
      expect(await inOtherTerminal(command, typed, otherEnv)).toBe(0);
      const { stdout } = await listen.stop();
      const verdict = name === 'without a secret' ? 'unchecked' : 'valid';
      expect(stdout).toMatch(new RegExp(` POST / +track "Signup" .* ${verdict} +200 `));
    },
  );
});
