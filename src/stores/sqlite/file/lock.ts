import { prepareFiles } from './files.ts';
import { loadSqlite } from './sqlite.ts';
import { isBusy, storeError } from './store-error.ts';

/**
 * Holds a lock that the operating system takes back when the process ends, however it ends. The file stays, empty: were it
 * removed, one process could lock the old and another the new one.
 * @returns how to release it; undefined when it is held already, in this process or another.
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
