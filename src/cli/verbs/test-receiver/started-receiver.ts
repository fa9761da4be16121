import { connect, type Socket } from 'node:net';
import { sleep, systemClock } from '../../../clock.ts';
import { InputError } from '../../../errors.ts';
import { formatDuration } from '../../../duration.ts';
import { printable } from '../../../redact.ts';
import { describeEnd, startCommand, type CommandEnd } from '../../child/child.ts';
import type { Io } from '../../io.ts';
import { bareHost, portOf } from '../../../url.ts';

export interface StartReceiverOptions {
  /** Program and arguments that start the receiver. */
  readonly command: readonly string[];
  /** The URL at which the command must listen. */
  readonly url: URL;
  readonly secrets: readonly string[];
  readonly startTimeoutMs: number;
  readonly quiet: boolean;
  /** Called with each line of the command's output. */
  readonly onLine?: (line: string) => void;
  /** Time between SIGTERM and SIGKILL. @default 5000 */
  readonly graceMs?: number;
  readonly io: Pick<Io, 'env' | 'signal' | 'stderr' | 'verbatim' | 'errColor' | 'cwd'>;
}

/** A running receiver that was started by COMMAND. */
export interface StartedReceiver {
  /** Returns why the receiver can no longer respond. Undefined while it runs. */
  readonly gone: () => string | undefined;
  readonly stop: () => Promise<{ readonly killed: boolean }>;
  /** Kills the receiver and all processes that it started with SIGKILL. */
  readonly crash: () => Promise<void>;
}

const POLL_MS = 20;
/** Timeout of one attempt to connect. */
const CONNECT_MS = 1_000;

/**
 * Starts the command and waits until it listens. The command gets the port as PORT and the secret as HOOKS_SECRET. Throws
 * InputError if another program already listens at the URL, or the command does not listen in time; then stops the command.
 */
export async function startReceiverCommand(options: StartReceiverOptions): Promise<StartedReceiver> {
  const { command, url, secrets, quiet, onLine, graceMs, io } = options;
  const { signal } = io;
  const [secret] = secrets;
  signal.throwIfAborted();
  await rejectTakenPort(url);
  const env = { ...io.env, PORT: portOf(url), ...(secret !== undefined && { HOOKS_SECRET: secret }) };
  const running = await startCommand(command, {
    env,
    io,
    signal,
    secrets,
    quiet,
    onLine,
    ...(graceMs !== undefined && { graceMs }),
  });
  const gone = (): string | undefined => running.end && `the receiver ${describeEnd(running.end)}`;
  try {
    await waitUntilListening(options, () => running.end);
  } catch (error) {
    await running.stop();
    throw error;
  }
  return { gone, stop: () => running.stop(), crash: () => running.crash() };
}

/** Throws InputError if a program listens at the port of a URL. */
export async function rejectTakenPort(url: URL): Promise<void> {
  if (await isListening(url)) throw portTaken(url);
}

async function waitUntilListening(
  { url, startTimeoutMs, io: { signal } }: StartReceiverOptions,
  end: () => CommandEnd | undefined,
): Promise<void> {
  const until = systemClock.now() + startTimeoutMs;
  for (;;) {
    signal.throwIfAborted();
    const ended = end();
    if (ended !== undefined) throw endedEarly(ended, url);
    if (await isListening(url)) return;
    if (systemClock.now() > until) throw neverStarted(url, startTimeoutMs);
    await sleep(systemClock, POLL_MS, signal);
  }
}

/** Whether a program listens at the port of a URL. */
function isListening(url: URL): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: bareHost(url), port: Number(portOf(url)), timeout: CONNECT_MS });
    const settle = (isThere: boolean): void => {
      socket.destroy();
      resolve(isThere);
    };
    socket.once('connect', () => settle(!isSelfConnected(socket)));
    socket.once('timeout', () => settle(false)).once('error', () => settle(false));
  });
}

/** Whether the socket is connected to itself, which happens if the system chose the tested port as its local port. */
function isSelfConnected({ localPort, remotePort, localAddress, remoteAddress }: Socket): boolean {
  return localPort === remotePort && localAddress === remoteAddress;
}

function shownHost(url: URL): string {
  return printable(`${url.hostname}:${portOf(url)}`, 200);
}

function portTaken(url: URL): InputError {
  return new InputError(
    `Another program listens at ${shownHost(url)} before the command is started: it would be tested instead`,
    { hint: 'stop it, or give the URL another port: the command gets the port as PORT' },
  );
}

function endedEarly(end: CommandEnd, url: URL): InputError {
  return new InputError(`The receiver ${describeEnd(end)} before it listened at ${shownHost(url)}`, {
    hint: 'look at its output; start the receiver in the foreground, not as a daemon',
  });
}

function neverStarted(url: URL, timeoutMs: number): InputError {
  return new InputError(
    `The receiver runs, but does not listen at ${shownHost(url)} after ${formatDuration(timeoutMs)}`,
    {
      hint: 'let it listen at the port of the URL, which it also gets as PORT; --start-timeout 2m waits longer',
    },
  );
}
