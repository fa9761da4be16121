import { ConfigError } from '../../../errors.ts';
import { MAX_ENTRY_BYTES } from '../../../message/json/pieces.ts';
import type { Io } from '../../io.ts';
import { readInputFile } from '../input-file.ts';

export interface FlagText {
  readonly bytes: Uint8Array;
  /** The origin of the bytes, for errors: the flag, the file or `<stdin>`. */
  readonly origin: string;
}

/** Reads the value of a flag that takes `JSON|@file|@-`. */
export async function readFlagText(value: string, flag: string, io: Io): Promise<FlagText> {
  if (/^(?:-|[\w./~-]+\.(?:json|ndjson|txt))$/.test(value)) throw fileWithoutAt(value, flag);
  if (!value.startsWith('@')) return { bytes: Buffer.from(value), origin: flag };
  const name = value.slice(1);
  if (name === '') throw noFileName(flag);
  const sizeHint = 'send less: a message may have 32 KiB at most';
  const rule = { flag, limitBytes: MAX_ENTRY_BYTES, hint: acceptedHint(flag), sizeHint };
  return { bytes: await readInputFile(name, rule, io), origin: name === '-' ? '<stdin>' : name };
}

function fileWithoutAt(name: string, flag: string): ConfigError {
  return new ConfigError(
    `Expected \`${flag}\` to be JSON, got ${name === '-' ? 'a dash' : 'the name of a file'}`,
    {
      flag,
      hint: `put @ before it: ${flag} @${name}`,
    },
  );
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
