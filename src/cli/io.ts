import { fstatSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import { InputError } from '../errors.ts';
import { commandEscaper } from '../redact.ts';
import { columnsOf, fitText } from './fit-text.ts';
import { createOut, type Out } from './out.ts';
import { programName, withProgramName } from './program-name.ts';
import { loadPalette, PLAIN_PALETTE, PLAIN_PALETTES, type Palettes } from './palette.ts';

const STDIN_FD = 0;
const STDOUT_FD = 1;
const STDERR_FD = 2;

/** The environment of a command: standard input, both outputs, variables and the interruption signal. */
export interface Io extends Out, Palettes {
  readonly stdin: Readable & { readonly isTTY?: boolean; readonly setRawMode?: (isRaw: boolean) => unknown };
  /** The file descriptor of stdin, usable before its stream exists. Undefined if stdin is a stream without one. */
  readonly stdinFd: number | undefined;
  readonly env: Readonly<NodeJS.ProcessEnv>;
  /** The current folder. Throws InputError if it was removed. */
  readonly cwd: string;
  /**
   * Aborts on SIGINT, SIGTERM or SIGHUP (reason: the signal's name), when the reader of stdout is gone (`closed-pipe`; not
   * for commands whose exit code or files count), or when stdout cannot be written (reason: an InputError).
   */
  readonly signal: AbortSignal;
  /** Calls `reload` on SIGHUP, which then no longer aborts `signal`. */
  readonly onHangup: (reload: () => void) => void;
  /** Sends a signal to the process group of the command, as a terminal does for Ctrl-C. */
  readonly signalGroup: (name: NodeJS.Signals) => void;
  /** Writes a line to stderr, wrapped to the width of a terminal: notes, progress, errors. */
  readonly note: (line: string) => void;
  /** Replaces `hooks` in the commands of a text by the words that started the program. `note` does this itself. */
  readonly named: (text: string) => string;
  /** `out` and `note` that do not escape the workflow commands of a CI runner, for text that must stay unchanged. */
  readonly verbatim: Pick<Io, 'out' | 'note'>;
  /** Whether only errors are wanted: `-q`. */
  readonly isQuiet: boolean;
  readonly stderr: Writable & { readonly columns?: number };
  readonly stdoutIsTty: boolean;
  /** The width of the terminal on stdout; undefined if stdout is not a terminal. */
  readonly stdoutColumns: number | undefined;
  readonly stderrIsTty: boolean;
}

/** The properties of stdout that text for people depends on. */
export type Screen = Pick<Io, 'color' | 'stdoutColumns'> & Partial<Pick<Io, 'named'>>;

/** Escapes the workflow commands of a CI runner in everything that is written, because text can come from outside. */
export function guarded(io: Omit<Io, 'verbatim'>): Io {
  const { out, note, env } = io;
  const escape = commandEscaper(env);
  return Object.assign(io, {
    verbatim: { out, note },
    out: (text: string) => out(escape(text)),
    note: (line: string) => note(escape(line)),
  });
}

/** Resolves once the signal is aborted. */
export function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

/** Loads the palettes of both outputs of a process. */
export async function loadPalettes(proc: NodeJS.Process): Promise<Palettes> {
  const argv = proc.argv.slice(2);
  const isOutColored = hasColors(() => isTerminal(STDOUT_FD, () => proc.stdout), proc.env, argv);
  const isErrColored = hasColors(() => isTerminal(STDERR_FD, () => proc.stderr), proc.env, argv);
  if (!isOutColored && !isErrColored) return PLAIN_PALETTES;
  const painted = await loadPalette();
  return {
    color: isOutColored ? painted : PLAIN_PALETTE,
    errColor: isErrColored ? painted : PLAIN_PALETTE,
  };
}

/**
 * Creates the environment of a command from the process. Losing stdout aborts `signal` instead of printing a stack trace.
 */
export function createIo(proc: NodeJS.Process, palettes = PLAIN_PALETTES): Io {
  const interruption = new AbortController();
  const onHangup = abortOnSignals(proc, interruption);
  const env = { ...proc.env };
  // Hooks verifies certificates regardless of this variable, but Node would warn. Child processes still get it from `env`.
  delete proc.env['NODE_TLS_REJECT_UNAUTHORIZED'];
  const argv = proc.argv.slice(2);
  const output = createOut(() => proc.stdout, {
    interruption,
    delivers: () => mayDeliver(argv),
    outlivesReader: ['expect', 'import', 'test'].includes(argv[0] ?? ''),
  });
  // Created on first use: Node takes longer to create a stream than to sign a body.
  const stderr = once(() => quietStream(proc.stderr));
  // The log of `DEBUG` writes to the stderr of the process directly, so write errors must be handled from the start.
  if (env['DEBUG']) stderr();
  const named = (text: string): string =>
    withProgramName(text, () => programName({ script: proc.argv[1] ?? '', env, cwd: () => proc.cwd() }));
  return guarded({
    ...palettes,
    get stdin() {
      return proc.stdin;
    },
    stdinFd: STDIN_FD,
    env,
    get cwd() {
      return currentFolder(proc);
    },
    signal: interruption.signal,
    onHangup,
    signalGroup: (name) => void proc.kill(0, name),
    out: output.out,
    flush: output.flush,
    drained: output.drained,
    note: (line) => {
      // A terminal shows both outputs, so buffered stdout must appear before this line of stderr.
      output.flush();
      stderr().write(`${fitText(named(line), columnsOf(stderr()))}\n`);
    },
    named,
    isQuiet: isGiven(argv, 'quiet'),
    get stderr() {
      return stderr();
    },
    get stdoutIsTty() {
      return isTerminal(STDOUT_FD, () => proc.stdout);
    },
    get stdoutColumns() {
      return this.stdoutIsTty ? columnsOf(proc.stdout) : undefined;
    },
    get stderrIsTty() {
      return isTerminal(STDERR_FD, stderr);
    },
  });
}

const DELIVERING = ['send', 'replay', 'worker', 'serve', 'audience', 'trait', 'delete'];

function mayDeliver(argv: readonly string[]): boolean {
  return DELIVERING.includes(argv[0] ?? '') && !argv.includes('--help') && !argv.includes('-h');
}

/** Ignores write errors, so that a command continues when the reader of its notes is gone. */
function quietStream(stream: NodeJS.WriteStream): NodeJS.WriteStream {
  return stream.on('error', () => {});
}

/** Defers a call until its value is needed, and calls it only once. */
export function once<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | undefined;
  return () => (made ??= { value: make() }).value;
}

/**
 * Whether a descriptor is a terminal. Creates no stream for files and pipes. `isTTY` can be absent, despite Node's types.
 */
function isTerminal(fd: number, stream: () => { isTTY?: boolean }): boolean {
  return fstatSync(fd).isCharacterDevice() && (stream().isTTY ?? false);
}

/**
 * Aborts on the first signal, so that the command can stop and print its results. A second one ends the process at once.
 * Returns a function that makes SIGHUP call `reload` instead.
 */
function abortOnSignals(proc: NodeJS.Process, interruption: AbortController): (reload: () => void) => void {
  const stop = (name: NodeJS.Signals): void => {
    proc.off('SIGINT', stop).off('SIGTERM', stop).off('SIGHUP', stop);
    interruption.abort(name);
  };
  proc.on('SIGINT', stop).on('SIGTERM', stop).on('SIGHUP', stop);
  return (reload) => void proc.off('SIGHUP', stop).on('SIGHUP', reload);
}

/** Returns the current folder. Throws InputError if another process removed it. */
function currentFolder(proc: NodeJS.Process): string {
  try {
    return proc.cwd();
  } catch (cause) {
    throw new InputError('The current folder is gone', {
      hint: 'change to a folder that exists: cd ~',
      cause,
    });
  }
}

/** Whether to use colors: the flag decides, then NO_COLOR, then FORCE_COLOR, then the terminal. */
export function hasColors(isTty: () => boolean, env: Io['env'], argv: readonly string[]): boolean {
  if (argv.includes('--no-color') || env['NO_COLOR']) return false;
  const forced = env['FORCE_COLOR'];
  if (forced !== undefined) return forced !== '0' && forced !== 'false';
  return env['TERM'] !== 'dumb' && isTty();
}

/** Whether the command line has a global switch, for code that runs before or after commander parses it. */
export function isGiven(argv: readonly string[], name: 'quiet' | 'verbose'): boolean {
  const end = argv.indexOf('--');
  const short = new RegExp(`^-[a-z]*${name.charAt(0)}[a-z]*$`);
  return argv.slice(0, end === -1 ? undefined : end).some((word) => word === `--${name}` || short.test(word));
}
