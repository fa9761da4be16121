import { rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { HooksError, InputError } from '../errors.ts';
import { removeAbandonedBeside, syncFolder, temporaryFileBeside } from '../files.ts';
import { OutputFile, rejectLink, unwritableFile } from './output-file.ts';

/** A temporary file that replaces another file when it is complete. Until then, the old file stays unchanged. */
export interface ReplacingFile {
  readonly file: OutputFile;
  /** Path of the temporary file (`file`). */
  readonly temporaryPath: string;
  /** Calls `writeRest` to complete the file, then replaces the old one. Removes the temporary file if that fails. */
  commit(writeRest: (file: OutputFile) => Promise<void>): Promise<void>;
  /** Removes the temporary file. */
  readonly abandon: () => Promise<void>;
}

/**
 * Opens a temporary file in the same folder, so that it can replace `path` by a rename. Throws InputError if that is not
 * possible.
 */
export async function openReplacing(path: string, name = path): Promise<ReplacingFile> {
  await rejectLink(path, name);
  await rejectIrregular(path, name);
  await removeAbandonedBeside(path);
  const fresh = temporaryFileBeside(path);
  const file = await OutputFile.open(fresh, 'new', name);
  const abandon = async (): Promise<void> => {
    await file.close().catch(() => undefined);
    await rm(fresh, { force: true });
  };
  const commit = async (writeRest: (file: OutputFile) => Promise<void>): Promise<void> => {
    try {
      await writeRest(file);
      await file.close();
      await rename(fresh, path);
      await syncFolder(dirname(path));
    } catch (cause) {
      await abandon();
      throw cause instanceof HooksError ? cause : unwritableFile(name, cause, path);
    }
  };
  return { file, temporaryPath: fresh, commit, abandon };
}

/** Throws InputError for a folder, pipe or device, which a rename would replace. */
async function rejectIrregular(target: string, name: string): Promise<void> {
  const found = await stat(target).catch(() => undefined);
  if (found === undefined || found.isFile()) return;
  const what = found.isDirectory() ? 'a folder' : 'not a regular file';
  throw new InputError(`Cannot be written: it is ${what}`, { file: name, hint: 'name a file' });
}
