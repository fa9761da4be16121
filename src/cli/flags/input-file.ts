import { resolve } from 'node:path';
import { InputError } from '../../errors.ts';
import { unreadableReason } from '../../file-problem.ts';
import { openToRead, readAtMost } from '../../files.ts';
import type { Io } from '../io.ts';
import { claimStdin, type StdinIo } from '../stdin.ts';

interface InputFileRule {
  readonly flag: string;
  /** Maximum size. A larger file cannot be the file that the flag needs, and is rejected. */
  readonly limitBytes: number;
  /** Name of the file's content at the start of an error sentence, such as `the secret `. */
  readonly what?: string;
  readonly hint: string;
  /** The hint for a file that is too large. @default the value of `hint` */
  readonly sizeHint?: string;
}

/** Reads the whole file that a flag names, or standard input (-). Throws InputError if it cannot be read or is too large. */
export async function readInputFile(
  name: string,
  { flag, limitBytes, what = '', hint, sizeHint = hint }: InputFileRule,
  io: StdinIo & Pick<Io, 'cwd'>,
): Promise<Buffer> {
  const stdin = name === '-' ? claimStdin(io, flag) : undefined;
  const file = stdin === undefined ? name : '<stdin>';
  try {
    return await readAtMost(limitBytes, () => stdin ?? openToRead(resolve(io.cwd, name), io.signal));
  } catch (cause) {
    if (io.signal.aborted) throw cause;
    const reason = unreadableReason(cause, name);
    const isLarge = reason.startsWith('larger');
    throw new InputError(`${what}${isLarge ? 'is' : 'cannot be read:'} ${reason} (${flag})`, {
      file,
      hint: isLarge ? sizeHint : hint,
      cause,
    });
  }
}
