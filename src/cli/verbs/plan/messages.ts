import { HooksError } from '../../../errors.ts';
import { readJson } from '../../../message/json/read-json.ts';
import type { JsonValue } from '../../../message/types.ts';
import { keyedMessage } from '../../../receiver/messages/tracking-call.ts';
import { expandInputs } from '../../../replay/reading/expand-inputs.ts';
import { openInputs, STDIN, type Input } from '../../../replay/reading/inputs.ts';
import { InvalidCaptures } from '../../../replay/reading/invalid-captures.ts';
import { readEntries } from '../../../replay/reading/read-entries.ts';
import type { Origin, ReplayEntry } from '../../../replay/reading/replay-entry.ts';
import type { Io } from '../../io.ts';
import { claimStdin } from '../../stdin.ts';

/** An entry of a file: a message, or the reason why it is none. */
export type EntryOfFile = { readonly origin: Origin } & (
  | { readonly value: JsonValue; readonly bytes: number }
  | { readonly value?: undefined; readonly error: HooksError }
);

/** Opens files, globs and `-`. Throws InputError for one that cannot be opened, before any is read. */
export async function openFiles(patterns: readonly string[], io: Io): Promise<readonly Input[]> {
  const files = await expandInputs(patterns, io.cwd);
  const stdin = files.includes(STDIN) ? claimStdin(io, 'the input -') : io.stdin;
  return openInputs(files, { cwd: io.cwd, stdin });
}

/**
 * Reads the messages of files in order, without their write keys, and notes at the end how many captures are invalid. Ends
 * early if the command is interrupted.
 */
export async function* entriesOf(
  inputs: readonly Input[],
  { signal, note, isQuiet }: Pick<Io, 'signal' | 'note' | 'isQuiet'>,
): AsyncGenerator<EntryOfFile> {
  const invalid = new InvalidCaptures();
  for (const input of inputs) {
    for await (const entries of readEntries(input, signal, { onInvalidCapture: invalid.add })) {
      for (const entry of entries) {
        if (signal.aborted) return;
        yield readEntry(entry);
      }
    }
  }
  if (invalid.remark !== undefined && !isQuiet) note(`note: ${invalid.remark}`);
}

function readEntry(entry: ReplayEntry): EntryOfFile {
  const { origin } = entry;
  if (entry.kind === 'broken') return { origin, error: entry.error };
  try {
    return { origin, value: keyedMessage(readJson(entry.bytes, origin)).value, bytes: entry.bytes.length };
  } catch (error) {
    if (!(error instanceof HooksError)) throw error;
    return { origin, error };
  }
}
