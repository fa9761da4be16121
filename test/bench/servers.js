import { mkdtempSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundle } from './bundle.js';
import { runNode } from './child.js';
import { startReceiver } from './receiver.js';
import { interleave, ratios, spread, values } from './rounds.js';

export const claim =
  'Delivery from a store on a server, and from a file, compared with plain BullMQ workers making the same POST by undici, on that server';

const CHILD = fileURLToPath(new URL('servers-child.js', import.meta.url));
const PARTS = [
  'clock.ts',
  'engine/options.ts',
  'stores/open.ts',
  'app/open-engine.ts',
  '../test/stores/server/servers.ts',
];
/** Divides the number of messages, because a server is slower than a file. */
const FEWER = 10;
/** Number of deliveries of a worker that are not measured, while V8 compiles. */
const WARM_UP = 1_000;
/** Column at which the figures of a line begin. */
const WIDTH = 60;
const BACKLOGS = [10_000, 100_000, 1_000_000];
const { BENCH_SERVERS } = process.env;

/** @param {import('./run.js').Bench} bench */
export async function run({ folder, rounds, messages, print }) {
  const parts = await bundle(folder, PARTS);
  const { hasServer, SERVER_KINDS, startServer } = await import(parts);
  const receiver = await startReceiver(folder);
  try {
    for (const kind of BENCH_SERVERS?.split(' ') ?? SERVER_KINDS) {
      if (!hasServer(kind)) continue;
      const server = await startServer(kind);
      try {
        const place = {
          folder,
          parts,
          kind,
          server,
          url: receiver.url,
          messages: Math.ceil(messages / FEWER),
        };
        await compare(place, rounds, print);
        await backlog(place, print);
      } finally {
        await server.remove();
      }
    }
  } finally {
    await receiver.stop();
  }
}

/**
 * @typedef {object} Place
 * @property {string} folder
 * @property {string} parts
 * @property {string} kind
 * @property {{ url: string, pid: () => number | undefined, empty: () => Promise<void> }} server
 * @property {string} url of the receiver
 * @property {number} messages
 */

/**
 * @param {Place} place
 * @param {number} rounds
 * @param {(line: string) => void} print
 */
async function compare(place, rounds, print) {
  // The first process that opens PostgreSQL creates the tables.
  await child(place, { step: 'fill', who: 'hooks', messages: 1 });
  const results = await interleave(
    {
      'hooks on a file, 1 worker': () => deliver(onFile(place), 'hooks', 1),
      'hooks, 1 worker': () => deliver(place, 'hooks', 1),
      'hooks, 2 workers': () => deliver(place, 'hooks', 2),
      'hooks, 4 workers': () => deliver(place, 'hooks', 4),
      'BullMQ, 1 worker': () => deliver(place, 'plain', 1),
      'BullMQ, 2 workers': () => deliver(place, 'plain', 2),
      'BullMQ, 4 workers': () => deliver(place, 'plain', 4),
    },
    rounds,
  );
  print(`${place.kind}, ${place.messages} deliveries:`);
  for (const [name, measurements] of Object.entries(results)) {
    print(`  ${name}, deliveries a second:`.padEnd(WIDTH) + spread(values(measurements, 'perSecond'), whole));
  }
  for (const [name, measurements] of Object.entries(results)) {
    print(
      `  ${name}, µs of CPU a delivery, warm:`.padEnd(WIDTH) + spread(values(measurements, 'cpuUs'), whole),
    );
    print(
      `  ${name}, µs of CPU, with the start:`.padEnd(WIDTH) + spread(values(measurements, 'allCpuUs'), whole),
    );
    if (name.includes('file')) continue;
    print(`  ${name}, of the server's:`.padEnd(WIDTH) + spread(values(measurements, 'serverUs'), whole));
  }
  for (const [who, workers] of [
    ['hooks on a file', '1 worker'],
    ['hooks', '1 worker'],
    ['hooks', '4 workers'],
  ]) {
    const ratio = ratios(results[`${who}, ${workers}`], results[`BullMQ, ${workers}`], 'perSecond');
    print(`  ${who} ÷ BullMQ, ${workers}:`.padEnd(WIDTH) + spread(ratio, (each) => `${each.toFixed(2)}×`));
  }
}

/**
 * Returns the place with its queue in a file.
 *
 * @param {Place} place
 * @returns {Place}
 */
function onFile(place) {
  const url = join(mkdtempSync(join(place.folder, 'file-')), 'hooks.db');
  return { ...place, server: { url, pid: () => undefined, empty: async () => {} } };
}

/**
 * @param {Place} place
 * @param {string} who
 * @param {number} workers
 */
async function deliver(place, who, workers) {
  await place.server.empty();
  await child(place, { step: 'fill', who, messages: place.messages });
  const warmUp = Math.floor(Math.min(WARM_UP, place.messages / 2 / workers));
  const before = cpuUsOf(place.server.pid());
  const ends = await Promise.all(
    Array.from({ length: workers }, () => child(place, { step: 'deliver', who, warmUp })),
  );
  const delivered = ends.reduce((sum, end) => sum + end.delivered, 0);
  if (delivered !== place.messages) throw new Error(`${delivered} of ${place.messages} were delivered`);
  const sum = (/** @type {string} */ quantity) => ends.reduce((total, end) => total + end[quantity], 0);
  return {
    perSecond: sum('perSecond'),
    cpuUs: sum('cpuUs') / sum('measured'),
    allCpuUs: sum('allCpuUs') / delivered,
    serverUs: (cpuUsOf(place.server.pid()) - before) / delivered,
  };
}

const TICK_US = 10_000;

/**
 * Returns the CPU time of all processes of a server, including those that have ended.
 *
 * @param {number | undefined} pid
 * @returns {number}
 */
function cpuUsOf(pid) {
  if (pid === undefined) return 0;
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ');
  const own = fields.slice(11, 15).reduce((total, ticks) => total + Number(ticks) * TICK_US, 0);
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
    .trim()
    .split(' ')
    .filter(Boolean);
  return children.reduce((total, each) => total + cpuUsOf(Number(each)), own);
}

/**
 * @param {Place} place
 * @param {(line: string) => void} print
 */
async function backlog(place, print) {
  const most = Number(process.env['BENCH_BACKLOG'] ?? BACKLOGS.at(-1));
  for (const size of BACKLOGS.filter((each) => each <= most)) {
    await place.server.empty();
    await child(place, { step: 'fill', who: 'hooks', messages: size });
    const { claimUs, settleUs } = await child(place, { step: 'claim' });
    print(
      `  ${size.toLocaleString('en-US').padStart(9)} waiting: claim ${claimUs} µs, settle ${settleUs} µs a delivery`,
    );
  }
}

/**
 * @param {Place} place
 * @param {object} step
 */
async function child({ folder, parts, kind, server, url }, step) {
  const own = mkdtempSync(join(folder, 'child-'));
  const given = JSON.stringify({ kind, store: server.url, url, ...step });
  const { code, stdout } = await runNode([CHILD, parts, given], { folder: own });
  if (code !== 0) throw new Error(`${given}: exit ${code}`);
  return JSON.parse(stdout);
}

/** @param {number} number */
function whole(number) {
  return number.toFixed(0);
}
