import { connect, type Socket } from 'node:net';
import { sleep, systemClock } from '../../../clock.ts';
import { InputError } from '../../../errors.ts';
import { formatDuration } from '../../../duration.ts';
import { printable } from '../../../redact.ts';
import {
  describeEnd,
  startCommand,
  type CommandEnd,
  type RunningCommand,
  type StartChildOptions,
} from '../../child/child.ts';
import type { Io } from '../../io.ts';
import { bareHost, portOf } from '../../../url.ts';

export interface StartReceiverOptions extends Omit<StartChildOptions, 'env' | 'signal'> {
  /** Program and arguments that start the receiver. */
  readonly command: readonly string[];
  /** The URL at which the started receiver must listen. */
  readonly url: URL;
  readonly startTimeoutMs: number;
  readonly io: StartChildOptions['io'] & Pick<Io, 'signal'>;
}

const POLL_MS = 20;
/** Timeout of one attempt to connect. */
const CONNECT_MS = 1_000;

/**
 * Starts the command and waits until it listens. The command gets the port as PORT and the secret as HOOKS_SECRET. Throws
 * InputError if another program already listens at the URL, or the command does not listen in time; then stops the command.
 */
export async function startReceiverCommand(options: StartReceiverOptions): Promise<RunningCommand> {
  const { command, url, secrets, io } = options;
  const { signal } = io;
  const [secret] = secrets;
  signal.throwIfAborted();
  await rejectTakenPort(url);
  const env = { ...io.env, PORT: portOf(url), ...(secret !== undefined && { HOOKS_SECRET: secret }) };
  const running = await startCommand(command, { ...options, env, signal });
  try {
    await waitUntilListening(options, () => running.end);
  } catch (error) {
    await running.stop();
    throw error;
  }
  return running;
}

/** Returns why a receiver can no longer respond. Undefined while it runs. */
export function whyGone({ end }: RunningCommand): string | undefined {
  return end && `the receiver ${describeEnd(end)}`;
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
