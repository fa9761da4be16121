import { fstatSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { Chalk, type ChalkInstance } from 'chalk';
import { InputError } from '../errors.ts';
import { isGiven } from './is-given.ts';
import { createOut } from './out.ts';

const STDOUT_FD = 1;
const STDERR_FD = 2;

/** Everything a command may touch of the world, handed in: its input, its two outputs, the environment, the interruption. */
export interface Io {
  readonly stdin: Readable & { isTTY?: boolean; fd?: number };
  /** As the command was started with. */
  readonly env: Readonly<NodeJS.ProcessEnv>;
  /** Throws InputError when it is gone. */
  readonly cwd: string;
  /**
   * Aborted by SIGINT or SIGTERM (the reason is the signal's name), because the reader of stdout went away (`closed-pipe`), or because
   * stdout cannot be written (the InputError that says so).
   */
  readonly signal: AbortSignal;
  /** Data for stdout. A line break is not added. */
  readonly out: (text: string) => void;
  /**
   * Undefined, or a promise while the reader of stdout is slower than we are: who writes without end waits for it before the
   * next, or memory fills up. It resolves too when there is nothing left to wait for.
   */
  readonly drained: () => Promise<void> | undefined;
  /** Notes, progress, errors: a line on stderr. */
  readonly note: (line: string) => void;
  /** Only errors are wanted: `-q`. */
  readonly isQuiet: boolean;
  readonly stderr: NodeJS.WriteStream;
  readonly stdoutIsTty: boolean;
  /** Undefined when it is no terminal. */
  readonly stdoutColumns: number | undefined;
  readonly stderrIsTty: boolean;
  /** For stdout; colours only where they are wanted. */
  readonly color: ChalkInstance;
  /** For stderr. */
  readonly errColor: ChalkInstance;
}

/** The process as a command sees it. A stdout that is lost aborts the signal instead of printing a stack. */
export function createIo(proc: NodeJS.Process): Io {
  const interruption = new AbortController();
  abortOnSignals(proc, interruption);
  const env = { ...proc.env };
  // Certificates are checked all the same, and Node would warn that they are not. What we start still has it, by `env`.
  delete proc.env['NODE_TLS_REJECT_UNAUTHORIZED'];
  const argv = proc.argv.slice(2);
  const output = createOut(() => proc.stdout, { interruption, delivers: mayDeliver(argv) });
  // What a command does not use is not made: a stream takes Node longer than a signature.
  const stderr = once(() => quietStream(proc.stderr));
  // The log of `DEBUG` writes to it by itself.
  if (env['DEBUG']) stderr();
  const color = once(
    () =>
      new Chalk({
        level: colorLevel(
          isTerminal(STDOUT_FD, () => proc.stdout),
          env,
          argv,
        ),
      }),
  );
  const errColor = once(() => new Chalk({ level: colorLevel(isTerminal(STDERR_FD, stderr), env, argv) }));
  return {
    get stdin() {
      return proc.stdin;
    },
    env,
    get cwd() {
      return currentFolder(proc);
    },
    signal: interruption.signal,
    out: output.out,
    drained: output.drained,
    note: (line) => {
      // A terminal shows both, and what was said first should stand first.
      output.flush();
      stderr().write(`${line}\n`);
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
  };
}

const DELIVERING = ['send', 'replay', 'worker', 'serve', 'audience', 'trait', 'delete'];

function mayDeliver(argv: readonly string[]): boolean {
  return DELIVERING.includes(argv[0] ?? '') && !argv.includes('--help') && !argv.includes('-h');
}

/** Nobody may read the notes any more; the work goes on. */
function quietStream(stream: NodeJS.WriteStream): NodeJS.WriteStream {
  return stream.on('error', () => {});
}

function once<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | undefined;
  return () => (made ??= { value: make() }).value;
}

/** Files and pipes are told apart without a stream. `isTTY` is absent, not false: Node's types do not say so. */
function isTerminal(fd: number, stream: () => { isTTY?: boolean }): boolean {
  return fstatSync(fd).isCharacterDevice() && (stream().isTTY ?? false);
}

/** The first signal asks the command to stop and say where things stand; the second is obeyed at once. */
function abortOnSignals(proc: NodeJS.Process, interruption: AbortController): void {
  const stop = (name: NodeJS.Signals): void => {
    proc.off('SIGINT', stop).off('SIGTERM', stop);
    interruption.abort(name);
  };
  proc.on('SIGINT', stop).on('SIGTERM', stop);
}

/** Somebody may have removed it under us. */
function currentFolder(proc: NodeJS.Process): string {
  try {
    return proc.cwd();
  } catch (cause) {
    throw new InputError('The current folder is gone', { hint: 'go to one that is there: cd ~', cause });
  }
}

/** chalk does not look at NO_COLOR, so the level is set here: flag, then NO_COLOR, then FORCE_COLOR, then the terminal. */
function colorLevel(isTty: boolean, env: NodeJS.ProcessEnv, argv: readonly string[]): 0 | 1 {
  if (argv.includes('--no-color') || env['NO_COLOR']) return 0;
  const forced = env['FORCE_COLOR'];
  if (forced !== undefined) return forced === '0' || forced === 'false' ? 0 : 1;
  return isTty && env['TERM'] !== 'dumb' ? 1 : 0;
}
