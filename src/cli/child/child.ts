import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { sleep, systemClock } from '../../clock.ts';
import { ConfigError } from '../../errors.ts';
import { printable } from '../../redact.ts';
import { isGroupAlive, signalGroup } from './group.ts';
import { showLines } from './output.ts';
import type { Io } from '../io.ts';

export interface StartChildOptions {
  /** The whole environment of the command: secrets go in here, never into its arguments. */
  readonly env: NodeJS.ProcessEnv;
  readonly io: Pick<Io, 'stderr' | 'note' | 'errColor' | 'cwd'>;
  /** Stops it when aborted. */
  readonly signal: AbortSignal;
  /** Taken out of what it prints. */
  readonly secrets: readonly string[];
  /** What it prints is not shown. @default false */
  readonly quiet?: boolean;
  /** Between asking it to stop and killing it, in ms. @default 5000 */
  readonly graceMs?: number;
}

/** A command of the user's that runs beside ours: a receiver to be tested, or a sender. */
export interface RunningCommand {
  /** Resolves when the command itself has ended, whatever it has started in turn; never rejects. */
  readonly exited: Promise<CommandEnd>;
  /** How it has ended; undefined while it runs. */
  readonly end: CommandEnd | undefined;
  /**
   * Ends it and everything that it has started: asks, and after `graceMs` kills. Resolves when nothing is left of it, with whether it
   * had to be killed. May be called again, also after it has ended by itself.
   */
  stop(): Promise<{ readonly killed: boolean }>;
}

export type CommandEnd = { readonly code: number } | { readonly signal: NodeJS.Signals };

/**
 * Starts a command with its output on our stderr, a line at a time. It gets a process group of its own, so that what it starts (npm
 * start, a shell) can be stopped with it; what leaves that group as a daemon does cannot. Throws ConfigError when it cannot be started.
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
  return new Command(child, options);
}

/** `ended with exit code 1`, `was ended by SIGSEGV` */
export function describeEnd(end: CommandEnd): string {
  return 'code' in end ? `ended with exit code ${end.code}` : `was ended by ${end.signal}`;
}

const GRACE_MS = 5_000;
/** How long the system may take over what was killed. Longer only for what waits for a broken disk, which nobody can end. */
const KILLED_MS = 5_000;
const POLL_MS = 20;
/** For what it has printed last. */
const OUTPUT_MS = 500;

class Command implements RunningCommand {
  readonly exited: Promise<CommandEnd>;
  end: CommandEnd | undefined;
  readonly #group: number;
  readonly #graceMs: number;
  readonly #output: Promise<unknown>;
  readonly #streams: readonly Readable[];
  readonly #signal: AbortSignal;
  #stopping: Promise<{ readonly killed: boolean }> | undefined;

  constructor(child: ChildProcess, options: StartChildOptions) {
    const { signal, graceMs = GRACE_MS } = options;
    this.#group = child.pid ?? 0; // it was started, so it has one
    this.#graceMs = graceMs;
    this.#signal = signal;
    this.#streams = [child.stdout, child.stderr].filter((stream) => stream !== null);
    this.#output = Promise.all(this.#streams.map((stream) => showLines(stream, options)));
    this.exited = once(child, 'exit').then(([code, by]: (number | NodeJS.Signals | null)[]) => {
      this.end = typeof code === 'number' ? { code } : { signal: by as NodeJS.Signals }; // one of both is set
      return this.end;
    });
    process.once('exit', this.#kill).once('SIGHUP', this.#endWith).once('SIGQUIT', this.#endWith);
    if (signal.aborted) this.#stopWhenAborted();
    else signal.addEventListener('abort', this.#stopWhenAborted);
  }

  stop(): Promise<{ readonly killed: boolean }> {
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  async #stop(): Promise<{ readonly killed: boolean }> {
    this.#signal.removeEventListener('abort', this.#stopWhenAborted);
    // Who interrupts a second time does not want to wait for a command that takes its time.
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
      process.off('exit', this.#kill).off('SIGHUP', this.#endWith).off('SIGQUIT', this.#endWith);
    }
  }

  readonly #stopWhenAborted = (): void => {
    void this.stop();
  };

  readonly #kill = (): void => {
    signalGroup(this.#group, 'SIGKILL');
  };

  /** The terminal is gone, or Ctrl-\ was pressed, which only we are told. We end as if we had not listened. */
  readonly #endWith = (signal: NodeJS.Signals): void => {
    this.#kill();
    process.kill(process.pid, signal);
  };

  /** The command's own end is known by `exited`; that of what it has started must be asked for. */
  async #gone(withinMs: number): Promise<boolean> {
    const until = performance.now() + withinMs;
    while (this.end === undefined || isGroupAlive(this.#group)) {
      if (performance.now() >= until) return false;
      await sleep(systemClock, POLL_MS);
    }
    return true;
  }

  /** All that was printed is shown; but a daemon that has left the group may hold the pipes for ever. */
  async #endOutput(): Promise<void> {
    const over = new AbortController();
    await Promise.race([this.#output, sleep(systemClock, OUTPUT_MS, over.signal)]);
    over.abort();
    for (const stream of this.#streams) stream.destroy();
  }
}

const WHY: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such program',
  EACCES: 'it may not be run',
  ENOEXEC: 'it is no program',
};

function notStarted(program: string, cause: NodeJS.ErrnoException): ConfigError {
  const why = WHY[cause.code ?? ''] ?? cause.code ?? cause.message;
  return new ConfigError(`The command ${printable(program, 200)} cannot be started: ${why}`, {
    key: 'command',
    origin: '--',
    hint: "what stands behind -- is a program and its arguments, as in `-- node server.js`; for a shell's syntax: -- sh -c '…'",
    cause,
  });
}
