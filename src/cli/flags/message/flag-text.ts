import { createReadStream } from 'node:fs';
import { resolve } from 'node:path';
import { ConfigError, InputError } from '../../../errors.ts';
import type { Io } from '../../io.ts';
import { MAX_ENTRY_BYTES } from '../../../message/json/pieces.ts';
import { readAtMost } from '../read-at-most.ts';
import { claimStdin } from '../../stdin.ts';

export interface FlagText {
  readonly bytes: Uint8Array;
  /** The origin of the bytes, for errors: the flag, the file or `<stdin>`. */
  readonly origin: string;
}

/** Reads the value of a flag that takes `JSON|@file|@-`. */
export async function readFlagText(value: string, flag: string, io: Io): Promise<FlagText> {
  if (/^[\w./~-]+\.(?:json|ndjson|txt)$/.test(value)) throw fileWithoutAt(value, flag);
  if (!value.startsWith('@')) return { bytes: Buffer.from(value), origin: flag };
  const name = value.slice(1);
  if (name === '') throw noFileName(flag);
  const isStdin = name === '-';
  const origin = isStdin ? '<stdin>' : name;
  const bytes = isStdin
    ? await readAtMost(MAX_ENTRY_BYTES, claimStdin(io, flag))
    : await readNamedFile(name, flag, io.cwd);
  if (bytes === undefined) throw textTooLarge(origin);
  return { bytes, origin };
}

function fileWithoutAt(name: string, flag: string): ConfigError {
  return new ConfigError(`Expected \`${flag}\` to be JSON, got the name of a file`, {
    flag,
    hint: `put @ before it: ${flag} @${name}`,
  });
}

function textTooLarge(file: string): InputError {
  return new InputError(`is larger than ${MAX_ENTRY_BYTES / 1024} KiB`, {
    file,
    hint: 'send less: a message may have 32 KiB at most',
  });
}

function noFileName(flag: string): ConfigError {
  return new ConfigError(`Expected \`${flag}\` to name a file after the @, got nothing`, {
    flag,
    hint: acceptedHint(flag),
  });
}

function acceptedHint(flag: string): string {
  return `give ${flag} JSON, @file or @- for standard input`;
}

const WHY_NOT: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EISDIR: 'it is a folder',
  EACCES: 'it may not be read by this user',
};

/** Says in words why a named file cannot be read. */
export function unreadableReason(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
  return WHY_NOT[code] ?? code;
}

async function readNamedFile(name: string, flag: string, cwd: string): Promise<Buffer | undefined> {
  try {
    return await readAtMost(MAX_ENTRY_BYTES, createReadStream(resolve(cwd, name)));
  } catch (error) {
    throw new InputError(`cannot be read: ${unreadableReason(error)}`, {
      file: name,
      hint: acceptedHint(flag),
      cause: error,
    });
  }
}
