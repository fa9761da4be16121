import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

/** A program of the tests in its own process. */
export interface Program {
  /** A temporary folder, also for other files. */
  readonly folder: string;
  /** Runs the program to its end, or kills it after `killAfter` lines. `options` is its only argument, as JSON. */
  run(options: Readonly<Record<string, unknown>>, how?: RunOptions): Promise<ProgramEnd>;
  remove(): void;
}

export interface RunOptions {
  readonly killAfter?: number;
  /** @default 25_000 */
  readonly longestMs?: number;
  /** A command that runs the program, such as `strace …`. */
  readonly under?: readonly string[];
}

export interface ProgramEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: readonly string[];
  readonly stderr: string;
}

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
/** Limits the time of a process that hangs. */
const LONGEST_MS = 25_000;

/** Node 20 cannot run TypeScript, so the program is bundled, into a folder from which it finds SQLite and the drivers of servers. */
export async function makeProgram(source: string): Promise<Program> {
  const folder = mkdtempSync(join(tmpdir(), 'hooks-program-'));
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  const bundle = await rolldown({
    input: join(ROOT, source),
    platform: 'node',
    external: [/^node:/, '@photostructure/sqlite', 'bullmq', 'ioredis', 'pg'],
    logLevel: 'silent',
  });
  await bundle.write({ file: join(folder, 'program.mjs'), format: 'esm' });
  return {
    folder,
    run: (options, how = {}) =>
      run([process.execPath, join(folder, 'program.mjs'), JSON.stringify(options)], how),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

function run(
  words: readonly string[],
  { killAfter, under = [], longestMs = LONGEST_MS }: RunOptions,
): Promise<ProgramEnd> {
  const [command = '', ...rest] = [...under, ...words];
  const child = spawn(command, rest, { timeout: longestMs, killSignal: 'SIGKILL' });
  const stdout: string[] = [];
  createInterface(child.stdout).on('line', (line) => {
    if (stdout.push(line) === killAfter) child.kill('SIGKILL');
  });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => resolve({ code, signal, stdout, stderr }));
  });
}
