import { readFileSync, readlinkSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { editDistance, namesIn } from '../../suggest.ts';
import { isLoopbackHost } from '../../url.ts';
import { askInHttp, askInTls, type AskedPort } from './port-speech.ts';

/** A TCP port of this machine on which a program listens. A guess if the system does not list its ports. */
export interface LocalPort {
  readonly address: string;
  readonly port: number;
  /** Inode of the socket, by which `programAt` finds the process that owns the socket. Empty for a guessed port. */
  readonly inode: string;
}

/** Lists the TCP ports on which programs listen. Empty on systems without `/proc/net/tcp` (proc_pid_net(5)). */
export function localPorts(): readonly LocalPort[] {
  const lines = ['/proc/net/tcp', '/proc/net/tcp6'].flatMap((file) =>
    orEmpty(() => readFileSync(file, 'utf8')).split('\n'),
  );
  return lines.flatMap((line) => {
    const [, local = '', , state, , , , , , inode = ''] = line.trim().split(/\s+/);
    const [address = '', port = ''] = local.split(':');
    return state === LISTEN ? [{ address: addressOf(address), port: parseInt(port, 16), inode }] : [];
  });
}

/** State of a listening socket in `/proc/net/tcp`. */
const LISTEN = '0A';

/** Converts a hexadecimal address of `/proc/net/tcp`, in which the bytes of each group of four are reversed. */
function addressOf(hex: string): string {
  const bytes = (hex.match(/.{8}/g) ?? []).flatMap((group) => (group.match(/../g) ?? []).toReversed());
  if (bytes.length === 4) return bytes.map((byte) => parseInt(byte, 16)).join('.');
  const groups = bytes.join('').match(/.{4}/g) ?? [];
  return new URL(`http://[${groups.join(':')}]`).hostname.slice(1, -1);
}

/** The program that listens on a port, for the end of a phrase: ` (node, process 4711)`. Empty if it is not found. */
export function programAt({ inode }: LocalPort): string {
  const owns = (pid: string): boolean =>
    namesIn(`/proc/${pid}/fd`).some(
      (fd) => orEmpty(() => readlinkSync(`/proc/${pid}/fd/${fd}`)) === `socket:[${inode}]`,
    );
  const owner = namesIn('/proc').find((name) => /^\d+$/.test(name) && owns(name));
  const stat = orEmpty(() => readFileSync(`/proc/${owner}/stat`, 'utf8'));
  const [, name, state] = /\((.*)\) (\w)/s.exec(stat) ?? [];
  return name === undefined ? '' : ` (${name}, process ${owner}${state === 'T' ? ', stopped' : ''})`;
}

export function isOwnAddress(address: string): boolean {
  const own = Object.values(networkInterfaces()).flatMap((each = []) => each.map((one) => one.address));
  return isLoopbackHost(address) || ['0.0.0.0', '::', ...own].includes(address);
}

const MOST_ASKED = 6;
/** Ports from here on may belong to any program. Of these, only the two next to the asked port are tried. */
const FIRST_ANY = 10_000;
/** Common ports of development servers, for systems that do not list their ports. */
const USUAL_PORTS = [80, 3000, 3001, 4000, 5000, 8000, 8080, 8888];

/** Up to MOST_ASKED other ports of this machine on which the receiver may listen, those that look like a typo first. */
export function portsNear(asked: number): readonly LocalPort[] {
  const listed = localPorts();
  const guessed = USUAL_PORTS.map((port) => ({ address: '127.0.0.1', port, inode: '' }));
  const isSimilar = ({ port }: LocalPort): boolean => editDistance(String(port), String(asked)) < 2;
  const rankOf = (near: LocalPort): number => (isSimilar(near) ? 0 : FIRST_ANY) + Math.abs(near.port - asked);
  return (listed.length > 0 ? listed : guessed)
    .filter((near) => near.port !== asked && (near.port < FIRST_ANY || Math.abs(near.port - asked) === 1))
    .toSorted((one, other) => rankOf(one) - rankOf(other))
    .slice(0, MOST_ASKED);
}

/** Describes a port that speaks HTTP or TLS: `port 3000 speaks HTTP (node, process 4711)`. Empty for other ports. */
export async function spokenAt(near: LocalPort, asked: AskedPort): Promise<string> {
  const to = { ...asked, host: hostAt(near), port: near.port, timeoutMs: asked.timeoutMs / 2, isTls: false };
  const plain = await askInHttp(to);
  const { speech } = plain.speech === 'closed' ? await askInTls(to) : plain;
  return speech === 'http' || speech === 'tls'
    ? `port ${near.port} speaks ${speech.toUpperCase()}${programAt(near)}`
    : '';
}

/** The address to connect to: a loopback address if the program listens on all addresses. */
export function hostAt({ address }: LocalPort): string {
  return address === '0.0.0.0' ? '127.0.0.1' : address === '::' ? '::1' : address;
}

export function orEmpty(read: () => string): string {
  try {
    return read();
  } catch {
    return '';
  }
}
