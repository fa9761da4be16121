import { execFileSync } from 'node:child_process';
import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { rolldown } from 'rolldown';

export const claim = 'What a claim costs does not grow with the backlog (µs a delivery, over 5,000 of them)';

const ROOT = new URL('../..', import.meta.url).pathname;
const SIZES = [10_000, 100_000, 1_000_000];
const KINDS = ['due in the order of adding', 'due in a shuffled order', 'ten to an order key'];

/** @param {import('./run.js').Bench} bench */
export async function run({ folder, print }) {
  await bundleInto(folder);
  for (const kind of KINDS) {
    for (const size of SIZES) {
      const file = join(folder, `${KINDS.indexOf(kind)}-${size}.db`);
      // Processes of their own: what adding leaves in memory is not what delivering needs.
      child(folder, { step: 'add', file, size, kind });
      const { openMs, claimUs, settleUs, megabytes } = child(folder, { step: 'deliver', file, size, kind });
      print(
        `  ${kind}, ${size.toLocaleString('en-US').padStart(9)}: claim ${claimUs}, renew and settle ${settleUs}; ` +
          `open in ${openMs} ms, ${megabytes} MB`,
      );
    }
  }
}

/** @param {string} folder */
async function bundleInto(folder) {
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  const entry = join(folder, 'queue.ts');
  writeFileSync(
    entry,
    ['store/open-store.ts', 'queue/tables.ts', 'queue/sqlite-queue.ts', 'clock.ts']
      .map((path) => `export * from '${join(ROOT, 'src', path)}';`)
      .join('\n'),
  );
  const external = [/^node:/, '@photostructure/sqlite'];
  const bundle = await rolldown({ input: entry, platform: 'node', external, logLevel: 'silent' });
  await bundle.write({ file: join(folder, 'queue.mjs'), format: 'esm' });
}

/**
 * @param {string} folder
 * @param {object} step
 */
function child(folder, step) {
  const program = new URL('backlog-child.js', import.meta.url).pathname;
  const words = [program, join(folder, 'queue.mjs'), JSON.stringify(step)];
  return JSON.parse(execFileSync(process.execPath, words, { encoding: 'utf8' }));
}
