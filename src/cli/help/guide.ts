import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import stringWidth from 'fast-string-width';
import { wrapCommand, wrapText } from '../fit-text.ts';

/** The pages of `docs/` that `hooks help TOPIC` prints, shortened. A test compares the list with the folder. */
export const GUIDES = [
  'audiences',
  'benchmarks',
  'captures',
  'ci',
  'configuration',
  'guarantees',
  'library',
  'load',
  'operations',
  'plans',
  'receivers',
  'sending',
  'serve',
  'several-machines',
  'testing',
  'troubleshooting',
] as const;

export type GuideName = (typeof GUIDES)[number];

export function isGuide(word: string): word is GuideName {
  return GUIDES.some((name) => name === word);
}

/** Maximum number of items of a list or rows of a table that a shortened guide prints. */
const MAX_ITEMS = 8;
/**
 * Number of blocks that a guide prints of each section: a paragraph and, for example, its command. If the last of them ends
 * with a colon, the next block is printed as well.
 */
const BLOCKS_OF_SECTION = 2;

/**
 * Returns a shortened page: the heading and first blocks of each section, wrapped to `columns`, and the path of the whole
 * page.
 */
export function readGuide(name: GuideName, columns: number): string {
  const file = join(packageFolder(), 'docs', `${name}.md`);
  const sections = sectionsOf(blocksOf(readFileSync(file, 'utf8')));
  const parts = sections.flatMap(([heading, ...blocks]) => [
    headingText(heading, columns),
    ...firstOf(blocks).map((block) => blockText(block, columns)),
  ]);
  // The path is not wrapped, because a path with a space would break and could not be copied.
  return [...parts, `The whole page: ${file}`].join('\n\n');
}

/** Finds the folder of the package, both from the sources and from any file of the build. */
function packageFolder(): string {
  return dirname(createRequire(import.meta.url).resolve('hooks-cli/package.json'));
}

/** Splits Markdown at empty lines. A code block stays one block, even with empty lines in it. */
function blocksOf(markdown: string): readonly string[] {
  const blocks = markdown.match(/^```[^]*?^```$|(?:^(?!```)\S.*\n?(?:^(?!```).+\n?)*)/gm) ?? [];
  return blocks.map((block) => block.trimEnd()).filter((block) => !block.startsWith('<!--'));
}

type Section = readonly [heading: string, ...blocks: readonly string[]];

function sectionsOf(blocks: readonly string[]): readonly Section[] {
  const starts = blocks.flatMap((block, index) => (block.startsWith('#') ? [index] : []));
  return starts.map((start, index): Section => {
    const [heading = '', ...rest] = blocks.slice(start, starts[index + 1]);
    return [heading, ...rest];
  });
}

function firstOf(blocks: readonly string[]): readonly string[] {
  const end = blocks.findIndex((block, index) => index + 1 >= BLOCKS_OF_SECTION && !block.endsWith(':'));
  return end === -1 ? blocks : blocks.slice(0, end + 1);
}

function headingText(heading: string, columns: number): string {
  return wrapText(heading.replace(/^#+ /, '').replaceAll('`', '').toUpperCase(), columns, 0);
}

function blockText(block: string, columns: number): string {
  if (block.startsWith('```')) return codeText(block, columns);
  if (block.startsWith('|')) return listText(tableItems(block), columns);
  if (/^(?:[-*]|\d+\.) /.test(block)) return listText(block.split(/\n(?=(?:[-*]|\d+\.) )/), columns);
  return wrapText(plainText(block), columns, 0);
}

/** Formats a code block: in a line that is too long, moves the comment above the line, and wraps a shell command. */
function codeText(block: string, columns: number): string {
  const [fence = '', ...lines] = block.split('\n').slice(0, -1);
  return lines.map((line) => codeLine(line, columns, fence.endsWith('sh'))).join('\n');
}

function codeLine(line: string, columns: number, isShell: boolean): string {
  if (line === '') return '';
  if (stringWidth(line) + 2 <= columns) return `  ${line}`;
  const indent = 2 + (/^ */.exec(line)?.[0].length ?? 0);
  const margin = ' '.repeat(indent);
  const [code = '', comment] = line.trim().split(/\s+(?=(?:#|\/\/) )/, 2);
  const above =
    comment === undefined ? '' : `${margin}${wrapText(comment, columns - indent - 2, indent + 2)}\n`;
  const wrap = isShell ? wrapCommand : wrapText;
  return `${above}${margin}${wrap(code, columns - indent - 2, indent + 2)}`;
}

/** Turns each row of a table into a list item. Drops the header, which means nothing without columns. */
function tableItems(table: string): readonly string[] {
  const rows = table.split('\n').slice(2);
  return rows.map((row) => {
    const cells = row.split(/(?<!\\)\|/).map((cell) => cell.trim());
    return `- ${cells.filter((cell) => cell !== '').join(': ')}`;
  });
}

function listText(items: readonly string[], columns: number): string {
  const shown = items.slice(0, MAX_ITEMS).map((item) => {
    const mark = /^(?:[-*]|\d+\.) /.exec(item)?.[0] ?? '';
    return mark + wrapText(plainText(item.slice(mark.length)), columns - mark.length, mark.length);
  });
  const more = items.length - shown.length;
  return [...shown, ...(more > 0 ? [`(and ${more} more)`] : [])].join('\n');
}

/** Turns a Markdown block into one line of plain text, with links as their text. */
function plainText(markdown: string): string {
  return markdown
    .replaceAll(/\s*\n\s*/g, ' ')
    .replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll('**', '')
    .replaceAll(/`` ?(.+?) ?``/g, '$1')
    .replaceAll(/\\([_|])/g, '$1');
}
