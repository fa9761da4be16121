import { fstatSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { ConfigError, InputError } from '../errors.ts';
import type { Io } from './io.ts';

/** The part of the environment that reading standard input needs. */
export type StdinIo = Pick<
  Io,
  'stdin' | 'stdinFd' | 'signal' | 'note' | 'isQuiet' | 'stderr' | 'stderrIsTty'
>;

/** The flag or argument that reads the standard input of an environment: a second reader is an error. */
const claims = new WeakMap<StdinIo, string>();

/**
 * Records that `flag` reads standard input. If that is a terminal, asks the user to type the input, unless a prompt of its own
 * does. Throws ConfigError for a second reader, InputError for a folder.
 */
export function markStdin(io: StdinIo, flag: string, hasPrompt = false): void {
  const first = claims.get(io);
  claims.set(io, first ?? flag);
  if (first !== undefined) throw askedTwice(first, flag);
  const stats = io.stdinFd === undefined ? undefined : fstatSync(io.stdinFd);
  // Node would read a folder as an empty stream.
  if (stats?.isDirectory()) throw stdinIsFolder();
  if (hasPrompt || io.isQuiet || !isTyped(io)) return;
  io.note(`reading ${flag} from the terminal; end it with Ctrl-D on a line of its own`);
}

/** Whether a person types standard input. */
export function isTyped({ stdin, stdinFd }: Pick<StdinIo, 'stdin' | 'stdinFd'>): boolean {
  // If stdin cannot be a terminal, its stream is not created: that takes longer than verifying most bodies.
  const isDevice = stdinFd === undefined || fstatSync(stdinFd).isCharacterDevice();
  return isDevice && stdin.isTTY === true;
}

/**
 * Throws ConfigError if two flags read standard input. Called before reading, so that a terminal is not asked for input in
 * vain.
 */
export function rejectStdinTwice([first, second]: readonly string[]): void {
  if (first !== undefined && second !== undefined) throw askedTwice(first, second);
}

function askedTwice(first: string, flag: string): ConfigError {
  const readers = first === flag ? `\`${flag}\` twice` : `both \`${first}\` and \`${flag}\``;
  return new ConfigError(`Standard input can be read only once, but is needed for ${readers}`, {
    flag,
    hint: 'put one of them in a file',
  });
}

function stdinIsFolder(): InputError {
  return new InputError('Cannot read standard input: it is a folder', {
    hint: 'give it a file (< FILE) or the output of a command (COMMAND |)',
  });
}

/**
 * Returns standard input for the only flag that can read it. An interruption ends the stream. Throws ConfigError for a
 * second reader, InputError for a folder.
 */
export function claimStdin(io: StdinIo, flag: string): Readable {
  markStdin(io, flag);
  return process.getBuiltinModule('node:stream').addAbortSignal(io.signal, io.stdin);
}
