import { stat } from 'node:fs/promises';
import { InputError } from '../errors.ts';

interface OverwriteTarget {
  /** Absolute. */
  readonly path: string;
  /** As errors show it. */
  readonly name: string;
  /** The flag that names it. */
  readonly flag: string;
}

/** Throws InputError when what is to be written is one of the inputs, by whatever name: the messages would be lost. */
export async function rejectOverwrite(
  inputs: readonly string[],
  { path, name, flag }: OverwriteTarget,
): Promise<void> {
  for (const input of inputs) {
    if (!(await isSameFile(path, input))) continue;
    throw new InputError('is what is being replayed: to write to it would lose the messages', {
      file: name,
      hint: `name another file in ${flag}`,
    });
  }
}

/** Whether both names lead to one file, which need not be there yet. */
export async function isSameFile(path: string, other: string): Promise<boolean> {
  const [one, two] = await Promise.all([path, other].map((each) => stat(each).catch(() => undefined)));
  return path === other || (one !== undefined && one.ino === two?.ino && one.dev === two.dev);
}
