import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync, openSync, symlinkSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { rolldown } from 'rolldown';
import { HOOKS, runNode } from './child.js';
import { interleave, ratios, spread, values } from './rounds.js';

const ROOT = new URL('../..', import.meta.url).pathname;
/** BENCH_MEMBERS=10000000 npm run bench -- audience */
const MEMBERS = Number(process.env['BENCH_MEMBERS'] ?? 1_000_000);

export const claim = `An audience sync of ${MEMBERS.toLocaleString('en-US')} members that finds no change, against sort -u and comm`;

/** Nobody listens there, and nothing is sent: what is measured is finding that out. */
const URL_OF_NOBODY = 'http://127.0.0.1:9/webhook';

/** @param {import('./run.js').Bench} bench */
export async function run({ folder, rounds, print }) {
  const [before, now] = [join(folder, 'before.txt'), join(folder, 'now.txt')];
  writeMembers(before, 1);
  writeMembers(now, 2);
  await prepareState(folder, before);
  // The state of a sync has its counterpart in the sorted list of last time.
  shell(`LC_ALL=C sort -u '${before}' > '${before}.sorted'`);
  const measured = await interleave(
    {
      hooks: () => sync(folder, now),
      'sort -u and comm': () =>
        timed(
          `LC_ALL=C sort -u '${now}' > '${now}.sorted' && LC_ALL=C comm -3 '${before}.sorted' '${now}.sorted'`,
        ),
      'sort -u of both files and comm': () =>
        timed(
          `for f in '${before}' '${now}'; do LC_ALL=C sort -u $f > $f.again; done; LC_ALL=C comm -3 '${before}.again' '${now}.again'`,
        ),
    },
    rounds,
  );
  const { hooks, ...peers } = measured;
  for (const [name, peer] of Object.entries(peers)) {
    print(`  ${spread(ratios(peer, hooks, 'ms'), (ratio) => ratio.toFixed(2))} × as fast as ${name}`);
  }
  print(`  ${spread(values(hooks, 'ms'), (ms) => (ms / 1_000).toFixed(2))} s`);
  print(`  ${spread(values(hooks, 'peakMb'), (mb) => mb.toFixed(0))} MB at most`);
}

/**
 * The same ids in an order of their own for each seed.
 *
 * @param {string} file
 * @param {number} seed
 */
function writeMembers(file, seed) {
  const order = Uint32Array.from({ length: MEMBERS }, (_, index) => index);
  let state = seed;
  for (let at = MEMBERS - 1; at > 0; at--) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    const other = Math.floor((state / 2 ** 32) * (at + 1));
    [order[at], order[other]] = [order[other], order[at]];
  }
  const fd = openSync(file, 'w');
  for (let from = 0; from < MEMBERS; from += 50_000) {
    writeSync(
      fd,
      Array.from(order.subarray(from, from + 50_000), (id) => `user-${String(id).padStart(8, '0')}\n`).join(
        '',
      ),
    );
  }
  closeSync(fd);
}

/**
 * As a first sync leaves it. Delivering so many messages would take hours and is not what is measured.
 *
 * @param {string} folder
 * @param {string} members
 */
async function prepareState(folder, members) {
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  const entry = join(folder, 'audience.ts');
  const parts = [
    'stores/sqlite/file/open-store.ts',
    'stores/sqlite/sqlite-audience-store.ts',
    'audience/sync.ts',
    'audience/read/read-entries.ts',
    'clock.ts',
  ];
  writeFileSync(entry, parts.map((path) => `export * from '${join(ROOT, 'src', path)}';`).join('\n'));
  const external = [/^node:/, '@photostructure/sqlite', 'csv-parse/sync'];
  const bundle = await rolldown({ input: entry, platform: 'node', external, logLevel: 'silent' });
  await bundle.write({ file: join(folder, 'audience.mjs'), format: 'esm' });
  mkdirSync(join(folder, 'data'));
  const program = new URL('audience-child.js', import.meta.url).pathname;
  const step = { members, file: join(folder, 'data', 'hooks.db'), place: URL_OF_NOBODY };
  execFileSync(process.execPath, [program, join(folder, 'audience.mjs'), JSON.stringify(step)]);
}

/**
 * @param {string} folder
 * @param {string} members
 */
async function sync(folder, members) {
  const flags = ['--url', URL_OF_NOBODY, '--no-config', '--store', join(folder, 'data', 'hooks.db')];
  const args = [HOOKS, 'audience', 'sync', 'Bench', members, '-o', 'json', ...flags];
  const { code, ms, cpuMs, peakMb, stdout } = await runNode(args, { folder, usage: true });
  const { summary } = JSON.parse(stdout);
  if (code !== 0 || summary.unchanged !== MEMBERS || summary.read !== 0) {
    throw new Error(`Expected a sync without a change, got ${code} and ${stdout}`);
  }
  return { ms, cpuMs, peakMb };
}

/** @param {string} script */
async function timed(script) {
  const began = performance.now();
  const child = spawn('sh', ['-c', script], { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = 0;
  child.stdout.on('data', (chunk) => (output += chunk.length));
  const [code] = await once(child, 'close');
  if (code !== 0 || output > 0) throw new Error(`Expected no difference, got ${code} and ${output} bytes`);
  return { ms: performance.now() - began };
}

/** @param {string} script */
function shell(script) {
  execFileSync('sh', ['-c', script]);
}
