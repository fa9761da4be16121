import { MAX_ENTRY_BYTES } from '../../../message/json/pieces.ts';
import type { Io } from '../../io.ts';
import { flagError } from '../flag-values.ts';
import { readInputFile } from '../input-file.ts';

export interface FlagText {
  readonly bytes: Uint8Array;
  /** The origin of the bytes, for errors: the flag, the file or `<stdin>`. */
  readonly origin: string;
}

/** Reads the value of a flag that takes `JSON|@file|@-`. */
export async function readFlagText(value: string, flag: string, io: Io): Promise<FlagText> {
  if (/^(?:-|[\w./~-]+\.(?:json|ndjson|txt))$/.test(value)) {
    const sentence = `Expected \`${flag}\` to be JSON, got ${value === '-' ? 'a dash' : 'the name of a file'}`;
    throw flagError(flag, sentence, `put @ before it: ${flag} @${value}`);
  }
  if (!value.startsWith('@')) return { bytes: Buffer.from(value), origin: flag };
  const name = value.slice(1);
  const hint = `give ${flag} JSON, @file or @- for standard input`;
  const sentence = `Expected \`${flag}\` to name a file after the @, got nothing`;
  if (name === '') throw flagError(flag, sentence, hint);
  const sizeHint = 'send less: a message may have 32 KiB at most';
  const rule = { flag, limitBytes: MAX_ENTRY_BYTES, hint, sizeHint };
  return { bytes: await readInputFile(name, rule, io), origin: name === '-' ? '<stdin>' : name };
}
