import { isUtf8 } from 'node:buffer';
import { InputError } from '../../errors.ts';
import type { Io } from '../io.ts';
import { claimStdin } from '../stdin.ts';

/** Reads the given user ids, each once; `-` stands for ids on standard input, one a line. Throws InputError. */
export async function deletedUsers(given: readonly string[], io: Io): Promise<readonly string[]> {
  const users = new Set<string>();
  for (const id of given) for (const each of id === '-' ? await linesOfStdin(io) : [id]) users.add(each);
  if (users.has('')) throw userIdError('Expected a user id, got an empty string');
  if (users.size === 0) throw userIdError('Expected user ids on standard input, got none');
  return [...users];
}

/** The lines of standard input that are not empty. */
async function linesOfStdin(io: Io): Promise<readonly string[]> {
  const chunks: Buffer[] = [];
  for await (const chunk of claimStdin(io, 'the input -')) chunks.push(chunk as Buffer); // no encoding is set
  const bytes = Buffer.concat(chunks);
  if (!isUtf8(bytes)) throw userIdError('Expected user ids in UTF-8 on standard input');
  const lines = bytes
    .toString()
    .replace(/^\ufeff/, '')
    .split(/\r?\n/);
  return lines.filter((line) => line !== '');
}

function userIdError(message: string): InputError {
  return new InputError(message, { hint: 'give ids as arguments, or - and one id a line on standard input' });
}
