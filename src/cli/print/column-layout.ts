import { padText, truncateText } from '../fit-text.ts';
import type { Paint } from '../palette.ts';

/** A column of lines that appear one by one, so that its width cannot depend on them. */
export interface Column {
  /** Smallest width, with which the column is shown at all. */
  readonly least: number;
  /** Width that most texts need. @default the smallest width */
  readonly most?: number;
  /** Rank: the columns of rank 1 get their room first, and are left out last. */
  readonly rank: number;
  /** Whether the column is shown only if all others have the width that most texts need. @default false */
  readonly isExtra?: boolean;
  readonly align?: 'start' | 'end';
  /** Shortens a text to the width of the column. @default `truncateText` */
  readonly shorten?: (text: string, width: number) => string;
}

/** A text in a column, escaped and without colors. */
export interface ColumnText {
  readonly text: string;
  readonly paint?: Paint | undefined;
}

/**
 * Columns that fit into the width of a terminal. In the order of their ranks, columns first get their smallest widths, while
 * there is room, and then grow.
 */
export class ColumnLayout {
  readonly #columns: readonly Column[];
  /** Width of each column. 0 for a column that is left out. */
  readonly #widths: readonly number[];

  constructor(columns: readonly Column[], width: number) {
    this.#columns = columns;
    this.#widths = widthsOf(columns, width);
  }

  /** Formats a line. The last shown text is not padded. */
  line(texts: readonly ColumnText[]): string {
    const shown = texts.flatMap(({ text, paint = (plain) => plain }, index) => {
      const [width = 0, { align, shorten = truncateText } = {}] = [this.#widths[index], this.#columns[index]];
      if (width === 0) return [];
      const cut = shorten(text, width);
      return padText(cut, width, align === 'end' ? 'start' : 'end').replace(cut, () => paint(cut));
    });
    return shown.join(' ').trimEnd();
  }
}

function widthsOf(columns: readonly Column[], width: number): readonly number[] {
  const all = columns.map((column, index) => ({ ...column, index }));
  const ranked = all.toSorted((one, other) => one.rank - other.rank);
  const widths = columns.map(() => 0);
  let room = width + 1; // the first column has no space before it
  for (const isExtra of [false, true]) {
    const some = ranked.filter((column) => (column.isExtra ?? false) === isExtra);
    for (const { least, index } of some) {
      if (least + 1 > room) break;
      widths[index] = least;
      room -= least + 1;
    }
    for (const { least, most = least, index } of some) {
      const more = widths[index] === 0 ? 0 : Math.min(most - least, room);
      widths[index] = (widths[index] ?? 0) + more;
      room -= more;
    }
  }
  return widths;
}
