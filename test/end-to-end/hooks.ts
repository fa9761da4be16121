import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';

export const BINARY = new URL('../../bin/hooks.js', import.meta.url).pathname;

export interface HooksOptions {
  /** What the command reads; without it, nothing. */
  readonly stdin?: string | Uint8Array;
  /** Nothing more comes, but it does not end. @default false */
  readonly keepsStdinOpen?: boolean;
  /** Instead of whatever settings the runner of the tests has. */
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** Killed after this long, so that no test hangs. @default 40_000 */
  readonly timeoutMs?: number;
}

export interface HooksResult {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the built binary to its end. */
export async function hooks(args: readonly string[], options: HooksOptions = {}): Promise<HooksResult> {
  return startHooks(args, options).exited;
}

export interface RunningHooks {
  readonly child: ChildProcessWithoutNullStreams;
  /** Stdout line by line, as it comes; ends with the command. */
  readonly lines: AsyncIterator<string>;
  /** What has come on stderr so far. */
  readonly stderr: () => string;
  /** Sends the signal (SIGINT without one) and waits for the end. */
  readonly stop: (signal?: NodeJS.Signals) => Promise<HooksResult>;
  readonly exited: Promise<HooksResult>;
}

/** A test that fails leaves its command running; it must not outlive the tests of its file. */
const running = new Set<ChildProcessWithoutNullStreams>();
afterAll(() => {
  for (const child of running) child.kill('SIGKILL');
});

/** Starts the built binary, for a command that goes on until it is told to stop. */
export function startHooks(args: readonly string[], options: HooksOptions = {}): RunningHooks {
  const { stdin = '', keepsStdinOpen = false, env = {}, cwd, timeoutMs = 40_000 } = options;
  const child = spawn(process.execPath, [BINARY, ...args], {
    cwd,
    env: { ...inherited(), ...env },
    timeout: timeoutMs,
    killSignal: 'SIGKILL',
  });
  running.add(child);
  const output: Output = { stdout: '', stderr: '', ended: false, changed: new EventEmitter() };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output.stdout += text;
    output.changed.emit('change');
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output.stderr += text));
  // A command that does not read its input may close it first.
  child.stdin.on('error', () => {});
  child.stdin.write(stdin);
  if (!keepsStdinOpen) child.stdin.end();
  const exited = once(child, 'close').then(([code, signal]): HooksResult => {
    running.delete(child);
    output.ended = true;
    output.changed.emit('change');
    const { stdout, stderr } = output;
    return { code, signal, stdout, stderr };
  });
  return {
    child,
    lines: linesOf(output),
    stderr: () => output.stderr,
    stop: (signal = 'SIGINT') => {
      child.kill(signal);
      return exited;
    },
    exited,
  };
}

/** What a command has written so far. */
export interface Output {
  stdout: string;
  stderr: string;
  ended: boolean;
  readonly changed: EventEmitter;
}

/** Not readline, which stops reading when nobody takes its lines, and then the command never ends. */
export async function* linesOf(output: Output): AsyncGenerator<string, undefined> {
  let from = 0;
  for (;;) {
    const end = output.stdout.indexOf('\n', from);
    if (end !== -1) {
      yield output.stdout.slice(from, end);
      from = end + 1;
    } else if (output.ended) {
      return undefined;
    } else {
      await once(output.changed, 'change');
    }
  }
}

/** What commands keep between runs; not where whoever runs the tests keeps theirs. */
const DATA_DIR = join(tmpdir(), `hooks-test-data-${process.pid}`);
afterAll(() => rmSync(DATA_DIR, { recursive: true, force: true }));

/** What a program needs to run at all; no setting of hooks, whatever the runner has. */
export function inherited(): Record<string, string> {
  const { PATH = '', HOME = '' } = process.env;
  return { PATH, HOME, NO_COLOR: '1', XDG_CONFIG_HOME: '/nonexistent', HOOKS_DATA_DIR: DATA_DIR };
}
