import { createHmac } from 'node:crypto';
import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { HOOKS } from './child.js';
import { report } from './report.js';
import { interleave } from './rounds.js';
import { timedShell } from './shell.js';

const MEGABYTES = Number(process.env['BENCH_VERIFY_MB'] ?? 1024);

export const claim = `Verify: a body of ${MEGABYTES} MB, compared with openssl, from a file and from a pipe`;

const USAGE_PRELOAD = fileURLToPath(new URL('usage-preload.js', import.meta.url));
const QUANTITIES = {
  ms: { name: 'ms', shown: (ms) => ms.toFixed(0) },
  cpuMs: { name: 'CPU ms', shown: (ms) => ms.toFixed(0) },
};

/** @param {import('./run.js').Bench} bench */
export async function run({ folder, rounds, print }) {
  const file = join(folder, 'body');
  const signature = writeBody(file);
  const usage = join(folder, 'usage');
  const env = { BENCH_USAGE_FILE: usage };
  const flags = `--secret s --signature ${signature} -o json --no-config`;
  const hooks = `'${process.execPath}' --import '${USAGE_PRELOAD}' '${HOOKS}' verify ${flags}`;
  const openssl = 'openssl dgst -sha1 -hmac s';
  const results = await interleave(
    {
      'hooks, file': async () => measured(`${hooks} '${file}'`, { says: '"valid":true', env }),
      'openssl, file': async () => measured(`${openssl} '${file}'`, { says: signature }),
      'hooks, pipe': async () => measured(`cat '${file}' | ${hooks}`, { says: '"valid":true', env }),
      'openssl, pipe': async () => measured(`cat '${file}' | ${openssl}`, { says: signature }),
    },
    rounds,
  );
  for (const way of ['file', 'pipe']) {
    const pair = [`hooks, ${way}`, `openssl, ${way}`].map((name) => [name, results[name]]);
    report(Object.fromEntries(pair), { quantities: QUANTITIES, print });
  }
  print(
    `peak memory of hooks, the last time: ${JSON.parse(readFileSync(usage, 'utf8')).peakMb.toFixed(0)} MB`,
  );
}

/**
 * @param {string} script
 * @param {{ says: string, env?: NodeJS.ProcessEnv }} options
 */
function measured(script, { says, env = {} }) {
  const { ms, cpuMs, stdout } = timedShell(script, { env });
  if (!stdout.includes(says)) throw new Error(`Expected ${says} of ${script}, got ${stdout}`);
  return { ms, cpuMs };
}

/**
 * @param {string} file
 * @returns {string} its signature
 */
function writeBody(file) {
  const piece = Buffer.alloc(1024 * 1024, 'a body that is the same all over\n');
  const hmac = createHmac('sha1', 's');
  const fd = openSync(file, 'w');
  for (let megabyte = 0; megabyte < MEGABYTES; megabyte++) {
    writeSync(fd, piece);
    hmac.update(piece);
  }
  closeSync(fd);
  return hmac.digest('hex');
}
