import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { afterEachFile } from '../clean-ups.ts';
import { temporaryFolder } from '../temporary-folder.ts';

/** Limit for one line, so that a line that hangs fails. */
const LINE_MS = 150_000;
const READY_MS = 30_000;
const STOP_MS = 15_000;

export interface Ran {
  readonly code: number | null;
  /** stdout and stderr in the order in which they were written. */
  readonly output: string;
}

interface Background {
  readonly line: string;
  readonly port: number | undefined;
  readonly child: ChildProcess;
  readonly ended: Promise<Ran>;
}

/** Groups of processes that a failed test left running. */
const groups = new Set<number>();
afterEachFile(() => {
  for (const group of groups) killGroup(group, 'SIGKILL');
});

/** A shell whose folder and variables last from line to line, and whose background programs last until it ends. */
export class ShellSession {
  readonly #state = temporaryFolder({ env: '', cwd: '' });
  readonly #env: Readonly<Record<string, string>>;
  readonly #background: Background[] = [];
  /** Process groups of lines that have left programs running. */
  readonly #left: number[] = [];
  #lines = 0;

  constructor(cwd: string, env: Readonly<Record<string, string>>) {
    writeFileSync(join(this.#state, 'cwd'), cwd);
    this.#env = { ...env, SESSION: this.#state };
  }

  /** The folder that the last line left. */
  get cwd(): string {
    return readFileSync(join(this.#state, 'cwd'), 'utf8').replace(/\n$/, '');
  }

  /** Runs lines to their end. */
  async run(lines: string): Promise<Ran> {
    const keep = 'code=$?; export -p > "$SESSION/env"; pwd > "$SESSION/cwd"; exit $code';
    const { child, ended } = this.#spawn(`${lines}\n${keep}`);
    const timer = setTimeout(() => killGroup(child.pid, 'SIGKILL'), LINE_MS);
    const ran = await ended;
    clearTimeout(timer);
    if (child.pid !== undefined && killGroup(child.pid, 0)) this.#left.push(child.pid);
    return ran;
  }

  /** Ends the programs that lines have left running (`&`). */
  #killLeft(): void {
    for (const group of this.#left.splice(0)) killGroup(group, 'SIGKILL');
  }

  /** Starts a program that runs until `stopAll`, and waits until it listens at `port`, or else has printed something. */
  async start(line: string, port?: number): Promise<void> {
    if (port !== undefined) await this.release(port);
    // `exec` after variables would be a program of that name.
    const [, variables = '', program = ''] = /^((?:\w+=\S* )*)(.*)$/s.exec(line) ?? [];
    const assigned = variables === '' ? '' : `export ${variables}; `;
    const { child, ended, read } = this.#spawn(`${assigned}exec ${program}`);
    const deadline = performance.now() + READY_MS;
    while (!(await isReady(read, port))) {
      if (child.exitCode !== null || performance.now() > deadline) {
        killGroup(child.pid, 'SIGKILL');
        throw new Error(`Expected ${line} to run until it is stopped, got:\n${read()}`);
      }
      await new Promise((resolve) => void setTimeout(resolve, 20));
    }
    this.#background.push({ line, port, child, ended });
  }

  /** Stops the program that uses a port, as a reader does before the next one. */
  async release(port: number): Promise<void> {
    const at = this.#background.findIndex((each) => each.port === port);
    if (at !== -1) for (const each of this.#background.splice(at, 1)) await stopped(each);
  }

  async stopAll(): Promise<void> {
    this.#killLeft();
    for (const each of this.#background.splice(0).toReversed()) await stopped(each);
  }

  #spawn(script: string): { child: ChildProcess; ended: Promise<Ran>; read: () => string } {
    const file = join(this.#state, `output-${++this.#lines}`);
    const output = openSync(file, 'a');
    const child = spawn('sh', ['-c', `. "$SESSION/env"; cd "$(cat "$SESSION/cwd")"; ${script}`], {
      env: this.#env,
      detached: true,
      stdio: ['ignore', output, output],
    });
    closeSync(output);
    const read = (): string => readFileSync(file, 'utf8');
    const group = child.pid ?? 0;
    groups.add(group);
    const ended = once(child, 'close').then(([code]): Ran => {
      groups.delete(group);
      return { code: code as number | null, output: read() };
    });
    return { child, ended, read };
  }
}

async function stopped({ line, child, ended }: Background): Promise<void> {
  killGroup(child.pid, 'SIGTERM');
  const timer = setTimeout(() => killGroup(child.pid, 'SIGKILL'), STOP_MS);
  const { code, output } = await ended;
  clearTimeout(timer);
  // A program without a handler of its own ends by the signal.
  const isHooks = /\bhooks (?:listen|serve|worker)\b/.test(line);
  if (isHooks && code !== 0) throw new Error(`Expected ${line} to exit with 0, got ${code}:\n${output}`);
}

async function isReady(read: () => string, port: number | undefined): Promise<boolean> {
  if (port === undefined) return read() !== '';
  const socket = connect(port, '127.0.0.1');
  const isOpen = await new Promise<boolean>((resolve) => {
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
  });
  socket.destroy();
  return isOpen;
}

/** Returns whether the group has a process. */
function killGroup(group: number | undefined, signal: NodeJS.Signals | 0): boolean {
  try {
    return group !== undefined && process.kill(-group, signal);
  } catch {
    return false;
  }
}
