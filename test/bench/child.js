import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const USAGE_PRELOAD = new URL('usage-preload.js', import.meta.url).href;

/** The binary of this package, as users run it. */
export const HOOKS = new URL('../../bin/hooks.js', import.meta.url).pathname;

/**
 * Runs Node with these arguments to its end.
 *
 * @param {readonly string[]} args
 * @param {{ folder: string, input?: string, usage?: boolean }} options `folder` is for its output; `usage` measures its
 *   CPU time too, from inside, which takes a little time of its own
 * @returns {Promise<{ code: number | null, ms: number, cpuMs: number, stdout: string }>} `ms` from spawn to exit
 */
export async function runNode(args, { folder, input = '', usage = false }) {
  const [out, usageFile] = [join(folder, 'stdout'), join(folder, 'usage')];
  // A file, since a pipe would have to be read by this process while it waits.
  const fd = openSync(out, 'w');
  try {
    const { code, ms } = await timed(usage ? ['--import', USAGE_PRELOAD, ...args] : args, {
      fd,
      input,
      env: { ...cleanEnv(), BENCH_USAGE_FILE: usageFile },
    });
    return {
      code,
      ms,
      cpuMs: usage ? Number(readFileSync(usageFile, 'utf8')) : 0,
      stdout: readFileSync(out, 'utf8'),
    };
  } finally {
    closeSync(fd);
  }
}

/**
 * @param {readonly string[]} args
 * @param {{ fd: number, input: string, env: NodeJS.ProcessEnv }} options
 * @returns {Promise<{ code: number | null, ms: number }>}
 */
function timed(args, { fd, input, env }) {
  return new Promise((resolve, reject) => {
    const began = performance.now();
    const child = spawn(process.execPath, args, { stdio: ['pipe', fd, 'ignore'], env });
    child.on('error', reject);
    child.on('exit', (code) => resolve({ code, ms: performance.now() - began }));
    // A child that ends without reading its input is no failure of the measurement.
    child.stdin.on('error', () => {});
    child.stdin.end(input);
  });
}

/** The settings of whoever runs this must not steer what is measured. */
function cleanEnv() {
  const names = Object.keys(process.env).filter((name) => !/^(HOOKS_|SEGMENT_|DEBUG$|NODE_)/.test(name));
  return Object.fromEntries(names.map((name) => [name, process.env[name]]));
}
