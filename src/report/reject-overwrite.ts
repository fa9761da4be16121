import { stat } from 'node:fs/promises';
import { InputError } from '../errors.ts';

interface OverwriteTarget {
  /** Absolute path of the file to write. */
  readonly path: string;
  /** Name of the file in errors. */
  readonly name: string;
  /** Flag that names the file. */
  readonly flag: string;
}

/** Throws InputError if the target is one of the other files of the command, under any name, because it would be lost. */
export async function rejectOverwrite(
  inputs: readonly string[],
  { path, name, flag }: OverwriteTarget,
): Promise<void> {
  for (const input of inputs) {
    if (!(await isSameFile(path, input))) continue;
    throw new InputError('Cannot be written: it is also an input or another output of this command', {
      file: name,
      hint: `name another file in ${flag}`,
    });
  }
}

/** Whether both names refer to the same file, which may not exist yet. */
async function isSameFile(path: string, other: string): Promise<boolean> {
  const [one, two] = await Promise.all([path, other].map((each) => stat(each).catch(() => undefined)));
  return path === other || (one !== undefined && one.ino === two?.ino && one.dev === two.dev);
}
