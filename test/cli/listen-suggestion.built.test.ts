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
  readonly verdict: 'valid' | 'unchecked';
}

const TERMINALS: readonly Terminals[] = [
  { name: 'without a secret', verdict: 'unchecked' },
  {
    name: 'with HOOKS_SECRET here and there',
    env: { HOOKS_SECRET: SECRET },
    otherEnv: { HOOKS_SECRET: SECRET },
    verdict: 'valid',
  },
  {
    name: 'with HOOKS_SECRET here only',
    env: { HOOKS_SECRET: SECRET },
    typed: `${SECRET}\n`,
    verdict: 'valid',
  },
  { name: 'with --secret', args: ['--secret', SECRET], typed: `${SECRET}\n`, verdict: 'valid' },
  {
    name: 'with --secret here, another HOOKS_SECRET there',
    args: ['--secret', SECRET],
    typed: `${SECRET}\n`,
    otherEnv: { HOOKS_SECRET: 'another' },
    verdict: 'valid',
  },
  {
    name: 'with a file of the folder',
    args: ['--secret-file', 'my secret.txt'],
    files: { 'my secret.txt': `${SECRET}\n` },
    verdict: 'valid',
  },
  {
    name: 'with the secret of a config',
    files: { '.hooksrc.yaml': `sharedSecret: ${SECRET}\n` },
    typed: `${SECRET}\n`,
    verdict: 'valid',
  },
];

describe('the command that listen suggests', () => {
  it.concurrent.each(TERMINALS)(
    'works in another terminal: $name',
    async ({ args = [], files, env, typed = '', otherEnv = {}, verdict }) => {
      const listen = startHooks(['listen', '--port', '0', ...args], {
        cwd: temporaryFolder(files),
        ...(env && { env }),
      });
      await until(() => /^Try: .*\n/m.test(listen.stderr()), 'the suggestion');
      const [, command = ''] = /^Try: (.*)$/m.exec(listen.stderr()) ?? [];
      expect(command).not.toContain(SECRET);
      expect(await inOtherTerminal(command, typed, otherEnv)).toBe(0);
      const { stdout } = await listen.stop();
      expect(stdout).toMatch(new RegExp(` POST / +track "Signup" .* ${verdict} +200 `));
    },
  );
});
