import { hasTool } from '../external-tool.ts';
import { BLOCKS, blocksOf, commandsOf, isProgram, isScript, shownCommandsOf, type Block } from './blocks.ts';

const TOOLS: Readonly<Record<string, string>> = {
  curl: '--version',
  jq: '--version',
  sqlite3: '--version',
  python3: '--version',
  openssl: 'version',
};

/** The pages with a block that runs in the order of the page. */
export const PAGES_TO_FOLLOW: readonly string[] = [...new Set(BLOCKS.filter(isRun).map(({ page }) => page))];

/** Its commands judge rates and latencies: its test runs alone. */
export const LOAD_PAGE = 'docs/load.md';

function isRun(block: Block): boolean {
  return ['sh', 'console'].includes(block.language) || isProgram(block);
}

/** Returns the programs that the commands of a page need besides hooks, Node and a POSIX shell. */
export function toolsOf(page: string): string[] {
  const blocks = blocksOf(page);
  const commands = [
    ...blocks.filter((block) => block.language === 'sh' && !isScript(block)).flatMap(commandsOf),
    ...blocks
      .filter(({ language }) => language === 'console')
      .flatMap(shownCommandsOf)
      .map(({ command }) => command),
  ].join('\n');
  return Object.keys(TOOLS).filter((tool) => new RegExp(`(?<![\\w/.-])${tool} `).test(commands));
}

export function hasTools(tools: readonly string[]): boolean {
  return tools.every((tool) => hasTool(tool, TOOLS[tool] ?? '--version'));
}
