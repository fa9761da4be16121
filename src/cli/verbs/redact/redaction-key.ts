import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { InputError } from '../../../errors.ts';
import { fileProblem } from '../../../file-problem.ts';
import { makeFolder, readTextNow, writeInOnePiece } from '../../../files.ts';
import { printable } from '../../../redact.ts';
import type { GlobalOptions } from '../../command.ts';
import { commandSettings } from '../../flags/delivery/settings.ts';
import { readInputFile } from '../../flags/input-file.ts';
import type { Io } from '../../io.ts';

/** A shorter key could be guessed, and with it the values behind the pseudonyms. */
const LEAST_BYTES = 16;
const KEY_FILE = {
  flag: '--key-file',
  what: 'the key ',
  limitBytes: 64 * 1024,
  hint: 'name a file that you may read, or make one: openssl rand -hex 32 > redact.key',
};

/** Reads the key of the pseudonyms: that of --key-file, else that in the data folder, which is made by the first run. */
export async function redactionKey(
  { keyFile, ...flags }: GlobalOptions & { readonly keyFile?: string },
  io: Io,
): Promise<Uint8Array> {
  if (keyFile === undefined) return ownKey((await commandSettings(flags, io)).dataDir);
  const key = (await readInputFile(keyFile, KEY_FILE, io)).toString('latin1').replace(/\r?\n$/, '');
  return longEnough(key, keyFile);
}

/** Reads the key in the data folder. Makes one if there is none, readable by its owner only. */
function ownKey(folder: string): Uint8Array {
  const file = join(folder, 'redact.key');
  try {
    makeFolder(folder, 0o700);
    return longEnough(readOrMake(file), file);
  } catch (cause) {
    if (cause instanceof InputError) throw cause;
    const { what, fix } = fileProblem(cause, file, 'write');
    throw new InputError(`Cannot keep the key of the pseudonyms: ${what}`, {
      file,
      hint: `${fix}, or give --key-file`,
      cause,
    });
  }
}

function readOrMake(file: string): string {
  try {
    return readTextNow(file).trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error; // file operations throw only such errors
  }
  try {
    writeInOnePiece(file, `${randomBytes(32).toString('hex')}\n`);
  } catch (error) {
    // Another run made the file first.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  return readTextNow(file).trim();
}

function longEnough(key: string, file: string): Uint8Array {
  const bytes = Buffer.from(key, 'latin1');
  if (bytes.length >= LEAST_BYTES) return bytes;
  throw new InputError(`Expected a key of at least ${LEAST_BYTES} bytes, got ${bytes.length}`, {
    file: printable(file, 400),
    hint: 'make one: openssl rand -hex 32 > redact.key',
  });
}
