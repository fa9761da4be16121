import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';

const BINARY = new URL('../../bin/hooks.js', import.meta.url).pathname;
/** Killed after this long, so that no case hangs. */
const TIMEOUT_MS = 40_000;

export interface CommandLine {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly stdin: string | Uint8Array;
}

export interface CommandResult {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs `hooks` as a person would, without the settings of the machine that the tests run on. */
export async function runCommand({ argv, cwd, env, stdin }: CommandLine): Promise<CommandResult> {
  const { PATH = '', HOME = '' } = process.env;
  const child = spawn(process.execPath, [BINARY, ...argv], {
    cwd,
    env: {
      PATH,
      HOME,
      NO_COLOR: '1',
      XDG_CONFIG_HOME: '/nonexistent',
      HOOKS_DATA_DIR: `${cwd}/data`,
      ...env,
    },
    timeout: TIMEOUT_MS,
    killSignal: 'SIGKILL',
  });
  // A command that does not read its input may close it first.
  child.stdin.on('error', () => {}).end(stdin);
  const [stdout, stderr, [exitCode]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close') as Promise<[number | null]>,
  ]);
  return { exitCode, stdout, stderr };
}
