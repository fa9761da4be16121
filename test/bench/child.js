import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { counting, NO_COUNTERS } from './counters.js';

const USAGE_PRELOAD = new URL('usage-preload.js', import.meta.url).href;

/** The binary that users run. */
export const HOOKS = fileURLToPath(new URL('../../bin/hooks.js', import.meta.url));

/**
 * Runs Node with these arguments to its end.
 *
 * @param {readonly string[]} args
 * @param {{ folder: string, input?: string, usage?: boolean }} options `folder` is for its output and input; `usage` also
 *   measures its CPU time and memory from inside, which takes a little time, and counts into the file `counts` of `folder`
 *   where the machine can count
 * @returns {Promise<{ code: number | null, ms: number, cpuMs: number, peakMb: number, stdout: string }>} `ms` from spawn
 *   to exit; `cpuMs` and `peakMb` are 0 without `usage`
 */
export async function runNode(args, { folder, input = '', usage = false }) {
  const [out, usageFile, inFile] = [join(folder, 'stdout'), join(folder, 'usage'), join(folder, 'stdin')];
  writeFileSync(inFile, input);
  // Files, because this process does not serve a pipe while it waits.
  const [stdin, fd] = [openSync(inFile, 'r'), openSync(out, 'w')];
  try {
    const command = [process.execPath, ...(usage ? ['--import', USAGE_PRELOAD] : []), ...args];
    const isCounted = usage && NO_COUNTERS === undefined;
    const { code, ms } = await timed(isCounted ? counting(command, join(folder, 'counts')) : command, {
      stdio: [stdin, fd, 'ignore'],
      env: { ...cleanEnv(), BENCH_USAGE_FILE: usageFile },
    });
    const { cpuMs, peakMb } = usage ? JSON.parse(readFileSync(usageFile, 'utf8')) : { cpuMs: 0, peakMb: 0 };
    return { code, ms, cpuMs, peakMb, stdout: readFileSync(out, 'utf8') };
  } finally {
    closeSync(stdin);
    closeSync(fd);
  }
}

/**
 * Starts a command that runs until it is stopped, and waits for its first line, which has its URL.
 *
 * @param {readonly string[]} args of `hooks`
 * @param {{ folder: string }} options
 */
export function startCommand(args, options) {
  return startProgram([HOOKS, ...args, '-o', 'json'], options);
}

/**
 * Starts any program that runs until it is stopped, and waits for its first line, which has its URL.
 *
 * @param {readonly string[]} args of Node
 * @param {{ folder: string }} options `folder` is its data folder too
 * @returns {Promise<{ url: string, stop: () => Promise<{ cpuMs: number, peakMb: number }> }>} `stop` resolves to its whole usage
 */
export async function startProgram(args, { folder }) {
  const usageFile = join(folder, 'usage');
  const child = spawn(process.execPath, ['--import', USAGE_PRELOAD, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...cleanEnv(), HOOKS_DATA_DIR: folder, BENCH_USAGE_FILE: usageFile },
  });
  const ended = once(child, 'exit');
  const first = await Promise.race([once(child.stdout, 'data'), ended.then(() => undefined)]);
  if (first === undefined) throw new Error(`node ${args.join(' ')} ended`);
  // Drops further output, which would block the program if it was not read.
  child.stdout.resume();
  return {
    url: JSON.parse(String(first[0]).split('\n')[0]).url,
    pid: child.pid,
    stop: async () => {
      child.kill('SIGTERM');
      await ended;
      return JSON.parse(readFileSync(usageFile, 'utf8'));
    },
  };
}

/**
 * @param {readonly string[]} command
 * @param {import('node:child_process').SpawnOptions} options
 * @returns {Promise<{ code: number | null, ms: number }>}
 */
function timed([program, ...args], options) {
  return new Promise((resolve, reject) => {
    const began = performance.now();
    const child = spawn(program, args, options);
    child.on('error', reject);
    child.on('exit', (code) => resolve({ code, ms: performance.now() - began }));
  });
}

/** Returns an environment without settings of hooks, which would change what is measured. */
export function cleanEnv() {
  const names = Object.keys(process.env).filter((name) => !/^(HOOKS_|SEGMENT_|DEBUG$|NODE_)/.test(name));
  return Object.fromEntries(names.map((name) => [name, process.env[name]]));
}
