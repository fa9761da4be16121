import { randomUUID } from 'node:crypto';
import { rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { ConfigError } from '../../errors.ts';
import { unwritableFile } from '../../report/output-file.ts';
import { printable } from '../../redact.ts';

interface WriteOptions {
  /** As errors show it. */
  readonly file: string;
  /** Whether it may take the place of a file that is there. */
  readonly isForced: boolean;
}

/** A file for its owner alone, whole or not at all. Throws ConfigError when there is one already, InputError when it cannot be written. */
export async function writePrivately(
  target: string,
  text: string,
  { file, isForced }: WriteOptions,
): Promise<void> {
  // Beside it first: what fails half-way leaves the old file as it was.
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
    if ((cause as NodeJS.ErrnoException).code === 'EEXIST') throw isThere(file); // of a file operation
    throw unwritableFile(file, cause);
  }
}

function isThere(file: string): ConfigError {
  return new ConfigError(`There is ${printable(file, 200)} already`, {
    origin: file,
    hint: '--force writes over it',
  });
}
