import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { globSync } from 'tinyglobby';
import { afterEachFile } from '../clean-ups.ts';
import { temporaryFolder } from '../temporary-folder.ts';

export type Variables = Readonly<Record<string, string>>;

/** The end of a script. */
export interface ScriptResult {
  readonly code: number | null;
  /** Standard output and standard error, as the log of a job shows them. */
  readonly output: string;
}

/** Throws if a file has a key that a runner of the tests would ignore. */
export function expectKeys(value: object, known: readonly string[]): void {
  const others = Object.keys(value).filter((key) => !known.includes(key));
  if (others.length > 0) throw new Error(`Expected the keys ${known.join(', ')}, got ${others.join(', ')}`);
}

/** Timeout for one script on a busy machine with a slow registry. */
const SCRIPT_MS = 240_000;

const open = new Set<JobShell>();
afterEachFile(() => {
  for (const shell of open) shell.end();
});

/** Runs the scripts of one job in its folder. */
export class JobShell {
  readonly #cwd: string;
  /** Has the scripts and their output, so that they do not appear in the folder of the job. */
  readonly #files = temporaryFolder();
  /** Process groups of the scripts that run or have left background processes, which stay in the group of their script. */
  readonly #groups = new Set<number>();
  #scripts = 0;

  constructor(cwd: string) {
    this.#cwd = cwd;
    open.add(this);
  }

  /**
   * Runs a script file in bash. Does not wait for the background processes of the script, which keep running until `end()`.
   *
   * @param flags of bash, for example `-eo pipefail`
   */
  async run(script: string, flags: readonly string[], env: Variables): Promise<ScriptResult> {
    const file = join(this.#files, `${++this.#scripts}.sh`);
    const log = `${file}.log`;
    writeFileSync(file, script);
    // The output goes to a file, because a pipe would stay open until the last background process ends.
    const fd = openSync(log, 'w');
    const child = spawn('bash', [...flags, file], {
      cwd: this.#cwd,
      env,
      stdio: ['ignore', fd, fd],
      detached: true,
    });
    closeSync(fd);
    const group = child.pid;
    if (group === undefined) throw new Error('Expected bash to start');
    this.#groups.add(group);
    const timer = setTimeout(() => signalGroup(group, 'SIGKILL'), SCRIPT_MS);
    const [code] = (await once(child, 'exit')) as [number | null]; // as Node documents the event
    clearTimeout(timer);
    // The id of an empty group can become that of another process.
    if (!signalGroup(group, 0)) this.#groups.delete(group);
    return { code, output: readFileSync(log, 'utf8') };
  }

  /** Writes an empty file for a script to write to. Returns its path. */
  emptyFile(name: string): string {
    const file = join(this.#files, name);
    writeFileSync(file, '');
    return file;
  }

  /** Returns the files of the job that match, with their texts. */
  artifacts(patterns: readonly string[]): Record<string, string> {
    const names = globSync(patterns, { cwd: this.#cwd }).toSorted();
    return Object.fromEntries(names.map((name) => [name, readFileSync(join(this.#cwd, name), 'utf8')]));
  }

  /** Kills the background processes, as the end of a job does. Returns the number of scripts that left some. */
  end(): number {
    open.delete(this);
    const running = [...this.#groups].filter((group) => signalGroup(group, 'SIGKILL'));
    this.#groups.clear();
    return running.length;
  }
}

/** Returns false if the group has no process. */
function signalGroup(group: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(-group, signal);
  } catch {
    return false;
  }
}
