import { EventEmitter } from 'node:events';
import { PassThrough, Writable } from 'node:stream';
import { Chalk } from 'chalk';
import { fitText } from '../../src/cli/fit-text.ts';
import { guarded, hasColors, isGiven, type Io } from '../../src/cli/io.ts';
import { runCommandLine } from '../../src/cli/main.ts';
import { PLAIN_PALETTE } from '../../src/cli/palette.ts';
import {
  inherited,
  linesOf,
  type HooksOptions,
  type HooksResult,
  type Output,
  type RunningCommand,
} from '../end-to-end/running-command.ts';
import { afterEachFile } from '../clean-ups.ts';

export type { HooksOptions, HooksResult };

export interface InProcessOptions extends HooksOptions {
  /** Stdin, stdout and stderr are a terminal of this width. @default they are pipes */
  readonly terminalColumns?: number;
  /** Whether keys can be pressed at that terminal. @default false */
  readonly hasKeys?: boolean;
}

export interface RunningHooks extends RunningCommand {
  /** Presses keys. */
  readonly press: (keys: string) => void;
  /** What both outputs have written so far, in order. */
  readonly screen: () => string;
  /** What the terminal was told, in order: raw mode on or off, and signals to the process group. */
  readonly terminal: readonly ('raw' | 'cooked' | NodeJS.Signals)[];
}

/** Runs a command line to its end, as `hooks` of end-to-end/hooks.ts does, but in this process and without a build. */
export async function hooks(args: readonly string[], options: InProcessOptions = {}): Promise<HooksResult> {
  return startHooks(args, options).exited;
}

/** A test that fails leaves its command running; it must not outlive the tests of its file. */
const running = new Map<AbortController, Promise<HooksResult>>();
afterEachFile(async () => {
  for (const interruption of running.keys()) interruption.abort('SIGTERM');
  await Promise.all(running.values());
});

/** Starts a command line that goes on until it is told to stop: by a signal as `io` hands it on, since there is no process to kill. */
export function startHooks(args: readonly string[], options: InProcessOptions = {}): RunningHooks {
  const interruption = new AbortController();
  const stdin = new PassThrough();
  const terminal: ('raw' | 'cooked' | NodeJS.Signals)[] = [];
  const timer = setTimeout(() => interruption.abort('SIGTERM'), options.timeoutMs ?? 40_000);
  const output = { stdout: '', stderr: '', screen: '', ended: false, changed: new EventEmitter() };
  const exited = runCommandLine(
    args,
    createIo(args, options, { output, interruption, stdin, terminal }),
  ).then((code): HooksResult => {
    clearTimeout(timer);
    running.delete(interruption);
    output.ended = true;
    output.changed.emit('change');
    const { stdout, stderr } = output;
    return { code, signal: null, stdout, stderr };
  });
  running.set(interruption, exited);
  return {
    lines: linesOf(output),
    stderr: () => output.stderr,
    stop: (signal = 'SIGINT') => {
      interruption.abort(signal);
      return exited;
    },
    exited,
    press: (keys) => void stdin.write(keys),
    screen: () => output.screen,
    terminal,
  };
}

interface Connected {
  readonly output: Output & { screen: string };
  readonly interruption: AbortController;
  readonly stdin: PassThrough;
  readonly terminal: ('raw' | 'cooked' | NodeJS.Signals)[];
}

function createIo(
  argv: readonly string[],
  {
    stdin = '',
    keepsStdinOpen = false,
    env: given = {},
    cwd,
    terminalColumns,
    hasKeys = false,
  }: InProcessOptions,
  { output, interruption, stdin: stream, terminal }: Connected,
): Io {
  const isTty = terminalColumns !== undefined;
  const env = { ...inherited(), ...given };
  const setRawMode = (isRaw: boolean): unknown => terminal.push(isRaw ? 'raw' : 'cooked');
  const input = Object.assign(stream, isTty && { isTTY: true }, hasKeys && { setRawMode });
  input.write(stdin);
  if (!keepsStdinOpen && !hasKeys) input.end();
  const stderr = new Writable({
    decodeStrings: false,
    write: (text: string | Buffer, _encoding, done) => {
      output.stderr += text.toString();
      output.screen += text.toString();
      done();
    },
  });
  const color = hasColors(() => isTty, env, argv) ? new Chalk({ level: 1 }) : PLAIN_PALETTE;
  return guarded({
    stdin: input,
    onHangup: () => {},
    stdinFd: undefined,
    env,
    cwd: cwd ?? process.cwd(),
    signal: interruption.signal,
    signalGroup: (name) => {
      terminal.push(name);
      if (name !== 'SIGTSTP') interruption.abort(name);
    },
    out: (text) => {
      output.stdout += text;
      output.screen += text;
      output.changed.emit('change');
    },
    flush: () => {},
    drained: () => undefined,
    named: (text) => text,
    note: (line) => stderr.write(`${fitText(line, terminalColumns)}\n`),
    isQuiet: isGiven(argv, 'quiet'),
    stderr: Object.assign(stderr, isTty && { isTTY: true, columns: terminalColumns }),
    stdoutIsTty: isTty,
    stdoutColumns: terminalColumns,
    stderrIsTty: isTty,
    color,
    errColor: color,
  });
}
