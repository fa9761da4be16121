import { prepareFiles } from './file/files.ts';
import { loadSqlite } from './file/sqlite.ts';
import { isBusy, storeError } from './file/store-error.ts';

/**
 * Takes a lock that the operating system releases when the process ends in any way. Keeps the empty lock file: if it was
 * removed, one process could lock the old file and another process a new one.
 * @returns A function that releases the lock. Undefined if this or another process already holds the lock.
 */
export async function holdLock(file: string): Promise<(() => void) | undefined> {
  const { DatabaseSync } = await loadSqlite();
  try {
    await prepareFiles(file);
    const database = new DatabaseSync(file, { timeout: 0 });
    try {
      database.exec('BEGIN EXCLUSIVE');
    } catch (error) {
      database.close();
      throw error;
    }
    return () => database.close();
  } catch (error) {
    if (isBusy(error)) return undefined;
    throw storeError(error, file);
  }
}
