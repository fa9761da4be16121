import { statSync, type Stats } from 'node:fs';
import { ConfigError } from '../errors.ts';
import { printable } from '../redact.ts';

/** The error of a data folder in which any user of the machine can add or replace files. */
export class UnsafeFolderError extends ConfigError {}

/**
 * Returns a warning if the data folder belongs to another user. Throws UnsafeFolderError if every user can write to it.
 * Accepts a folder that does not exist yet, and any folder for root.
 */
export function dataFolderWarning(folder: string): string | undefined {
  const uid = process.geteuid?.();
  const found = uid === 0 || uid === undefined ? undefined : folderAt(folder);
  if (found === undefined) return undefined;
  if ((found.mode & 0o002) !== 0) throw worldWritable(folder, found.mode & 0o7777);
  if (found.uid === uid) return undefined;
  return `the data folder ${printable(folder, 400)} belongs to another user (${found.uid}, not ${uid}), who can read and change the data in it`;
}

/** Status of the folder; undefined if it cannot be read. The error is reported when the folder is used. */
function folderAt(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}

function worldWritable(folder: string, mode: number): UnsafeFolderError {
  return new UnsafeFolderError(
    `Expected the data folder ${printable(folder, 400)} to be writable by its owner only, got mode ${mode.toString(8).padStart(4, '0')}: any user can change the data in it`,
    {
      key: 'dataDir',
      hint: 'remove the write permission of others (chmod o-w), or set HOOKS_DATA_DIR to another folder',
    },
  );
}
