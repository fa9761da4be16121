import { statSync, type Stats } from 'node:fs';
import { ConfigError } from '../errors.ts';
import { printable } from '../redact.ts';

/** Any user of the machine may add or replace files in the data folder. */
export class UnsafeFolderError extends ConfigError {}

/**
 * Checks who else may write to the data folder, which may not exist yet. Root may use any folder.
 * @returns a warning when its owner is another user. Throws UnsafeFolderError when every user may write to it.
 */
export function checkDataFolder(folder: string): string | undefined {
  const uid = process.geteuid?.();
  const found = uid === 0 || uid === undefined ? undefined : folderAt(folder);
  if (found === undefined) return undefined;
  if ((found.mode & 0o002) !== 0) throw worldWritable(folder, found.mode & 0o7777);
  if (found.uid === uid) return undefined;
  return `the data folder ${printable(folder, 400)} belongs to another user (${found.uid}, not ${uid}), who may read and change what is kept there`;
}

/** The folder's status; undefined if it cannot be read, which is reported when the folder is used. */
function folderAt(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}

function worldWritable(folder: string, mode: number): UnsafeFolderError {
  return new UnsafeFolderError(
    `Expected the data folder ${printable(folder, 400)} to be writable by its owner only, got mode ${mode.toString(8).padStart(4, '0')}: any user may change what is kept there`,
    {
      key: 'dataDir',
      hint: 'take the right from others (chmod o-w), or name another folder in HOOKS_DATA_DIR',
    },
  );
}
