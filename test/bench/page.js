import { readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { fileURLToPath } from 'node:url';

const PAGE = fileURLToPath(new URL('../../docs/benchmarks.md', import.meta.url));
const [BEGIN, END] = ['<!-- measured: npm run docs:benchmarks -->', '<!-- /measured -->'];
const HEAD = ['bench', 'what', 'against', 'quantity', 'median', 'from – to'];
/** A ratio as `report` prints it: what ÷ against what, quantity: min – median – max. */
const RATIO = /^(.+) ÷ (.+), ([^,]+): ([\d.]+×) – ([\d.]+×) – ([\d.]+×)$/;

/**
 * Writes the ratios of a run into docs/benchmarks.md. Keeps the text around them, and the rows of benches that did not run.
 *
 * @param {Readonly<Record<string, readonly string[]>>} printed the lines of each bench
 * @param {number} rounds
 */
export function writePage(printed, rounds) {
  const { before, earlier, after } = readPage();
  writeFileSync(PAGE, `${before}${BEGIN}\n\n${measuredText(printed, rounds, earlier)}\n\n${END}${after}`);
}

function readPage() {
  const page = readFileSync(PAGE, 'utf8');
  const [before, rest = ''] = page.split(BEGIN, 2);
  const [earlier, after] = rest.split(END, 2);
  if (after === undefined) throw new Error(`Expected ${BEGIN} and ${END} in ${PAGE}, got none`);
  return { before, earlier, after };
}

/**
 * Returns the rows of all other benches. Throws if they were measured in another way, which the page states once for all rows.
 *
 * @param {readonly string[]} benches that are measured again
 * @param {number} rounds
 * @param {string} [earlier] the current text
 */
export function keptRows(benches, rounds, earlier = readPage().earlier) {
  const kept = rowsIn(earlier).filter(([bench]) => !benches.includes(bench));
  const machine = machineText(rounds);
  if (kept.length === 0 || earlier.includes(machine)) return kept;
  const [theirs = 'measured otherwise'] = /^Node .+ rounds\.$/m.exec(earlier) ?? [];
  throw new Error(
    `Expected to measure as the rows of ${[...new Set(kept.map(([bench]) => bench))].join(', ')}, which stay: ${theirs} ` +
      `Got: ${machine} Measure like them (BENCH_ROUNDS), or them too (npm run docs:benchmarks)`,
  );
}

/** @param {number} rounds */
function machineText(rounds) {
  return `Node ${process.version}, ${cpus().length} × ${cpus()[0]?.model ?? 'unknown processor'}, ${rounds} rounds.`;
}

/**
 * @param {Readonly<Record<string, readonly string[]>>} printed
 * @param {number} rounds
 * @param {string} [earlier] the current text
 */
export function measuredText(printed, rounds, earlier = '') {
  const kept = keptRows(Object.keys(printed), rounds, earlier);
  const rows = [...kept, ...Object.entries(printed).flatMap(([bench, lines]) => rowsOf(bench, lines))];
  const table = [HEAD, HEAD.map(() => '---'), ...rows.map(([bench, ...cells]) => [`\`${bench}\``, ...cells])];
  return [machineText(rounds), '', ...table.map((cells) => `| ${cells.join(' | ')} |`)].join('\n');
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
