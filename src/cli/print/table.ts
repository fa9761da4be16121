import stringWidth from 'fast-string-width';
import { padText, truncateText, wrapText } from '../fit-text.ts';
import type { Paint } from '../palette.ts';

/** A cell of a table or of an aligned line. Its text is escaped and has no colors. */
export interface Cell {
  readonly text: string;
  /** Minimum width in columns. A shorter text is padded. @default 0 */
  readonly minWidth?: number;
  /** Side of the column at which the text is aligned. @default 'start' */
  readonly align?: 'start' | 'end';
  /** The minimum width to shorten the text to if the line is wider than the terminal. @default never shortened */
  readonly shortest?: number;
  readonly paint?: Paint | undefined;
}

interface RowOptions {
  /** The width of the terminal; undefined without a terminal, where a row is one line of any length. */
  readonly columns: number | undefined;
  /** Spaces between cells. A row that is wider than the terminal gets 1 space. @default 2 */
  readonly gap?: number;
}

/** Indentation of a row's continuation lines. */
const INDENT = 4;
/** Minimum columns for the wrapped last cell. With less room in the line, the cell starts on the next line. */
const MIN_TEXT_WIDTH = 24;

/** Formats rows with aligned columns, each ending with a line break. */
export function formatTable(rows: readonly (readonly Cell[])[], options: RowOptions): string {
  const widths: number[] = [];
  for (const row of rows) {
    row.forEach((cell, column) => (widths[column] = Math.max(widths[column] ?? 0, widthOf(cell))));
  }
  const aligned = rows.map((row) => row.map((cell, column) => ({ ...cell, minWidth: widths[column] ?? 0 })));
  return aligned.map((row) => `${formatRow(row, options)}\n`).join('');
}

/** Formats a row. Cells that do not fit move to the next line; the last cell is wrapped at words. */
export function formatRow(cells: readonly Cell[], { columns = Infinity, gap = 2 }: RowOptions): string {
  const gaps = cells.length - 1;
  const width = cells.map(widthOf).reduce((sum, each) => sum + each, 0);
  const space = width + gap * gaps > columns ? 1 : gap;
  const widths = shrink(cells, columns - space * gaps);
  let [text, used] = ['', 0];
  cells.forEach((cell, index) => {
    const cellWidth = widths[index] ?? 0;
    const isLast = index === cells.length - 1;
    const needed = isLast && cell.shortest === undefined ? Math.min(cellWidth, MIN_TEXT_WIDTH) : cellWidth;
    if (used + needed > columns && used > INDENT) {
      [text, used] = [`${text.trimEnd()}\n${' '.repeat(INDENT)}`, INDENT];
    }
    text += formatCell(cell, { width: cellWidth, room: columns - used, indent: used, isLast });
    if (!isLast) text += ' '.repeat(space);
    used += cellWidth + space;
  });
  return text.trimEnd();
}

interface CellLayout {
  readonly width: number;
  /** Columns left in the current line. */
  readonly room: number;
  /** Columns before the cell. */
  readonly indent: number;
  readonly isLast: boolean;
}

function formatCell(cell: Cell, { width, room, indent, isLast }: CellLayout): string {
  const { text, align = 'start', shortest, paint = (plain) => plain } = cell;
  if (isLast && shortest === undefined && stringWidth(text) > room) {
    return paint(wrapText(text, room, indent));
  }
  const shown = truncateText(text, shortest === undefined ? room : Math.min(width, room));
  const padded = padText(shown, Math.min(width, room), align === 'end' ? 'start' : 'end');
  return padded.replace(shown, () => paint(shown));
}

/** Returns the widths of the cells. Shortens cells that allow it, the last first, if that makes the row fit. */
function shrink(cells: readonly Cell[], columns: number): readonly number[] {
  const widths = cells.map(widthOf);
  let over = widths.reduce((sum, width) => sum + width, 0) - columns;
  const spare = cells.map(({ shortest = Infinity }, index) => Math.max(0, (widths[index] ?? 0) - shortest));
  if (over <= 0 || over > spare.reduce((sum, each) => sum + each, 0)) return widths;
  return widths
    .map((_, index) => widths.length - 1 - index)
    .reduce<number[]>((shrunk, index) => {
      const given = Math.min(over, spare[index] ?? 0);
      over -= given;
      return [(widths[index] ?? 0) - given, ...shrunk];
    }, []);
}

function widthOf({ text, minWidth = 0 }: Cell): number {
  return Math.max(minWidth, stringWidth(text));
}
