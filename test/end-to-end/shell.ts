import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { BINARY, inherited, type HooksOptions } from './hooks.ts';

export interface ShellResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a line in a shell, in which `hooks` is the built binary and `$@` are the arguments. */
export async function inShell(
  line: string,
  args: readonly string[],
  { env, cwd, timeoutMs = 20_000 }: Omit<HooksOptions, 'stdin'> = {},
): Promise<ShellResult> {
  // In a process group, so that a line that hangs is killed with all its processes.
  const shell = spawn('sh', ['-c', `hooks() { "$0" "$@"; }; ${line}`, process.execPath, BINARY, ...args], {
    cwd,
    env: { ...inherited(), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  const timer = setTimeout(() => process.kill(-(shell.pid ?? 0), 'SIGKILL'), timeoutMs);
  const [stdout, stderr, [code]] = await Promise.all([
    text(shell.stdout),
    text(shell.stderr),
    once(shell, 'close') as Promise<[number | null]>,
  ]);
  clearTimeout(timer);
  return { code, stdout, stderr };
}
