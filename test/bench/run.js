// npm run bench [-- claim…]: measures what docs/benchmarks.md claims. Prints ratios with their spread (min – median – max);
// asserts nothing, since a time depends on the machine. BENCH_ROUNDS and BENCH_MESSAGES make it longer or shorter.
// npm run docs:benchmarks (--page) measures all of it and writes the page's table.
import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { keptRows, writePage } from './page.js';

/**
 * @typedef {object} Bench
 * @property {string} folder a temporary one
 * @property {number} rounds
 * @property {number} messages
 * @property {(line: string) => void} print
 */

const CLAIMS = {
  'start-up': () => import('./start-up.js'),
  replay: () => import('./replay.js'),
  'open-loop': () => import('./open-loop.js'),
  instructions: () => import('./instructions.js'),
  backlog: () => import('./backlog.js'),
  ingest: () => import('./ingest.js'),
  singles: () => import('./singles.js'),
  delivery: () => import('./delivery.js'),
  client: () => import('./client.js'),
  verify: () => import('./verify.js'),
  reading: () => import('./reading.js'),
  servers: () => import('./servers.js'),
};

const given = process.argv.slice(2);
const wanted = given.filter((name) => name !== '--page');
const unknown = wanted.filter((name) => !Object.hasOwn(CLAIMS, name));
if (unknown.length > 0) {
  throw new Error(`Expected a claim (${Object.keys(CLAIMS).join(', ')}), got ${unknown.join(', ')}`);
}

print(`Node ${process.version}, ${cpus().length} × ${cpus()[0]?.model ?? 'unknown processor'}`);
const rounds = setting('BENCH_ROUNDS', 5);
// Throws before the minutes of measuring.
if (given.includes('--page')) keptRows(wanted.length > 0 ? wanted : Object.keys(CLAIMS), rounds);
/** @type {Record<string, string[]>} */
const printed = {};
for (const [name, load] of Object.entries(CLAIMS)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  printed[name] = [];
  await measure(await load(), printed[name]);
}
// Does not write the page if a claim was not measured.
if (given.includes('--page') && process.exitCode === undefined) writePage(printed, rounds);

/**
 * @param {{ claim: string, run: (bench: Bench) => Promise<void> }} module
 * @param {string[]} lines receives the printed lines
 */
async function measure({ claim, run }, lines) {
  print(`\n${claim}`);
  const folder = mkdtempSync(join(tmpdir(), 'hooks-bench-'));
  try {
    await run({
      folder,
      rounds,
      messages: setting('BENCH_MESSAGES', 200_000),
      print: (line) => {
        lines.push(line);
        print(line);
      },
    });
  } catch (error) {
    // The other claims can still be measured.
    print(`not measured: ${error instanceof Error ? error.message : String(error)}`);
    process.exitCode = 1;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * @param {string} name
 * @param {number} otherwise
 */
function setting(name, otherwise) {
  const value = Number(process.env[name] ?? otherwise);
  if (!Number.isInteger(value) || value < 1) {
    throw new Error(`Expected ${name} to be a whole number from 1, got ${process.env[name]}`);
  }
  return value;
}

/** @param {string} line */
function print(line) {
  process.stdout.write(`${line}\n`);
}
