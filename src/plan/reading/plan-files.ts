import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { InputError, ValidationError } from '../../errors.ts';
import { MOST_FILE_BYTES, openToRead, readAtMost, unreadableReason } from '../../files.ts';
import { readJson } from '../../message/json/read-json.ts';
import type { PlanFile } from './read-document.ts';

/** Maximum number of files in the folder of a plan. */
const MOST_FILES = 10_000;

/** Reads the JSON files of a plan: one file, or all of a folder and the folders in it, in the order of their names. */
export async function readPlanFiles(path: string, shown: string): Promise<readonly PlanFile[]> {
  const isFolder = await stat(path).then(
    (found) => found.isDirectory(),
    (cause: unknown) => {
      throw unreadable(cause, shown);
    },
  );
  if (!isFolder) return [await readPlanFile(path, shown)];
  const names = (await readdir(path, { recursive: true }))
    .filter((name) => name.endsWith('.json'))
    .toSorted();
  if (names.length === 0 || names.length > MOST_FILES) {
    const got = names.length === 0 ? 'none' : `${names.length}`;
    throw new InputError(`Expected a folder with 1 to ${MOST_FILES} JSON files, got ${got}`, {
      file: shown,
      hint: 'name the folder in which each event has a file with its JSON Schema',
    });
  }
  return Promise.all(names.map((name) => readPlanFile(join(path, name), join(shown, name))));
}

async function readPlanFile(path: string, file: string): Promise<PlanFile> {
  const bytes = await readAtMost(MOST_FILE_BYTES, () => openToRead(path)).catch((cause: unknown) => {
    throw unreadable(cause, file);
  });
  try {
    return { file, value: readJson(bytes, { file }) };
  } catch (error) {
    if (!(error instanceof ValidationError)) throw error;
    const { message, hint = 'correct the file', cause } = error;
    throw new InputError(message, { file, hint, cause });
  }
}

function unreadable(cause: unknown, file: string): InputError {
  return new InputError(`Cannot be read: ${unreadableReason(cause)}`, {
    file,
    hint: 'name a readable file or folder with a tracking plan',
    cause,
  });
}
