import { join } from 'node:path';
import { freePort, saysTaken } from '../free-port.ts';
import { hooks, startHooks, type HooksOptions, type RunningHooks } from './hooks.ts';
import { jsonLines, ROOT, SECRET } from './receiving.ts';

export const RECEIVERS = join(ROOT, 'fixtures/receivers');

/** A line of `hooks test -o json`. */
export interface CheckLine {
  readonly check: string;
  readonly outcome: 'passed' | 'failed' | 'skipped' | 'unsent';
  readonly status?: number;
  readonly error?: string;
  readonly reason?: string;
  readonly diagnosis?: { readonly code: string; readonly says: string; readonly hint: string };
}

export interface Tested {
  readonly code: number | null;
  readonly lines: readonly CheckLine[];
  readonly stdout: string;
  readonly stderr: string;
  /** The codes of the diagnoses of failed checks, by check. */
  readonly faults: Readonly<Record<string, string>>;
  /** Returns the checks with an outcome. */
  readonly checks: (outcome: CheckLine['outcome']) => string[];
}

/** Runs `hooks test -o json URL -- COMMAND` at a free port, with the secret in the environment and a long timeout. */
export async function testing(
  command: readonly string[],
  flags: readonly string[] = [],
  options: HooksOptions = {},
): Promise<Tested> {
  const env = { HOOKS_SECRET: SECRET, ...options.env };
  for (let tries = 1; ; tries++) {
    const url = `http://127.0.0.1:${await freePort()}/webhook`;
    const args = ['test', url, '-o', 'json', '--timeout', '30s', ...flags, '--', ...command];
    const result = tested(await hooks(args, { ...options, env }));
    if (tries === 3 || !saysTaken(result.stderr)) return result;
  }
}

export async function startTesting(
  command: readonly string[],
  flags: readonly string[] = [],
): Promise<RunningHooks> {
  const args = ['test', `http://127.0.0.1:${await freePort()}/webhook`, '-o', 'json', ...flags];
  return startHooks([...args, '--', ...command], { env: { HOOKS_SECRET: SECRET } });
}

export function tested({ code, stdout, stderr }: Awaited<ReturnType<typeof hooks>>): Tested {
  const lines = jsonLines<CheckLine>(stdout).filter((line) => 'check' in line);
  const failed = lines.flatMap(({ check, diagnosis }) => (diagnosis ? [[check, diagnosis.code]] : []));
  return {
    code,
    lines,
    stdout,
    stderr,
    faults: Object.fromEntries(failed) as Record<string, string>,
    checks: (outcome) => lines.filter((line) => line.outcome === outcome).map(({ check }) => check),
  };
}
