import { randomBytes } from 'node:crypto';
import { statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
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
  if (keyFile === undefined) {
    const file = join((await commandSettings(flags, io)).dataDir, 'redact.key');
    const own = ownKey(file);
    warnIfShared(file, io);
    return own;
  }
  const key = (await readInputFile(keyFile, KEY_FILE, io)).toString('latin1').replace(/\r?\n$/, '');
  if (keyFile !== '-') warnIfShared(resolve(io.cwd, keyFile), io);
  return longEnough(key, keyFile);
}

/** Warns of a file that other users can read. Windows has no such modes. */
function warnIfShared(file: string, io: Io): void {
  const { mode } = statSync(file);
  if (process.platform === 'win32' || (mode & 0o077) === 0) return;
  const shown = printable(file, 400);
  io.note(`${shown} may be read by others (mode ${(mode & 0o777).toString(8)}): chmod 600 ${shown}`);
}

/** Reads the key from a file in the data folder. Makes one if there is none, readable by its owner only. */
function ownKey(file: string): Uint8Array {
  try {
    makeFolder(dirname(file), 0o700);
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
