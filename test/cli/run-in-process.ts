import { EventEmitter } from 'node:events';
import { PassThrough, Writable } from 'node:stream';
import { Chalk } from 'chalk';
import { afterAll } from 'vitest';
import { fitText } from '../../src/cli/fit-text.ts';
import { colorLevel, isGiven, type Io } from '../../src/cli/io.ts';
import { runCommandLine } from '../../src/cli/main.ts';
import {
  inherited,
  linesOf,
  type HooksOptions,
  type HooksResult,
  type Output,
  type RunningCommand,
} from '../end-to-end/running-command.ts';

export type { HooksOptions, HooksResult, RunningCommand as RunningHooks };

export interface InProcessOptions extends HooksOptions {
  /** Stdin, stdout and stderr are a terminal of this width. @default they are pipes */
  readonly terminalColumns?: number;
}

/** Runs a command line to its end, as `hooks` of end-to-end/hooks.ts does, but in this process and without a build. */
export async function hooks(args: readonly string[], options: InProcessOptions = {}): Promise<HooksResult> {
  return startHooks(args, options).exited;
}

/** A test that fails leaves its command running; it must not outlive the tests of its file. */
const running = new Map<AbortController, Promise<HooksResult>>();
afterAll(async () => {
  for (const interruption of running.keys()) interruption.abort('SIGTERM');
  await Promise.all(running.values());
});

/** Starts a command line that goes on until it is told to stop: by a signal as `io` hands it on, since there is no process to kill. */
export function startHooks(args: readonly string[], options: InProcessOptions = {}): RunningCommand {
  const interruption = new AbortController();
  const timer = setTimeout(() => interruption.abort('SIGTERM'), options.timeoutMs ?? 40_000);
  const output: Output = { stdout: '', stderr: '', ended: false, changed: new EventEmitter() };
  const exited = runCommandLine(args, createIo(args, options, { output, interruption })).then(
    (code): HooksResult => {
      clearTimeout(timer);
      running.delete(interruption);
      output.ended = true;
      output.changed.emit('change');
      const { stdout, stderr } = output;
      return { code, signal: null, stdout, stderr };
    },
  );
  running.set(interruption, exited);
  return {
    lines: linesOf(output),
    stderr: () => output.stderr,
    stop: (signal = 'SIGINT') => {
      interruption.abort(signal);
      return exited;
    },
    exited,
  };
}

function createIo(
  argv: readonly string[],
  { stdin = '', keepsStdinOpen = false, env: given = {}, cwd, terminalColumns }: InProcessOptions,
  { output, interruption }: { readonly output: Output; readonly interruption: AbortController },
): Io {
  const isTty = terminalColumns !== undefined;
  const env = { ...inherited(), ...given };
  const input = Object.assign(new PassThrough(), isTty && { isTTY: true });
  input.write(stdin);
  if (!keepsStdinOpen) input.end();
  const stderr = new Writable({
    decodeStrings: false,
    write: (text: string | Buffer, _encoding, done) => {
      output.stderr += text.toString();
      done();
    },
  });
  const color = new Chalk({ level: colorLevel(isTty, env, argv) });
  return {
    stdin: input,
    stdinFd: undefined,
    env,
    cwd: cwd ?? process.cwd(),
    signal: interruption.signal,
    out: (text) => {
      output.stdout += text;
      output.changed.emit('change');
    },
    flush: () => {},
    drained: () => undefined,
    note: (line) => stderr.write(`${fitText(line, terminalColumns)}\n`),
    isQuiet: isGiven(argv, 'quiet'),
    stderr: Object.assign(stderr, isTty && { isTTY: true, columns: terminalColumns }),
    stdoutIsTty: isTty,
    stdoutColumns: terminalColumns,
    stderrIsTty: isTty,
    color,
    errColor: color,
  };
}
