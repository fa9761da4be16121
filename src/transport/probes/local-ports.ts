import { readFileSync, readlinkSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { namesIn } from '../../suggest.ts';
import { isLoopbackHost } from '../../url.ts';

/** A port of this machine at which a program listens. */
export interface LocalPort {
  readonly address: string;
  readonly port: number;
  /** Number of the socket, by which `/proc/PID/fd` names its owner. */
  readonly inode: string;
}

/** Lists the listening ports of this machine. Empty on systems without `/proc/net/tcp` (proc_pid_net(5)). */
export function localPorts(): readonly LocalPort[] {
  const lines = ['/proc/net/tcp', '/proc/net/tcp6'].flatMap((file) => readOrEmpty(file).split('\n'));
  return lines.flatMap((line) => {
    const [, local = '', , state, , , , , , inode = ''] = line.trim().split(/\s+/);
    const [address = '', port = ''] = local.split(':');
    return state === LISTEN ? [{ address: addressOf(address), port: parseInt(port, 16), inode }] : [];
  });
}

const LISTEN = '0A';

/** Reads an address in groups of four bytes, each with its last byte first. */
function addressOf(hex: string): string {
  const bytes = (hex.match(/.{8}/g) ?? []).flatMap((group) => (group.match(/../g) ?? []).toReversed());
  if (bytes.length === 4) return bytes.map((byte) => parseInt(byte, 16)).join('.');
  const groups = bytes.join('').match(/.{4}/g) ?? [];
  return new URL(`http://[${groups.join(':')}]`).hostname.slice(1, -1);
}

/** Describes the program that listens at a port: `node, process 4711`. Empty if this user may not know it. */
export function programAt({ inode }: LocalPort): { readonly text: string; readonly isStopped: boolean } {
  const owns = (pid: string): boolean =>
    namesIn(`/proc/${pid}/fd`).some((fd) => linkTo(`/proc/${pid}/fd/${fd}`) === `socket:[${inode}]`);
  const owner = namesIn('/proc').find((name) => /^\d+$/.test(name) && owns(name));
  const [, name, state] =
    /\((.*)\) (\w)/s.exec(owner === undefined ? '' : readOrEmpty(`/proc/${owner}/stat`)) ?? [];
  return { text: name === undefined ? '' : `${name}, process ${owner}`, isStopped: state === 'T' };
}

/** Whether an address leads to this machine itself. */
export function isOwnAddress(address: string): boolean {
  const own = Object.values(networkInterfaces()).flatMap((each = []) => each);
  return isLoopbackHost(address) || isAnyAddress(address) || own.some((each) => each.address === address);
}

/** Whether an address stands for all addresses of a machine. */
function isAnyAddress(address: string): boolean {
  return address === '0.0.0.0' || address === '::';
}

function readOrEmpty(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

function linkTo(file: string): string {
  try {
    return readlinkSync(file);
  } catch {
    return '';
  }
}
