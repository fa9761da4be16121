import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { fileURLToPath } from 'node:url';
import {
  inherited,
  linesOf,
  type HooksOptions,
  type HooksResult,
  type Output,
  type RunningCommand,
} from './running-command.ts';
import { afterEachFile } from '../clean-ups.ts';

export { inherited, type HooksOptions, type HooksResult };

export const BINARY = fileURLToPath(new URL('../../bin/hooks.js', import.meta.url));

/** Runs the built binary to its end. */
export async function hooks(args: readonly string[], options: HooksOptions = {}): Promise<HooksResult> {
  return startHooks(args, options).exited;
}

export interface RunningHooks extends RunningCommand {
  readonly child: ChildProcessWithoutNullStreams;
}

/** Commands that a failed test left running. They are killed when the tests of its file end. */
const running = new Set<ChildProcessWithoutNullStreams>();
afterEachFile(() => {
  for (const child of running) child.kill('SIGKILL');
});

/** Starts the built binary with a command that runs until it is stopped. */
export function startHooks(args: readonly string[], options: HooksOptions = {}): RunningHooks {
  const { stdin = '', keepsStdinOpen = false, env = {}, cwd, timeoutMs = 40_000 } = options;
  const child = spawn(process.execPath, [BINARY, ...args], {
    cwd,
    env: { ...inherited(), ...env },
    timeout: timeoutMs,
    killSignal: 'SIGKILL',
  });
  running.add(child);
  const output: Output = { stdout: '', stderr: '', ended: false, changed: new EventEmitter() };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output.stdout += text;
    output.changed.emit('change');
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output.stderr += text));
  // A command that does not read its input may close it first.
  child.stdin.on('error', () => {});
  child.stdin.write(stdin);
  if (!keepsStdinOpen) child.stdin.end();
  const exited = once(child, 'close').then(([code, signal]): HooksResult => {
    running.delete(child);
    output.ended = true;
    output.changed.emit('change');
    const { stdout, stderr } = output;
    return { code, signal, stdout, stderr };
  });
  return {
    child,
    lines: linesOf(output),
    stderr: () => output.stderr,
    stop: (signal = 'SIGINT') => {
      child.kill(signal);
      return exited;
    },
    exited,
  };
}
