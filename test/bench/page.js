import { readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';

const PAGE = new URL('../../docs/benchmarks.md', import.meta.url).pathname;
const [BEGIN, END] = ['<!-- measured: npm run docs:benchmarks -->', '<!-- /measured -->'];
const HEAD = ['bench', 'what', 'against', 'quantity', 'median', 'from – to'];
/** A ratio as `report` prints it: what ÷ against what, quantity: min – median – max. */
const RATIO = /^(.+) ÷ (.+), ([^,]+): ([\d.]+×) – ([\d.]+×) – ([\d.]+×)$/;

/**
 * Writes the ratios of a run into docs/benchmarks.md; the text around them stays, and so do the rows of benches that the run left out,
 * where they are of the same Node, processor and rounds.
 *
 * @param {Readonly<Record<string, readonly string[]>>} printed the lines of each bench
 * @param {number} rounds
 */
export function writePage(printed, rounds) {
  const page = readFileSync(PAGE, 'utf8');
  const [before, rest = ''] = page.split(BEGIN, 2);
  const [earlier, after] = rest.split(END, 2);
  if (after === undefined) throw new Error(`Expected ${BEGIN} and ${END} in ${PAGE}, got none`);
  writeFileSync(PAGE, `${before}${BEGIN}\n\n${measuredText(printed, rounds, earlier)}\n\n${END}${after}`);
}

/**
 * @param {Readonly<Record<string, readonly string[]>>} printed
 * @param {number} rounds
 * @param {string} [earlier] what is written there now
 */
export function measuredText(printed, rounds, earlier = '') {
  const machine = `Node ${process.version}, ${cpus().length} × ${cpus()[0]?.model ?? 'unknown processor'}, ${rounds} rounds.`;
  const kept = earlier.includes(machine) ? rowsIn(earlier).filter(([bench]) => !(bench in printed)) : [];
  const rows = [...kept, ...Object.entries(printed).flatMap(([bench, lines]) => rowsOf(bench, lines))];
  const table = [HEAD, HEAD.map(() => '---'), ...rows.map(([bench, ...cells]) => [`\`${bench}\``, ...cells])];
  return [machine, '', ...table.map((cells) => `| ${cells.join(' | ')} |`)].join('\n');
}

/**
 * @param {string} bench
 * @param {readonly string[]} lines that it printed
 */
function rowsOf(bench, lines) {
  return lines.flatMap((line) => {
    const [, what, against, quantity, least, median, most] = RATIO.exec(line) ?? [];
    return what === undefined ? [] : [[bench, what, against, quantity, median, `${least} – ${most}`]];
  });
}

/** @param {string} text with a table */
function rowsIn(text) {
  return [...text.matchAll(/^\| `([\w-]+)` +\|(.*)\|$/gm)].map(([, bench, cells]) => [
    bench,
    ...cells.split('|').map((cell) => cell.trim()),
  ]);
}
