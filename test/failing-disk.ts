import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync, openSync, statSync, truncateSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { hasTool } from './external-tool.ts';
import { until } from './until.ts';

export const HAS_STRACE = hasTool('strace', '-V');

/** What system calls of whoever runs under it come to, as strace writes it: `pwrite64:error=ENOSPC:when=150..165`. */
type Fault = string;

/** The command that runs another under a fault. */
export function underFault(fault: Fault): readonly string[] {
  return ['strace', '-f', '-qq', '-o', '/dev/null', ...injecting(fault)];
}

function injecting(fault: Fault): readonly string[] {
  return ['-e', `trace=${fault.slice(0, fault.indexOf(':'))}`, '-e', `inject=${fault}`];
}

/** Another process may be traced, and a disk mounted, by root only; on machines of continuous integration sudo asks for nothing. */
const AS_ROOT: readonly string[] = process.getuid?.() === 0 ? [] : ['sudo', '-n'];

function asRoot(...words: readonly string[]): readonly [string, readonly string[]] {
  const [command = '', ...rest] = [...AS_ROOT, ...words];
  return [command, rest];
}

/** Has a running process meet a fault, from when this resolves until what it gives is called. */
export async function strike(pid: number, fault: Fault): Promise<() => Promise<void>> {
  const words = ['strace', '-f', '-o', '/dev/null', ...injecting(fault), '-p', String(pid)];
  const tracer = spawn(...asRoot(...words), { stdio: ['ignore', 'ignore', 'pipe'] });
  const ended = once(tracer, 'close');
  let said = '';
  // For as long as it runs: it says so of each thread that begins, and ends when nobody listens.
  tracer.stderr.setEncoding('utf8').on('data', (text: string) => (said += text));
  await until(() => said.includes(' attached') || tracer.exitCode !== null, 'strace to be attached');
  if (!said.includes(' attached')) throw new Error(`strace is not attached: ${said}`);
  return async () => {
    run('kill', String(tracer.pid)); // it may be root's
    await ended;
  };
}

export const MAY_STRIKE = HAS_STRACE && isAllowed(...asRoot('true'));
export const MAY_MOUNT = process.platform === 'linux' && isAllowed(...asRoot('unshare', '--mount', 'true'));

function isAllowed(command: string, words: readonly string[]): boolean {
  if (spawnSync(command, words).status === 0) return true;
  if (process.env['CI'] === 'true') throw new Error('Root is needed: on CI these tests must run');
  process.stderr.write('Whoever runs the tests is not root: those that need it are skipped\n');
  return false;
}

/** A disk of its own, in memory, at a folder that is made. */
export class SmallDisk {
  readonly path: string;

  constructor(path: string, bytes: number) {
    mkdirSync(path);
    this.path = path;
    run('mount', '-t', 'tmpfs', '-o', `size=${bytes},mode=777`, 'tmpfs', path);
  }

  /** Takes all the room that there is but for these bytes. */
  fill(leavingBytes = 0): void {
    const filler = join(this.path, 'filler');
    fillFile(filler);
    if (leavingBytes > 0) truncateSync(filler, statSync(filler).size - leavingBytes);
  }

  /** Nobody may have a file of it open for writing. */
  remount(mode: 'ro' | 'rw'): void {
    run('mount', '-o', `remount,${mode}`, this.path);
  }

  /** Also when something of it is still open. */
  remove(): void {
    run('umount', '--lazy', this.path);
  }
}

/** Takes the room to the last byte: a full disk writes the less before it refuses. */
function fillFile(file: string): void {
  const descriptor = openSync(file, 'w');
  try {
    for (let bytes = 65_536; bytes >= 1; bytes /= 2) while (writesSome(descriptor, bytes));
  } finally {
    closeSync(descriptor);
  }
}

function writesSome(descriptor: number, bytes: number): boolean {
  try {
    return writeSync(descriptor, Buffer.alloc(bytes)) === bytes;
  } catch {
    return false;
  }
}

function run(...words: readonly string[]): void {
  execFileSync(...asRoot(...words), { stdio: 'pipe' });
}
