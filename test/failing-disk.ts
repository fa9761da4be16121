import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync, openSync, statSync, truncateSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { hasTool } from './external-tool.ts';
import { until } from './until.ts';

export const HAS_STRACE = hasTool('strace', '-V');

/** A fault of system calls in the syntax of strace: `pwrite64:error=ENOSPC:when=150..165`. */
type Fault = string;

/** Returns the command that runs another command with a fault. */
export function underFault(fault: Fault): readonly string[] {
  return ['strace', '-f', '-qq', '-o', '/dev/null', ...injecting(fault)];
}

function injecting(fault: Fault): readonly string[] {
  return ['-e', `trace=${fault.slice(0, fault.indexOf(':'))}`, '-e', `inject=${fault}`];
}

/** Prefix for commands that only root may run: to trace a process or mount a disk. On CI, sudo asks for no password. */
const AS_ROOT: readonly string[] = process.getuid?.() === 0 ? [] : ['sudo', '-n'];

function asRoot(...words: readonly string[]): readonly [string, readonly string[]] {
  const [command = '', ...rest] = [...AS_ROOT, ...words];
  return [command, rest];
}

/** Injects a fault into a running process. Resolves when the fault is active, to a function that ends it. */
export async function strike(pid: number, fault: Fault): Promise<() => Promise<void>> {
  const words = ['strace', '-f', '-o', '/dev/null', ...injecting(fault), '-p', String(pid)];
  const tracer = spawn(...asRoot(...words), { stdio: ['ignore', 'ignore', 'pipe'] });
  const ended = once(tracer, 'close');
  let said = '';
  // Reads stderr until the end, because strace reports each new thread there, and would end if the pipe closed.
  tracer.stderr.setEncoding('utf8').on('data', (text: string) => (said += text));
  await until(() => said.includes(' attached') || tracer.exitCode !== null, 'strace to be attached');
  if (!said.includes(' attached')) throw new Error(`strace is not attached: ${said}`);
  return async () => {
    run('kill', String(tracer.pid)); // strace may run as root
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

/** A small disk in memory, mounted at a new folder. */
export class SmallDisk {
  readonly path: string;

  constructor(path: string, bytes: number) {
    mkdirSync(path);
    this.path = path;
    run('mount', '-t', 'tmpfs', '-o', `size=${bytes},mode=777`, 'tmpfs', path);
  }

  /** Fills the disk except for these bytes. */
  fill(leavingBytes = 0): void {
    const filler = join(this.path, 'filler');
    fillFile(filler);
    if (leavingBytes > 0) truncateSync(filler, statSync(filler).size - leavingBytes);
  }

  /** Remounts the disk. No file on it may be open for writing. */
  remount(mode: 'ro' | 'rw'): void {
    run('mount', '-o', `remount,${mode}`, this.path);
  }

  /** Unmounts the disk, even if a file on it is open. */
  remove(): void {
    run('umount', '--lazy', this.path);
  }
}

/** Fills the disk to the last byte in ever smaller writes, because a nearly full disk accepts only those. */
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
