import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { sleep, systemClock } from '../../clock.ts';
import { ConfigError } from '../../errors.ts';
import { printable } from '../../redact.ts';
import { isGroupAlive, signalGroup } from './process-group.ts';
import { showLines, type ShowLinesOptions } from './command-output.ts';
import { onSuddenEnd } from './sudden-end.ts';
import type { Io } from '../io.ts';

export interface StartChildOptions extends ShowLinesOptions {
  /** The whole environment of the command. Secrets belong here, never into its arguments. */
  readonly env: NodeJS.ProcessEnv;
  readonly io: ShowLinesOptions['io'] & Pick<Io, 'cwd'>;
  /** Stops the command when aborted. */
  readonly signal: AbortSignal;
  /** Milliseconds between SIGTERM and SIGKILL. @default 5000 */
  readonly graceMs?: number;
}

export type CommandEnd = { readonly code: number } | { readonly signal: NodeJS.Signals };

/**
 * Starts a command and shows its output on stderr, line by line. The command gets a new process group, so that its children
 * (of npm start, of a shell) can be stopped with it; a daemon that leaves the group cannot. Throws ConfigError if the
 * command cannot be started.
 */
export async function startCommand(
  [program = '', ...args]: readonly string[],
  options: StartChildOptions,
): Promise<RunningCommand> {
  const { env, io } = options;
  const child = spawn(program, args, {
    env,
    cwd: io.cwd,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  try {
    await once(child, 'spawn');
  } catch (cause) {
    throw notStarted(program, cause as NodeJS.ErrnoException); // what spawn emits
  }
  return new RunningCommand(child, options);
}

/** Describes how a command ended, such as `ended with exit code 1` or `was ended by SIGSEGV`. */
export function describeEnd(end: CommandEnd): string {
  return 'code' in end ? `ended with exit code ${end.code}` : `was ended by ${end.signal}`;
}

/** Resolves when a child process has ended. Rejects if it cannot be started. */
export async function endOf(child: ChildProcess): Promise<CommandEnd> {
  const [code, by] = (await once(child, 'exit')) as [number, null] | [null, NodeJS.Signals]; // documented for `exit`
  return code === null ? { signal: by } : { code };
}

const GRACE_MS = 5_000;
/** Time to wait for a killed process to end. Only a process that waits for a broken disk takes longer. */
const KILLED_MS = 5_000;
const POLL_MS = 20;
/** Time to wait for the last output of a command that has ended. */
const OUTPUT_MS = 500;

/** A command of the user that runs as a child process: a receiver to test, or a sender. */
export class RunningCommand {
  /** Resolves when the command itself has ended, even if its children still run. Never rejects. */
  readonly exited: Promise<CommandEnd>;
  /** How the command ended; undefined while it runs. */
  end: CommandEnd | undefined;
  readonly #group: number;
  readonly #graceMs: number;
  readonly #output: Promise<unknown>;
  readonly #streams: readonly Readable[];
  readonly #signal: AbortSignal;
  readonly #forget: () => void;
  #stopping: Promise<{ readonly killed: boolean }> | undefined;

  constructor(child: ChildProcess, options: StartChildOptions) {
    const { signal, graceMs = GRACE_MS } = options;
    this.#group = child.pid ?? 0; // a started process has a pid
    this.#graceMs = graceMs;
    this.#signal = signal;
    this.#streams = [child.stdout, child.stderr].filter((stream) => stream !== null);
    this.#output = Promise.all(this.#streams.map((stream) => showLines(stream, options)));
    this.exited = endOf(child).then((end) => (this.end = end));
    this.#forget = onSuddenEnd(this.#kill);
    if (signal.aborted) this.#stopWhenAborted();
    else signal.addEventListener('abort', this.#stopWhenAborted);
  }

  /**
   * Stops the whole process group with SIGTERM, and with SIGKILL after `graceMs`. Resolves when all processes have ended,
   * with whether they had to be killed. Can be called repeatedly, also after the command has ended by itself.
   */
  stop(): Promise<{ readonly killed: boolean }> {
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  /** Ends the whole process group with SIGKILL at once, as a crash would. Resolves when all processes have ended. */
  async crash(): Promise<void> {
    this.#kill();
    await this.stop();
  }

  async #stop(): Promise<{ readonly killed: boolean }> {
    this.#signal.removeEventListener('abort', this.#stopWhenAborted);
    // A second interruption kills a command that is slow to stop.
    process.on('SIGINT', this.#kill).on('SIGTERM', this.#kill);
    try {
      signalGroup(this.#group, 'SIGTERM');
      if (await this.#gone(this.#graceMs)) return { killed: false };
      this.#kill();
      await this.#gone(KILLED_MS);
      return { killed: true };
    } finally {
      await this.#endOutput();
      process.off('SIGINT', this.#kill).off('SIGTERM', this.#kill);
      this.#forget();
    }
  }

  readonly #stopWhenAborted = (): void => {
    void this.stop();
  };

  readonly #kill = (): void => {
    signalGroup(this.#group, 'SIGKILL');
  };

  /**
   * Waits for the whole group to end, and returns whether it did. Polls, because `exited` only reports the command itself.
   */
  async #gone(withinMs: number): Promise<boolean> {
    const until = performance.now() + withinMs;
    while (this.end === undefined || isGroupAlive(this.#group)) {
      if (performance.now() >= until) return false;
      await sleep(systemClock, POLL_MS);
    }
    return true;
  }

  /**
   * Waits until all output is shown, for `OUTPUT_MS` at most, because a daemon that left the group can keep the pipes open.
   */
  async #endOutput(): Promise<void> {
    const over = new AbortController();
    await Promise.race([this.#output, sleep(systemClock, OUTPUT_MS, over.signal)]);
    over.abort();
    for (const stream of this.#streams) stream.destroy();
  }
}

const START_FAILURES: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such program',
  EACCES: 'this user may not run it',
  ENOEXEC: 'it is not a program',
};

function notStarted(program: string, cause: NodeJS.ErrnoException): ConfigError {
  const why = START_FAILURES[cause.code ?? ''] ?? cause.code ?? cause.message;
  return new ConfigError(`The command ${printable(program, 200)} cannot be started: ${why}`, {
    key: 'command',
    origin: '--',
    hint: "give a program and its arguments after --, as in `-- node server.js`; for a shell's syntax: -- sh -c '…'",
    cause,
  });
}
