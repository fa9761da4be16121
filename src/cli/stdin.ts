import { fstatSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { ConfigError, InputError } from '../errors.ts';
import type { Io } from './io.ts';

/** The part of the environment that reading standard input touches. */
export type StdinIo = Pick<Io, 'stdin' | 'stdinFd' | 'signal' | 'note' | 'isQuiet'>;

const claims = new WeakMap<StdinIo, string>();

/** Records that `flag` reads standard input, and asks a person at a terminal to type it. Throws ConfigError for a second reader, InputError for a folder. */
export function markStdin(io: StdinIo, flag: string): void {
  const first = claims.get(io);
  claims.set(io, first ?? flag);
  if (first !== undefined) throw askedTwice(first, flag);
  const stats = io.stdinFd === undefined ? undefined : fstatSync(io.stdinFd);
  // Node makes an empty stream of it.
  if (stats?.isDirectory()) throw isFolder();
  // Where stdin can be no terminal its stream is not made: that takes longer than verifying most bodies.
  if (io.isQuiet || stats?.isCharacterDevice() === false || io.stdin.isTTY !== true) return;
  io.note(`reading ${flag} from the terminal; end it with Ctrl-D on a line of its own`);
}

/** Throws ConfigError for two readers before anything is read, so that a person at a terminal is not asked for input in vain. */
export function rejectStdinTwice([first, second]: readonly string[]): void {
  if (first !== undefined && second !== undefined) throw askedTwice(first, second);
}

function askedTwice(first: string, flag: string): ConfigError {
  const readers = first === flag ? `\`${flag}\` twice` : `both \`${first}\` and \`${flag}\``;
  return new ConfigError(`Standard input can be read once, but it is asked for by ${readers}`, {
    flag,
    hint: 'put one of them in a file',
  });
}

function isFolder(): InputError {
  return new InputError('Cannot read standard input: it is a folder', {
    hint: 'give it a file (< FILE) or the output of a command (COMMAND |)',
  });
}

/** Standard input, for the one flag or argument that may read it; an interruption ends it. Throws ConfigError for a second reader, InputError for a folder. */
export function claimStdin(io: StdinIo, flag: string): Readable {
  markStdin(io, flag);
  return process.getBuiltinModule('node:stream').addAbortSignal(io.signal, io.stdin);
}
