import { fstatSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import { InputError } from '../errors.ts';
import { commandEscaper } from '../redact.ts';
import { fitText } from './fit-text.ts';
import { createOut } from './out.ts';
import { PLAIN_PALETTE, type Palette } from './palette.ts';

const STDIN_FD = 0;
const STDOUT_FD = 1;
const STDERR_FD = 2;

/** The environment of a command, handed in: its input, its two outputs, the variables, the interruption. */
export interface Io {
  readonly stdin: Readable & { readonly isTTY?: boolean; readonly setRawMode?: (isRaw: boolean) => unknown };
  /** The descriptor of stdin, which is there before its stream is made. Undefined where stdin is nothing but a stream. */
  readonly stdinFd: number | undefined;
  /** The variables that the command was started with. */
  readonly env: Readonly<NodeJS.ProcessEnv>;
  /** The current folder. Throws InputError when it is gone. */
  readonly cwd: string;
  /**
   * Aborted by SIGINT or SIGTERM (the reason is the signal's name), because the reader of stdout went away (`closed-pipe`; not for
   * `hooks expect`, whose exit code counts), or because stdout cannot be written (the InputError that says so).
   */
  readonly signal: AbortSignal;
  /** Sends a signal to the process group of the command, as a terminal does when a key asks for it. */
  readonly signalGroup: (name: NodeJS.Signals) => void;
  /** Writes data to stdout. A line break is not added. */
  readonly out: (text: string) => void;
  /**
   * Undefined, or a promise while the reader of stdout is slower than the writer: a command that writes without end waits for
   * it before the next line, or memory fills up. It resolves too when there is nothing left to wait for.
   */
  readonly drained: () => Promise<void> | undefined;
  /** Writes what `out` has gathered. */
  readonly flush: () => void;
  /** Writes a line to stderr, wrapped to the width of a terminal: notes, progress, errors. */
  readonly note: (line: string) => void;
  /** The same where a runner of CI may obey what is written: data of the user, annotations of hooks, the output of COMMAND. */
  readonly verbatim: Pick<Io, 'out' | 'note'>;
  /** Whether only errors are wanted: `-q`. */
  readonly isQuiet: boolean;
  readonly stderr: Writable & { readonly columns?: number };
  readonly stdoutIsTty: boolean;
  /** The width of stdout; undefined when it is no terminal. */
  readonly stdoutColumns: number | undefined;
  readonly stderrIsTty: boolean;
  /** Colours for stdout; none where they are not wanted. */
  readonly color: Palette;
  /** Colours for stderr. */
  readonly errColor: Palette;
}

/** What a text for people on stdout depends on. */
export type Screen = Pick<Io, 'color' | 'stdoutColumns'>;

/** Lets no runner of CI obey what is written: any text may come from outside. */
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

/** Whether stdout or stderr gets colors. */
export function getsColors(proc: NodeJS.Process): boolean {
  const isTty = (): boolean =>
    isTerminal(STDOUT_FD, () => proc.stdout) || isTerminal(STDERR_FD, () => proc.stderr);
  return hasColors(isTty, proc.env, proc.argv.slice(2));
}

/** Wraps the process for a command. A stdout that is lost aborts the signal instead of printing a stack. */
export function createIo(proc: NodeJS.Process, painted = PLAIN_PALETTE): Io {
  const interruption = new AbortController();
  abortOnSignals(proc, interruption);
  const env = { ...proc.env };
  // Certificates are checked whatever it says, and Node would warn that they are not. Child processes still get it, by `env`.
  delete proc.env['NODE_TLS_REJECT_UNAUTHORIZED'];
  const argv = proc.argv.slice(2);
  const output = createOut(() => proc.stdout, {
    interruption,
    delivers: mayDeliver(argv),
    outlivesReader: argv[0] === 'expect',
  });
  // Made on first use: a stream takes Node longer than a signature.
  const stderr = once(() => quietStream(proc.stderr));
  // The log of `DEBUG` writes to stderr by itself.
  if (env['DEBUG']) stderr();
  const palette = (isTty: () => boolean): Palette => (hasColors(isTty, env, argv) ? painted : PLAIN_PALETTE);
  const color = once(() => palette(() => isTerminal(STDOUT_FD, () => proc.stdout)));
  const errColor = once(() => palette(() => isTerminal(STDERR_FD, stderr)));
  return guarded({
    get stdin() {
      return proc.stdin;
    },
    stdinFd: STDIN_FD,
    env,
    get cwd() {
      return currentFolder(proc);
    },
    signal: interruption.signal,
    signalGroup: (name) => void proc.kill(0, name),
    out: output.out,
    flush: output.flush,
    drained: output.drained,
    note: (line) => {
      // A terminal shows both outputs, and what was written first should stand first.
      output.flush();
      stderr().write(`${fitText(line, stderr().columns)}\n`);
    },
    isQuiet: isGiven(argv, 'quiet'),
    get stderr() {
      return stderr();
    },
    get stdoutIsTty() {
      return isTerminal(STDOUT_FD, () => proc.stdout);
    },
    get stdoutColumns() {
      return this.stdoutIsTty ? proc.stdout.columns : undefined;
    },
    get stderrIsTty() {
      return isTerminal(STDERR_FD, stderr);
    },
    get color() {
      return color();
    },
    get errColor() {
      return errColor();
    },
  });
}

const DELIVERING = ['send', 'replay', 'worker', 'serve', 'audience', 'trait', 'delete'];

function mayDeliver(argv: readonly string[]): boolean {
  return DELIVERING.includes(argv[0] ?? '') && !argv.includes('--help') && !argv.includes('-h');
}

/** The work goes on when there is no longer a reader of the notes. */
function quietStream(stream: NodeJS.WriteStream): NodeJS.WriteStream {
  return stream.on('error', () => {});
}

function once<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | undefined;
  return () => (made ??= { value: make() }).value;
}

/** Recognizes files and pipes without a stream. `isTTY` is absent, not false: Node's types do not say so. */
function isTerminal(fd: number, stream: () => { isTTY?: boolean }): boolean {
  return fstatSync(fd).isCharacterDevice() && (stream().isTTY ?? false);
}

/** The first signal asks the command to stop and say where things stand; the second is obeyed at once. */
function abortOnSignals(proc: NodeJS.Process, interruption: AbortController): void {
  const stop = (name: NodeJS.Signals): void => {
    proc.off('SIGINT', stop).off('SIGTERM', stop).off('SIGHUP', stop);
    interruption.abort(name);
  };
  proc.on('SIGINT', stop).on('SIGTERM', stop).on('SIGHUP', stop);
}

/** Another process may have removed the folder. */
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

/** The flag decides, then NO_COLOR, then FORCE_COLOR, then the terminal. */
export function hasColors(isTty: () => boolean, env: Io['env'], argv: readonly string[]): boolean {
  if (argv.includes('--no-color') || env['NO_COLOR']) return false;
  const forced = env['FORCE_COLOR'];
  if (forced !== undefined) return forced !== '0' && forced !== 'false';
  return env['TERM'] !== 'dumb' && isTty();
}

/** Whether a global switch is on the command line, for code that runs before or after commander has read it. */
export function isGiven(argv: readonly string[], name: 'quiet' | 'verbose'): boolean {
  const end = argv.indexOf('--');
  const short = new RegExp(`^-[a-z]*${name.charAt(0)}[a-z]*$`);
  return argv.slice(0, end === -1 ? undefined : end).some((word) => word === `--${name}` || short.test(word));
}
