import { EventEmitter, once } from 'node:events';
import { rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEachFile } from '../clean-ups.ts';

export interface HooksOptions {
  /** Standard input of the command. @default '' */
  readonly stdin?: string | Uint8Array;
  /** Whether standard input stays open after `stdin`. @default false */
  readonly keepsStdinOpen?: boolean;
  /** Variables besides those of `inherited`. */
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** The command is killed after this long, so that no test hangs. @default 40_000 */
  readonly timeoutMs?: number;
}

export interface HooksResult {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A command that runs until it is stopped. */
export interface RunningCommand {
  /** The lines of stdout as they are written. Ends with the command. */
  readonly lines: AsyncIterator<string>;
  /** Returns what stderr has got so far. */
  readonly stderr: () => string;
  /** Sends the signal (SIGINT by default), and waits for the end of the command. */
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

/** The output of a command so far. */
export interface Output {
  stdout: string;
  stderr: string;
  ended: boolean;
  readonly changed: EventEmitter;
}

/** Yields the lines of stdout. Not by readline, which stops reading if its lines are not taken: the command would never end. */
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

/** The data folder of all commands, so that they do not use that of the person who runs the tests. */
const DATA_DIR = join(tmpdir(), `hooks-test-data-${process.pid}`);
afterEachFile(() => rmSync(DATA_DIR, { recursive: true, force: true }));

/** Returns the variables that a program needs to run, without any setting of hooks. */
export function inherited(): Record<string, string> {
  const { PATH = '', HOME = '' } = process.env;
  return { PATH, HOME, NO_COLOR: '1', XDG_CONFIG_HOME: '/nonexistent', HOOKS_DATA_DIR: DATA_DIR };
}
