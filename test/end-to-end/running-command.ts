import { EventEmitter, once } from 'node:events';
import { rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEachFile } from '../clean-ups.ts';

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

/** A command that goes on until it is told to stop. */
export interface RunningCommand {
  /** Stdout line by line, as it comes; ends with the command. */
  readonly lines: AsyncIterator<string>;
  /** What has come on stderr so far. */
  readonly stderr: () => string;
  /** Sends the signal (SIGINT without one) and waits for the end. */
  readonly stop: (signal?: NodeJS.Signals) => Promise<HooksResult>;
  readonly exited: Promise<HooksResult>;
}

/** Returns the next line of `-o json`. Throws if the command has ended. */
export async function nextJson<Line = Record<string, unknown>>({
  lines,
  stderr,
}: Pick<RunningCommand, 'lines' | 'stderr'>): Promise<Line> {
  const { value, done } = await lines.next();
  if (done === true) throw new Error(`The command has ended: ${stderr()}`);
  return JSON.parse(value) as Line; // as cli.md says
}

/** Returns the URL in the next line, which is the first of a command that listens. */
export async function nextUrl({ lines }: Pick<RunningCommand, 'lines'>): Promise<string> {
  return /https?:[^\s"]+/.exec((await lines.next()).value ?? '')?.[0] ?? '';
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
afterEachFile(() => rmSync(DATA_DIR, { recursive: true, force: true }));

/** What a program needs to run at all; no setting of hooks, whatever the runner has. */
export function inherited(): Record<string, string> {
  const { PATH = '', HOME = '' } = process.env;
  return { PATH, HOME, NO_COLOR: '1', XDG_CONFIG_HOME: '/nonexistent', HOOKS_DATA_DIR: DATA_DIR };
}
