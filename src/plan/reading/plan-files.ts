import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { InputError, ValidationError } from '../../errors.ts';
import { unreadableReason } from '../../file-problem.ts';
import { MOST_FILE_BYTES, openToRead, readAtMost } from '../../files.ts';
import { readJson } from '../../message/json/read-json.ts';
import type { JsonValue } from '../../message/types.ts';
import type { PlanFile } from '../rule.ts';

/** Maximum number of files in the folder of a plan. */
const MOST_FILES = 10_000;

/** Parses the text of a YAML file. Throws an Error whose message has the place. */
export type ParseYaml = (file: string, text: string) => Promise<unknown>;

const PLAN_FILE = /\.(?:json|ya?ml)$/i;

/**
 * Reads the JSON and YAML files of a plan: one file, or all of a folder and the folders in it, in the order of their names.
 */
export async function readPlanFiles(
  path: string,
  shown: string,
  parseYaml: ParseYaml,
): Promise<readonly PlanFile[]> {
  const isFolder = await stat(path).then(
    (found) => found.isDirectory(),
    (cause: unknown) => {
      throw unreadable(cause, shown);
    },
  );
  if (!isFolder) return [await readOneFile(path, shown, parseYaml)];
  const names = (await readdir(path, { recursive: true })).filter((name) => PLAN_FILE.test(name)).toSorted();
  if (names.length === 0 || names.length > MOST_FILES) {
    const got = names.length === 0 ? 'none' : `${names.length}`;
    throw new InputError(`Expected a folder with 1 to ${MOST_FILES} JSON or YAML files, got ${got}`, {
      file: shown,
      hint: 'name the folder in which each event has a file with its JSON Schema',
    });
  }
  return Promise.all(names.map((name) => readOneFile(join(path, name), join(shown, name), parseYaml)));
}

async function readOneFile(path: string, file: string, parseYaml: ParseYaml): Promise<PlanFile> {
  const bytes = await readAtMost(MOST_FILE_BYTES, () => openToRead(path)).catch((cause: unknown) => {
    throw unreadable(cause, file);
  });
  if (!/\.ya?ml$/i.test(file)) return { file, value: jsonOf(bytes, file) };
  try {
    // Makes JSON of it, because YAML also has dates and other values.
    return {
      file,
      value: jsonOf(Buffer.from(JSON.stringify((await parseYaml(file, bytes.toString())) ?? null)), file),
    };
  } catch (cause) {
    const { message } = cause instanceof Error ? cause : { message: String(cause) };
    throw new InputError(`Expected YAML: ${message.split('\n', 1)[0]}`, {
      file,
      hint: 'correct the file',
      cause,
    });
  }
}

function jsonOf(bytes: Buffer, file: string): JsonValue {
  try {
    return readJson(bytes, { file });
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
