import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundle } from './bundle.js';
import { interleave, ratios, spread, values } from './rounds.js';

export const claim = 'What a claim costs does not grow with the backlog';

const PARTS = [
  'clock.ts',
  'stores/sqlite/queue/sqlite-inspection.ts',
  'stores/sqlite/queue/sqlite-queue.ts',
  'stores/sqlite/queue/queue-tables.ts',
  'stores/sqlite/file/open-store.ts',
];
/** Sizes of the backlogs, which BENCH_BACKLOG='10000 10000000' replaces. Ten million need 8 GB of disk. */
const { BENCH_BACKLOG = '10000 100000 1000000' } = process.env;
const SIZES = BENCH_BACKLOG.split(' ').map(Number);
const KINDS = ['due in the order of adding', 'due in a shuffled order', 'ten to an order key'];
/** Number of deliveries of each backlog in a round. All rounds together do not empty the smallest. */
const DELIVERIES = 1_500;
const MOST_ROUNDS = 5;

/** @param {import('./run.js').Bench} bench */
export async function run({ folder, rounds, print }) {
  const parts = await bundle(folder, PARTS);
  print(`µs a delivery, ${DELIVERIES} of each backlog in a round`);
  for (const kind of KINDS) {
    const file = (/** @type {number} */ size) => join(folder, `${size}.db`);
    // In separate processes, because adding leaves memory that delivering does not need.
    for (const size of SIZES) child(parts, { step: 'add', file: file(size), size, kind });
    const variants = Object.fromEntries(
      SIZES.map((size) => [
        `of ${size.toLocaleString('en-US')}`,
        async () => child(parts, { step: 'deliver', file: file(size), deliveries: DELIVERIES }),
      ]),
    );
    print(`${kind}:`);
    report(await interleave(variants, Math.min(rounds, MOST_ROUNDS)), print);
    for (const size of SIZES) {
      for (const end of ['', '-wal', '-shm']) rmSync(`${file(size)}${end}`, { force: true });
    }
  }
}

const QUANTITIES = {
  claimUs: 'claim',
  settleUs: 'renew and settle',
  cpuUs: 'CPU of all three',
  openMs: 'ms to open',
  countMs: 'ms to count',
  megabytes: 'MB',
};

/**
 * @param {Record<string, import('./rounds.js').Measurement[]>} results
 * @param {(line: string) => void} print
 */
function report(results, print) {
  const [smallest] = Object.values(results);
  for (const [name, measurements] of Object.entries(results)) {
    for (const [quantity, what] of Object.entries(QUANTITIES)) {
      const shown = spread(values(measurements, quantity), (number) => number.toFixed(1));
      print(`  ${name}, ${what}:`.padEnd(40) + shown);
    }
    if (measurements === smallest) continue;
    const ratio = spread(ratios(measurements, smallest, 'cpuUs'), (number) => `${number.toFixed(2)}×`);
    print(`  ${name} ÷ the smallest, CPU: ${ratio}`);
  }
}

/**
 * @param {string} parts
 * @param {object} step
 */
function child(parts, step) {
  const program = fileURLToPath(new URL('backlog-child.js', import.meta.url));
  const words = [program, parts, JSON.stringify(step)];
  return JSON.parse(execFileSync(process.execPath, words, { encoding: 'utf8' }));
}
