import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { sleep, systemClock } from '../../clock.ts';
import type { CommandEnd } from './child.ts';
import { signalGroup } from './process-group.ts';
import { onSuddenEnd } from './sudden-end.ts';

export interface CaptureOptions {
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  /** A command that prints more than this to stdout is killed. */
  readonly maxBytes: number;
}

export interface CapturedCommand {
  readonly stdout: string;
  /** The last part of what it printed to stderr. */
  readonly stderr: string;
  /** How it ended by itself, or why it was killed. */
  readonly end: CommandEnd | KillReason;
}

type KillReason = 'timeout' | 'too-long' | 'aborted';

const STDERR_CHARACTERS = 2_000;
/** What a command has started may hold its output open after it has ended: the rest is not waited for. */
const OUTPUT_MS = 300;

/**
 * Runs a command of the shell to its end and returns what it printed. It gets a process group of its own, of which nothing is left
 * afterwards. Never rejects for what the command does; a system without a shell shows as exit code 127.
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
  const output = collectOutput(child, { maxBytes, onTooLong: killFor('too-long') });
  const forget = onSuddenEnd(kill);
  signal.addEventListener('abort', onAbort);
  if (signal.aborted) onAbort();
  try {
    const end = await endOf(child);
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

async function endOf(child: ChildProcess): Promise<CommandEnd> {
  try {
    // What Node's types say of an `exit` event.
    const [code, by] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
    return code === null ? { signal: by ?? 'SIGKILL' } : { code };
  } catch {
    return { code: 127 };
  }
}

interface CollectOptions {
  readonly maxBytes: number;
  readonly onTooLong: () => void;
}

function collectOutput({ stdout, stderr }: ChildProcess, { maxBytes, onTooLong }: CollectOptions) {
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
