import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** A fenced block of a page. */
export interface Block {
  /** The path of the page from the root of the repository. */
  readonly page: string;
  /** The line of the page on which the text of the block begins. */
  readonly line: number;
  /** The word after the fence; empty for a sample of output. */
  readonly language: string;
  readonly text: string;
}

/** README.md and the pages below docs/. */
export const PAGES: readonly string[] = [
  'README.md',
  ...readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name.replaceAll('\\', '/')}`)
    .toSorted(),
];

export function textOfPage(page: string): string {
  return readFileSync(join(ROOT, page), 'utf8');
}

/** Returns the fenced blocks of a page in its order. */
export function blocksOf(page: string): Block[] {
  const text = textOfPage(page);
  return [...text.matchAll(/^```([^\n]*)\n(.*?)^```$/gms)].map(
    ({ index, 1: language = '', 2: block = '' }) => ({
      page,
      line: text.slice(0, index).split('\n').length + 1,
      language,
      text: block,
    }),
  );
}

export const BLOCKS: readonly Block[] = PAGES.flatMap(blocksOf);

/** Returns the blocks in a language, of one page or of all. */
export function blocksIn(language: string, page?: string): Block[] {
  return BLOCKS.filter((block) => block.language === language && (page ?? block.page) === block.page);
}

/** Returns the file that a block is, if its first line is a comment with the name of a file. */
export function fileOf({ text }: Block): string | undefined {
  return /^(?:#|\/\/) ((?:[\w.-]+\/)*\.?[\w-]+(?:\.\w+)+)\b/.exec(text)?.[1];
}

/** Returns whether a block is the part of a receiver that checks the signature. */
export function isRecipe({ text }: Block): boolean {
  return /^(?:\/\/|#) The bytes: /.test(text);
}

/** Returns whether a block is a program that runs without a test runner. */
export function isProgram({ language, text }: Block): boolean {
  return language === 'js' && text.startsWith('import ') && !text.includes("'hooks-cli/testing'");
}

/** Returns whether a block is a shell script in a file. The commands of other shell blocks are run one by one. */
export function isScript(block: Block): boolean {
  return block.language === 'sh' && fileOf(block)?.endsWith('.sh') === true;
}

/** Returns the text of the block that is this file of a page. */
export function documentedFile(page: string, name: string): string {
  const block = blocksOf(page).find((each) => fileOf(each) === name);
  if (block === undefined) throw new Error(`Expected ${name} in ${page}`);
  return block.text;
}

/** Returns the command lines of a shell block with their continuation lines, without comment lines. */
export function commandsOf({ text }: Block): string[] {
  return [...(text.match(/^(?!#).+(?:(?<=[\\|])\n.*)*$/gm) ?? [])];
}

/** A command of a console block, with the output that the page shows. */
export interface ShownCommand {
  readonly command: string;
  readonly output: string;
}

/** Returns the commands after `$ ` in a console block, with their continuation lines. */
export function shownCommandsOf({ text }: Block): ShownCommand[] {
  return [...text.matchAll(/^\$ (.*(?:(?<=[\\|])\n.*)*)\n((?:(?!\$ ).*\n)*)/gm)].map(
    ([, command = '', output = '']) => ({ command, output }),
  );
}
