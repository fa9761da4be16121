import { randomUUID } from 'node:crypto';
import { rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { ConfigError } from '../../errors.ts';
import { unwritableFile } from '../../report/output-file.ts';
import { printable } from '../../redact.ts';

interface WriteOptions {
  /** The name that errors show. */
  readonly file: string;
  /** Whether it may replace an existing file. */
  readonly isForced: boolean;
}

/** Writes a file that only its owner may read, whole or not at all. Throws ConfigError when there is one already, InputError when it cannot be written. */
export async function writePrivately(
  target: string,
  text: string,
  { file, isForced }: WriteOptions,
): Promise<void> {
  // In a new file first: a failure half-way leaves the old file as it was.
  const fresh = isForced
    ? join(dirname(target), `.${basename(target)}.${randomUUID().slice(0, 8)}.tmp`)
    : target;
  let isOurs = false;
  try {
    await writeFile(fresh, '', { flag: 'wx', mode: 0o600 });
    isOurs = true;
    await writeFile(fresh, text);
    if (isForced) await rename(fresh, target);
  } catch (cause) {
    if (isOurs) await rm(fresh, { force: true });
    if ((cause as NodeJS.ErrnoException).code === 'EEXIST') throw fileExists(file); // of a file operation
    throw unwritableFile(file, cause);
  }
}

function fileExists(file: string): ConfigError {
  return new ConfigError(`There is ${printable(file, 200)} already`, {
    origin: file,
    hint: 'add --force to overwrite it',
  });
}
