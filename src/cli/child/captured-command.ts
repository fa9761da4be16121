import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { sleep, systemClock } from '../../clock.ts';
import { endOf, type CommandEnd } from './child.ts';
import { signalGroup } from './process-group.ts';
import { onSuddenEnd } from './sudden-end.ts';

export interface CaptureOptions {
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  /** Size of stdout above which the command is killed. */
  readonly maxBytes: number;
}

export interface CapturedCommand {
  readonly stdout: string;
  /** The last part of what the command wrote to stderr. */
  readonly stderr: string;
  /** How the command ended by itself, or why it was killed. */
  readonly end: CommandEnd | KillReason;
}

type KillReason = 'timeout' | 'too-long' | 'aborted';

const STDERR_CHARACTERS = 2_000;
/** Time to wait for output after the command has ended: processes that it started can keep its output open. */
const OUTPUT_MS = 300;

/**
 * Runs a shell command to its end and returns its output. The command gets a new process group, which is killed afterwards.
 * Never rejects because of the command; if there is no shell, the exit code is 127.
 */
export async function captureCommand(command: string, options: CaptureOptions): Promise<CapturedCommand> {
  const { env, cwd, signal, timeoutMs, maxBytes } = options;
  const child = spawn(command, { env, cwd, shell: true, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  const kill = (): void => {
    if (child.pid !== undefined) signalGroup(child.pid, 'SIGKILL');
  };
  let why: KillReason | undefined;
  const killFor = (reason: KillReason) => (): void => {
    why ??= reason;
    kill();
  };
  const onAbort = killFor('aborted');
  const cancelTimeout = systemClock.after(timeoutMs, killFor('timeout'));
  const output = collectOutput(child, maxBytes, killFor('too-long'));
  const forget = onSuddenEnd(kill);
  signal.addEventListener('abort', onAbort);
  if (signal.aborted) onAbort();
  try {
    const end = await endOf(child).catch(() => ({ code: 127 }));
    const over = new AbortController();
    await Promise.race([output.closed, sleep(systemClock, OUTPUT_MS, over.signal)]);
    over.abort();
    return { ...output.texts(), end: why ?? end };
  } finally {
    kill();
    cancelTimeout();
    signal.removeEventListener('abort', onAbort);
    child.stdout?.destroy();
    child.stderr?.destroy();
    forget();
  }
}

function collectOutput({ stdout, stderr }: ChildProcess, maxBytes: number, onTooLong: () => void) {
  const chunks: Buffer[] = [];
  let [bytes, errors] = [0, ''];
  stdout?.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes <= maxBytes) chunks.push(chunk);
    else onTooLong();
  });
  stderr?.setEncoding('utf8').on('data', (text: string) => {
    errors = (errors + text).slice(-STDERR_CHARACTERS);
  });
  const closed = Promise.all(
    [stdout, stderr].flatMap((stream) => (stream ? [once(stream, 'close')] : [])),
  ).catch(() => {});
  return { closed, texts: () => ({ stdout: Buffer.concat(chunks).toString('utf8'), stderr: errors }) };
}
