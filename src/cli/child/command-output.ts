import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { commandEscaper, printable, spellingsOf, withoutSecrets } from '../../redact.ts';
import type { Io } from '../io.ts';

export interface ShowLinesOptions {
  readonly io: Pick<Io, 'stderr' | 'verbatim' | 'errColor' | 'env'>;
  /** Secrets to mask in the output of the command. */
  readonly secrets: readonly string[];
  /** Whether to hide the output of the command. @default false */
  readonly quiet?: boolean | undefined;
  /** Called with each line of the command's output, masked and escaped, even if `quiet` hides the output. */
  readonly onLine?: ((line: string) => void) | undefined;
}

/** Maximum length of a line. Longer lines are split, because a command that never ends a line must not fill the memory. */
const LONGEST_LINE = 4_000;

/**
 * Shows the output of a command line by line, escaped and with a mark. A workflow command for a CI runner has no mark,
 * because it must stand at the start of its line.
 */
export async function showLines(
  stream: Readable,
  { io, secrets, quiet = false, onLine }: ShowLinesOptions,
): Promise<void> {
  let rest = '';
  const spelled = secrets.flatMap(withLines).flatMap(spellingsOf);
  const escape = commandEscaper(io.env);
  const isColored = io.errColor.dim('x') !== 'x';
  const show = (line: string): void => {
    const text = line.replaceAll('\t', '    ').replace(/\r$/, '');
    const plain = text.replaceAll(COLOR, '');
    const masked = withoutSecrets(plain, spelled);
    const escaped = printable(masked, LONGEST_LINE);
    onLine?.(escaped);
    // The colors of a line with a secret are left out, because they could divide the secret.
    const shown = isColored && masked === plain ? withColors(text) : escaped;
    const mark = escape(shown) === shown ? `${io.errColor.dim('|')} ` : '';
    if (!quiet) io.verbatim.note(mark + shown);
  };
  try {
    // setEncoding makes every chunk a string.
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
    // The error is ignored: `stream` was destroyed, because a process that outlives the command kept it open.
  }
  if (rest !== '') show(rest);
}

/** A sequence that sets colors (SGR). All others, which can move the cursor or change the window, stay escaped. */
// oxlint-disable-next-line no-control-regex -- control characters are what this pattern is for
const COLOR = /\u001b\[[\d;:]*m/g;
const NO_COLOR = '\u001b[0m';

/** Escapes a line, but keeps its colors, which end with the line. */
function withColors(line: string): string {
  const colors = line.match(COLOR) ?? [];
  if (colors.length === 0) return printable(line, LONGEST_LINE);
  const texts = line.split(COLOR).map((text) => printable(text, LONGEST_LINE));
  return texts.map((text, index) => text + (colors[index] ?? NO_COLOR)).join('');
}

/** Returns a secret and each of its lines, because output is masked line by line. */
function withLines(secret: string): readonly string[] {
  return [secret, ...secret.split(/[\r\n]+/).map((line) => line.trim())];
}

/** Waits until stderr has drained. The wait slows down a command that prints too fast, as a full pipe would. */
async function drained(stderr: Io['stderr']): Promise<void> {
  if (!stderr.writableNeedDrain || stderr.destroyed) return;
  const over = new AbortController();
  const { signal } = over;
  await Promise.race([once(stderr, 'drain', { signal }), once(stderr, 'close', { signal })]).catch(() => {});
  over.abort();
}
