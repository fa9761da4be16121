import { readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';

const PAGE = new URL('../../docs/benchmarks.md', import.meta.url).pathname;
const [BEGIN, END] = ['<!-- measured: npm run docs:benchmarks -->', '<!-- /measured -->'];
/** A ratio as `report` prints it: what ÷ against what, quantity: min – median – max. */
const RATIO = /^(.+) ÷ (.+), ([^,]+): ([\d.]+×) – ([\d.]+×) – ([\d.]+×)$/;

/**
 * Writes the ratios of a run into docs/benchmarks.md, in place of those of an earlier one; the text around them stays.
 *
 * @param {Readonly<Record<string, readonly string[]>>} printed the lines of each bench
 * @param {number} rounds
 */
export function writePage(printed, rounds) {
  const page = readFileSync(PAGE, 'utf8');
  const [before, rest = ''] = page.split(BEGIN, 2);
  const after = rest.split(END, 2)[1];
  if (after === undefined) throw new Error(`Expected ${BEGIN} and ${END} in ${PAGE}, got none`);
  writeFileSync(PAGE, `${before}${BEGIN}\n\n${measuredText(printed, rounds)}\n\n${END}${after}`);
}

/**
 * @param {Readonly<Record<string, readonly string[]>>} printed
 * @param {number} rounds
 */
export function measuredText(printed, rounds) {
  const machine = `Node ${process.version}, ${cpus().length} × ${cpus()[0]?.model ?? 'unknown processor'}, ${rounds} rounds.`;
  const rows = Object.entries(printed).flatMap(([bench, lines]) =>
    lines.flatMap((line) => {
      const [, what, against, quantity, least, median, most] = RATIO.exec(line) ?? [];
      return what === undefined
        ? []
        : [[`\`${bench}\``, what, against, quantity, median, `${least} – ${most}`]];
    }),
  );
  const table = [['bench', 'what', 'against', 'quantity', 'median', 'from – to'], ...rows];
  const widths = table[0].map((_, column) => Math.max(...table.map((row) => row[column].length)));
  const lines = table.map(
    (row) => `| ${row.map((cell, column) => cell.padEnd(widths[column])).join(' | ')} |`,
  );
  const rule = `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`;
  return [machine, '', lines[0], rule, ...lines.slice(1)].join('\n');
}
