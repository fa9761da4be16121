import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { commandEscaper, printable, spellingsOf, withoutSecrets } from '../../redact.ts';
import type { Io } from '../io.ts';

interface ShowLinesOptions {
  readonly io: Pick<Io, 'stderr' | 'verbatim' | 'errColor' | 'env'>;
  readonly secrets: readonly string[];
  readonly quiet?: boolean;
  readonly onLine?: ((line: string) => void) | undefined;
}

/** A longer line is shown in pieces: a command that never ends its line must not fill the memory. */
const LONGEST_LINE = 4_000;

/** Shows the output of a command, a line at a time, each with a mark; nothing in it can move the terminal's cursor. A command to the runner of CI has no mark, since it begins its line. */
export async function showLines(
  stream: Readable,
  { io, secrets, quiet = false, onLine }: ShowLinesOptions,
): Promise<void> {
  let rest = '';
  const spelled = secrets.flatMap(withLines).flatMap(spellingsOf);
  const escape = commandEscaper(io.env);
  const show = (line: string): void => {
    const text = withoutSecrets(line, spelled).replaceAll('\t', '    ').replace(/\r$/, '');
    const shown = printable(text, LONGEST_LINE);
    onLine?.(shown);
    const mark = escape(shown) === shown ? `${io.errColor.dim('|')} ` : '';
    if (!quiet) io.verbatim.note(mark + shown);
  };
  try {
    // setEncoding makes every chunk text
    for await (const chunk of stream.setEncoding('utf8') as AsyncIterable<string>) {
      if (quiet && onLine === undefined) continue;
      const lines = (rest + chunk).split('\n');
      rest = lines.pop() ?? '';
      lines.forEach(show);
      if (rest.length > LONGEST_LINE) {
        show(rest);
        rest = '';
      }
      await drained(io.stderr);
    }
  } catch {
    // The stream was destroyed while a process that outlives the command still holds it.
  }
  if (rest !== '') show(rest);
}

/** Adds the lines of a secret: output shown by lines never holds a secret of several lines as a whole. */
function withLines(secret: string): readonly string[] {
  return [secret, ...secret.split(/[\r\n]+/).map((line) => line.trim())];
}

/** Slows down a command that prints faster than stderr takes it, as a pipe would. */
async function drained(stderr: Io['stderr']): Promise<void> {
  if (!stderr.writableNeedDrain || stderr.destroyed) return;
  const over = new AbortController();
  const { signal } = over;
  await Promise.race([once(stderr, 'drain', { signal }), once(stderr, 'close', { signal })]).catch(() => {});
  over.abort();
}
