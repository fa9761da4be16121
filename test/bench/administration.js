import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { bundle } from './bundle.js';
import { HOOKS, runNode } from './child.js';

export const claim = 'What the commands of hooks queue take for a queue on a server';

const CHILD = new URL('servers-child.js', import.meta.url).pathname;
const PARTS = ['clock.ts', 'stores/open.ts', 'app/open-engine.ts', 'engine/options.ts'];
const SERVERS = ['../test/stores/server/servers.ts'];
const { BENCH_DELIVERIES = '100000', BENCH_SERVERS = 'redis postgres' } = process.env;
/** Each begins with a server of its own: some of them at once take less time. */
const { BENCH_COMMANDS = 'reading retrying removing' } = process.env;
const DELIVERIES = Number(BENCH_DELIVERIES);
/** One in ten has one of a thousand order keys. */
const KEYED = { orderKeys: 1_000, oneIn: 10 };

/** @param {import('./run.js').Bench} bench */
export async function run({ folder, print }) {
  const parts = await bundle(folder, [...PARTS, ...SERVERS]);
  const { hasServer, startServer } = await import(parts);
  for (const kind of BENCH_SERVERS.split(' ')) {
    if (!hasServer(kind)) continue;
    print(`${kind}, ${DELIVERIES.toLocaleString('en-US')} deliveries:`);
    for (const commands of BENCH_COMMANDS.split(' ')) {
      const server = await startServer(kind);
      try {
        await administer({ folder, parts, kind, server, print }, commands);
      } finally {
        await server.remove();
      }
    }
  }
}

/**
 * @typedef {object} Place
 * @property {string} folder
 * @property {string} parts
 * @property {string} kind
 * @property {{ url: string }} server
 * @property {(line: string) => void} print
 */

/**
 * @param {Place} place
 * @param {string} commands
 */
async function administer(place, commands) {
  const { url } = place.server;
  const file = `sqlite:${join(mkdtempSync(join(place.folder, 'file-')), 'hooks.db')}`;
  const steps = {
    reading: async () => {
      await command(place, ['stats']);
      await command(place, ['list']);
      await command(place, ['export']);
      await command(place, ['move', '--to', file]);
      await command(place, ['move', '--to', url], file);
    },
    retrying: async () => {
      await child(place, { step: 'settle', state: 'retrying' });
      await command(place, ['retry', '--now']);
      await child(place, { step: 'settle', state: 'dead' });
      await command(place, ['retry', '--all', '--yes']);
    },
    removing: async () => {
      await child(place, { step: 'settle', state: 'dead' });
      await command(place, ['purge', '--yes']);
      await child(place, { step: 'fill', messages: DELIVERIES, keyed: KEYED, prefix: 'again' });
      await command(place, ['drop', '--all', '--yes']);
    },
  };
  await child(place, { step: 'fill', messages: DELIVERIES, keyed: KEYED });
  await steps[commands]();
}

/**
 * @param {Place} place
 * @param {readonly string[]} words
 */
async function command({ folder, server, print }, words, store = server.url) {
  const own = mkdtempSync(join(folder, 'command-'));
  const args = [HOOKS, 'queue', ...words, '--store', store, '--no-config', '-o', 'json'];
  const { code, ms, cpuMs, peakMb, stdout } = await runNode(args, { folder: own, usage: true });
  if (code !== 0) throw new Error(`queue ${words.join(' ')}: exit ${code}`);
  const lines = stdout.trimEnd().split('\n');
  const last = lines.length > 1 ? `${lines.length} lines` : (lines[0] ?? '').replace(/,"from".*/, '}');
  const shown =
    words.filter((word) => !word.includes(':')).join(' ') + (store === server.url ? '' : ' a file');
  const took = `${seconds(ms)} s, ${seconds(cpuMs)} s of CPU, ${Math.round(peakMb)} MB`;
  print(`  ${shown}:`.padEnd(26) + `${took}; ${last.slice(0, 60)}`);
}

/**
 * @param {Place} place
 * @param {object} step
 */
async function child({ folder, parts, kind, server }, step) {
  const own = mkdtempSync(join(folder, 'child-'));
  const given = JSON.stringify({ who: 'hooks', kind, store: server.url, ...step });
  const { code } = await runNode([CHILD, parts, given], { folder: own });
  if (code !== 0) throw new Error(`${given}: exit ${code}`);
}

/** @param {number} ms */
function seconds(ms) {
  return (ms / 1_000).toFixed(1);
}
