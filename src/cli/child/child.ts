import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { sleep, systemClock } from '../../clock.ts';
import { ConfigError } from '../../errors.ts';
import { printable } from '../../redact.ts';
import { isGroupAlive, signalGroup } from './process-group.ts';
import { showLines } from './command-output.ts';
import { onSuddenEnd } from './sudden-end.ts';
import type { Io } from '../io.ts';

export interface StartChildOptions {
  /** The whole environment of the command: secrets go in here, never into its arguments. */
  readonly env: NodeJS.ProcessEnv;
  readonly io: Pick<Io, 'stderr' | 'verbatim' | 'errColor' | 'cwd' | 'env'>;
  /** Stops the command when aborted. */
  readonly signal: AbortSignal;
  /** Secrets to mask in its output. */
  readonly secrets: readonly string[];
  /** Whether its output is hidden. @default false */
  readonly quiet?: boolean;
  /** Takes each line of its output, hidden or not, as it may be shown. */
  readonly onLine?: ((line: string) => void) | undefined;
  /** The time between asking the child to stop and killing it, in ms. @default 5000 */
  readonly graceMs?: number;
}

export type CommandEnd = { readonly code: number } | { readonly signal: NodeJS.Signals };

/**
 * Starts a command with its output on stderr, a line at a time. It gets a new process group, so that its children (of npm start, of a
 * shell) can be stopped with it; a daemon that leaves that group cannot. Throws ConfigError when it cannot be started.
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

/** `ended with exit code 1`, `was ended by SIGSEGV` */
export function describeEnd(end: CommandEnd): string {
  return 'code' in end ? `ended with exit code ${end.code}` : `was ended by ${end.signal}`;
}

const GRACE_MS = 5_000;
/** How long a killed process may take to end. Only one that waits for a broken disk, which no signal ends, takes longer. */
const KILLED_MS = 5_000;
const POLL_MS = 20;
/** Wait for the last output. */
const OUTPUT_MS = 500;

/** A command of the user that runs as a child: a receiver to test, or a sender. */
export class RunningCommand {
  /** Resolves when the command itself has ended, even if its own children run on; never rejects. */
  readonly exited: Promise<CommandEnd>;
  /** How it has ended; undefined while it runs. */
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
    this.#group = child.pid ?? 0; // it was started, so it has a pid
    this.#graceMs = graceMs;
    this.#signal = signal;
    this.#streams = [child.stdout, child.stderr].filter((stream) => stream !== null);
    this.#output = Promise.all(this.#streams.map((stream) => showLines(stream, options)));
    this.exited = once(child, 'exit').then(([code, by]: (number | NodeJS.Signals | null)[]) => {
      this.end = typeof code === 'number' ? { code } : { signal: by as NodeJS.Signals }; // one of the two is set
      return this.end;
    });
    this.#forget = onSuddenEnd(this.#kill);
    if (signal.aborted) this.#stopWhenAborted();
    else signal.addEventListener('abort', this.#stopWhenAborted);
  }

  /**
   * Stops the command and everything that it has started: asks, and after `graceMs` kills. Resolves when nothing is left of it, with
   * whether it had to be killed. May be called again, also after the command has ended by itself.
   */
  stop(): Promise<{ readonly killed: boolean }> {
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  /** Ends all of it with SIGKILL at once, as a crash would, and resolves when nothing is left of it. */
  async crash(): Promise<void> {
    this.#kill();
    await this.stop();
  }

  async #stop(): Promise<{ readonly killed: boolean }> {
    this.#signal.removeEventListener('abort', this.#stopWhenAborted);
    // A second interruption means: do not wait for a slow command.
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

  /** Whether the whole group has ended. `exited` reports the command's own end; that of its children must be polled. */
  async #gone(withinMs: number): Promise<boolean> {
    const until = performance.now() + withinMs;
    while (this.end === undefined || isGroupAlive(this.#group)) {
      if (performance.now() >= until) return false;
      await sleep(systemClock, POLL_MS);
    }
    return true;
  }

  /** Waits until all output is shown, but not forever: a daemon that has left the group may hold the pipes. */
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
  ENOEXEC: 'it is no program',
};

function notStarted(program: string, cause: NodeJS.ErrnoException): ConfigError {
  const why = START_FAILURES[cause.code ?? ''] ?? cause.code ?? cause.message;
  return new ConfigError(`The command ${printable(program, 200)} cannot be started: ${why}`, {
    key: 'command',
    origin: '--',
    hint: "give a program and its arguments behind --, as in `-- node server.js`; for a shell's syntax: -- sh -c '…'",
    cause,
  });
}
