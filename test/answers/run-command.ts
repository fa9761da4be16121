import { hooks } from '../cli/run-in-process.ts';
import { hooks as hooksOfBinary } from '../end-to-end/hooks.ts';

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

/**
 * Runs `hooks` as a person would, in this process, without the settings of the machine that the tests run on. NODE_OPTIONS take
 * effect in a process of its own.
 */
export async function runCommand({ argv, cwd, env, stdin }: CommandLine): Promise<CommandResult> {
  const own = { HOOKS_DATA_DIR: `${cwd}/data`, ...env };
  const run = 'NODE_OPTIONS' in env ? hooksOfBinary : hooks;
  const { code, stdout, stderr } = await run(argv, { cwd, env: own, stdin });
  return { exitCode: code, stdout, stderr };
}
