import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { timedShell } from './shell.js';

/**
 * Programs in C and Go that post one fixed, unsigned body as fast as they can: the limit of any sender. wrk counts by time, the others by
 * messages. `package` is Debian's.
 *
 * @type {Readonly<Record<string, { package: string, args: (load: Load) => string, counted: RegExp, perSecond: RegExp }>>}
 */
const GENERATORS = {
  wrk: {
    package: 'wrk',
    args: ({ connections, script, url }) => `-t 1 -c ${connections} -d 3s -s '${script}' ${url}`,
    counted: /(\d+) requests in/,
    perSecond: /^Requests\/sec: *([\d.]+)/m,
  },
  ab: {
    package: 'apache2-utils',
    args: ({ connections, messages, body, url }) =>
      `-q -s 10 -k -n ${messages} -c ${connections} -T application/json -p '${body}' ${url}`,
    counted: /^Complete requests: *(\d+)/m,
    perSecond: /^Requests per second: *([\d.]+)/m,
  },
  hey: {
    package: 'hey',
    args: ({ connections, messages, body, url }) =>
      `-n ${messages} -c ${connections} -m POST -T application/json -D '${body}' ${url}`,
    counted: /^ *\[200\]\s+(\d+) responses/m,
    perSecond: /^ *Requests\/sec:\s*([\d.]+)/m,
  },
};

/** @typedef {{ url: string, connections: number, messages: number, body: string, script: string }} Load */

/**
 * Returns the installed load generators as variants of a measurement. Prints which are missing.
 *
 * @param {{ folder: string, file: string, url: string }} place `file` is NDJSON, whose first line is the body
 * @param {{ connections: number, messages: number, print: (line: string) => void }} options
 * @returns {import('./rounds.js').Variants}
 */
export function loadGenerators({ folder, file, url }, { connections, messages, print }) {
  const [body, script] = [join(folder, 'body.json'), join(folder, 'post.lua')];
  const [line = ''] = readFileSync(file, 'utf8').split('\n', 1);
  writeFileSync(body, line);
  writeFileSync(
    script,
    `wrk.method = "POST"\nwrk.headers["Content-Type"] = "application/json"\nwrk.body = io.open("${body}"):read("*a")\n`,
  );
  const load = { url, connections, messages, body, script };
  const installed = Object.entries(GENERATORS).filter(([name, generator]) => {
    const isMissing = spawnSync(name, ['-h']).error !== undefined;
    if (isMissing) {
      print(`${name} is not measured: not installed (Debian: apt-get install ${generator.package})`);
    }
    return !isMissing;
  });
  return Object.fromEntries(
    installed.map(([name, generator]) => [
      `${name}, fixed body`,
      async () => measured(name, generator, load),
    ]),
  );
}

/**
 * @param {string} name
 * @param {typeof GENERATORS[string]} generator
 * @param {Load} load
 */
function measured(name, { args, counted, perSecond }, load) {
  const { stdout, cpuMs } = timedShell(`${name} ${args(load)} < /dev/null`);
  const [delivered, rate] = [counted, perSecond].map((pattern) => Number(pattern.exec(stdout)?.[1]));
  if (!(delivered > 0) || !(rate > 0)) {
    throw new Error(`${name}: expected its rate, got ${stdout.slice(0, 300)}`);
  }
  return { perSecond: rate, cpuUs: (cpuMs / delivered) * 1000 };
}
