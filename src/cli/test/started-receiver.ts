import { connect, type Socket } from 'node:net';
import { sleep, systemClock } from '../../clock.ts';
import { InputError } from '../../errors.ts';
import { formatDuration } from '../../duration.ts';
import { printable } from '../../redact.ts';
import { describeEnd, startCommand, type CommandEnd } from '../child/child.ts';
import type { Io } from '../io.ts';

export interface StartReceiverOptions {
  /** Program and arguments. */
  readonly command: readonly string[];
  /** Where it is to be. */
  readonly url: URL;
  readonly secrets: readonly string[];
  readonly startTimeoutMs: number;
  readonly quiet: boolean;
  readonly io: Io;
}

/** A receiver of the user's that runs for as long as it is tested. */
export interface StartedReceiver {
  /** Why it cannot answer any more; undefined while it runs. */
  readonly gone: () => string | undefined;
  readonly stop: () => Promise<{ readonly killed: boolean }>;
}

const POLL_MS = 50;
/** For one attempt to connect. */
const CONNECT_MS = 1_000;

/**
 * Starts the command and waits for its port. It gets the port as PORT and the secret as HOOKS_SECRET. Throws InputError when something
 * else is at the URL already, or when nothing is in time; then nothing of it is left.
 */
export async function startReceiverCommand(options: StartReceiverOptions): Promise<StartedReceiver> {
  const { command, url, secrets, quiet, io } = options;
  const { signal } = io;
  const [secret] = secrets;
  signal.throwIfAborted();
  if (await answers(url)) throw taken(url);
  const env = { ...io.env, PORT: portOf(url), ...(secret !== undefined && { HOOKS_SECRET: secret }) };
  const running = await startCommand(command, { env, io, signal, secrets, quiet });
  const gone = (): string | undefined => running.end && goneBy(running.end);
  try {
    await waitFor(options, () => running.end);
  } catch (error) {
    await running.stop();
    throw error;
  }
  return { gone, stop: () => running.stop() };
}

/** Until something is at the URL. */
async function waitFor(
  { url, startTimeoutMs, io: { signal } }: StartReceiverOptions,
  end: () => CommandEnd | undefined,
): Promise<void> {
  const until = systemClock.now() + startTimeoutMs;
  for (;;) {
    signal.throwIfAborted();
    const ended = end();
    if (ended !== undefined) throw endedEarly(ended, url);
    if (await answers(url)) return;
    if (systemClock.now() > until) throw neverStarted(url, startTimeoutMs);
    await sleep(systemClock, POLL_MS, signal);
  }
}

/** Whether something listens at the port of a URL. */
function answers(url: URL): Promise<boolean> {
  return new Promise((resolve) => {
    // The brackets of an IPv6 address belong to the URL.
    const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
    const socket = connect({ host, port: Number(portOf(url)), timeout: CONNECT_MS });
    const settle = (isThere: boolean): void => {
      socket.destroy();
      resolve(isThere);
    };
    socket.once('connect', () => settle(!isItself(socket)));
    socket.once('timeout', () => settle(false)).once('error', () => settle(false));
  });
}

/** The system may have taken for our end the very port that we ask, and has connected it with itself. */
function isItself({ localPort, remotePort, localAddress, remoteAddress }: Socket): boolean {
  return localPort === remotePort && localAddress === remoteAddress;
}

function portOf({ port, protocol }: URL): string {
  if (port !== '') return port;
  return protocol === 'https:' ? '443' : '80';
}

function goneBy(end: CommandEnd): string {
  return `the receiver ${describeEnd(end)}`;
}

function shownHost(url: URL): string {
  return printable(`${url.hostname}:${portOf(url)}`, 200);
}

function taken(url: URL): InputError {
  return new InputError(
    `Something listens at ${shownHost(url)} before the command is started: it would be tested instead`,
    { hint: 'stop it, or give the URL another port: the command finds it in PORT' },
  );
}

function endedEarly(end: CommandEnd, url: URL): InputError {
  return new InputError(`The receiver ${describeEnd(end)} before it listened at ${shownHost(url)}`, {
    hint: 'read its output above; a command that goes on in the background must stay in front instead',
  });
}

function neverStarted(url: URL, timeoutMs: number): InputError {
  return new InputError(
    `The receiver runs, but does not listen at ${shownHost(url)} after ${formatDuration(timeoutMs)}`,
    {
      hint: 'does it listen at the port of the URL, which it finds in PORT too? --start-timeout 2m waits longer',
    },
  );
}
