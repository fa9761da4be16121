import { networkInterfaces } from 'node:os';
import { readTextNow } from '../../files.ts';
import { editDistance } from '../../suggest.ts';
import { isLoopbackHost } from '../../url.ts';
import { askInHttp, askInTls, type AskedPort } from './port-speech.ts';

export function ownAddresses(): readonly string[] {
  const others = Object.values(networkInterfaces()).flatMap((each = []) => each.map((one) => one.address));
  return ['127.0.0.1', '::1', ...others];
}

export function isOwnAddress(address: string): boolean {
  return isLoopbackHost(address) || ['0.0.0.0', '::', ...ownAddresses()].includes(address);
}

/** Common ports of development servers, for systems that do not list the ports on which programs listen. */
const USUAL_PORTS = [80, 3000, 3001, 4000, 5000, 8000, 8080, 8888];

/** The ports on which programs of this machine listen, as `/proc/net/tcp` lists them (proc_pid_net(5)). */
function listedPorts(): readonly number[] {
  try {
    const list = ['/proc/net/tcp', '/proc/net/tcp6'].map(readTextNow).join('\n');
    return [...list.matchAll(/: [\dA-F]+:([\dA-F]{4}) \S+ 0A /g)].map(([, port = '']) => parseInt(port, 16));
  } catch {
    return USUAL_PORTS;
  }
}

const MOST_ASKED = 6;
/** Ports from here on may belong to any program. Of these, only the two next to the asked port are tried. */
const FIRST_ANY = 10_000;

/** Up to MOST_ASKED other ports of this machine on which the receiver may listen, those that look like a typo first. */
export function portsNear(asked: number): readonly number[] {
  const isSimilar = (port: number): boolean => editDistance(String(port), String(asked)) < 2;
  const rankOf = (port: number): number => (isSimilar(port) ? 0 : FIRST_ANY) + Math.abs(port - asked);
  return [...new Set(listedPorts())]
    .filter((port) => port !== asked && (port < FIRST_ANY || Math.abs(port - asked) === 1))
    .toSorted((one, other) => rankOf(one) - rankOf(other))
    .slice(0, MOST_ASKED);
}

/** Describes a port of this machine that speaks HTTP or TLS: `port 3000 speaks HTTP`. Empty for other ports. */
export async function spokenAt(port: number, asked: AskedPort): Promise<string> {
  const to = { ...asked, host: 'localhost', port, timeoutMs: asked.timeoutMs / 2, isTls: false };
  const plain = await askInHttp(to);
  const { speech } = plain.speech === 'closed' ? await askInTls(to) : plain;
  return speech === 'http' || speech === 'tls' ? `port ${port} speaks ${speech.toUpperCase()}` : '';
}
