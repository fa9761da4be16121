import { InputError } from '../../errors.ts';
import { MEMBER_END } from '../entry.ts';
import { membersLayoutOf, type MembersLayout, type ReadMembersOptions } from './layout.ts';
import { trimmedId, type MemberTarget } from './member-target.ts';
import { wholeLines } from './whole-lines.ts';

/** A file of members or values, as bytes. */
export interface MembersFile extends ReadMembersOptions {
  readonly open: () => AsyncIterable<Uint8Array>;
  readonly onRead?: ((entries: number) => void) | undefined;
}

/**
 * Reads CSV with a header, NDJSON or one id per line into the target. Throws InputError with file and line if any entry is
 * invalid, because a skipped entry would count as a user who left. `signal` stops reading, without an error.
 */
export async function readMembers(
  input: MembersFile,
  target: MemberTarget,
  signal: AbortSignal,
): Promise<void> {
  const chunks = input.open();
  let layout: MembersLayout | undefined;
  let line = 1;
  try {
    for await (const lines of wholeLines(chunks, target.file)) {
      if (signal.aborted) return;
      if (layout !== undefined) {
        await layout.reader.take(lines);
      } else {
        const start = skipBlankLines(lines);
        line += start.lines;
        if (start.at === lines.length) continue;
        const end = lines.indexOf(MEMBER_END, start.at);
        layout = await membersLayoutOf(
          { text: trimmedId(lines.toString('utf8', start.at, end)), line },
          target,
          input,
        );
        await layout.reader.take(lines.subarray(layout.hasHeader ? end + 1 : start.at));
      }
      input.onRead?.(target.spill.total);
    }
  } catch (error) {
    if (signal.aborted) return;
    throw readingError(error, target.file);
  }
  layout?.reader.end?.();
}

function skipBlankLines(lines: Buffer): { readonly at: number; readonly lines: number } {
  let [at, count] = [0, 0];
  for (let end = lines.indexOf(MEMBER_END); end !== -1; end = lines.indexOf(MEMBER_END, at)) {
    if (trimmedId(lines.toString('utf8', at, end)) !== '') break;
    at = end + 1;
    count++;
  }
  return { at, lines: count };
}

/** Explains an error in reading the input, such as damaged gzip data. Returns other errors unchanged. */
function readingError(error: unknown, file: string): unknown {
  if (!(error instanceof Error)) return error;
  const { code, message } = error as NodeJS.ErrnoException; // Node adds a code to errors of files
  if (code === undefined || code.startsWith('ERR_')) return error;
  const what =
    code === 'Z_BUF_ERROR'
      ? 'the gzipped input is cut off: its end is missing'
      : code.startsWith('Z_')
        ? `the gzipped input is corrupt (${message})`
        : `cannot be read further: ${message}`;
  return new InputError(what, { file, hint: 'copy it again; nothing was sent', cause: error });
}
