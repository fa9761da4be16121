import { networkInterfaces } from 'node:os';
import { isLoopbackHost } from '../../url.ts';
import { askInHttp, askInTls, type AskedPort } from './port-speech.ts';

export function ownAddresses(): readonly string[] {
  const others = Object.values(networkInterfaces()).flatMap((each = []) => each.map((one) => one.address));
  return ['127.0.0.1', '::1', ...others];
}

export function isOwnAddress(address: string): boolean {
  return isLoopbackHost(address) || ['0.0.0.0', '::', ...ownAddresses()].includes(address);
}

/** Common ports of development servers. */
const USUAL_PORTS = [80, 1337, 3000, 3001, 3030, 3333, 4000, 4321, 5000, 5173, 8000, 8080, 8081, 8888, 9000];

/** Other ports of this machine on which the receiver may listen, the likeliest first. */
export function portsNear(asked: number): readonly number[] {
  const near = [asked - 1, asked + 1].filter((port) => port > 0 && port <= 65_535);
  return [...new Set([...near, ...USUAL_PORTS])].filter((port) => port !== asked);
}

/** Describes a port of this machine that speaks HTTP or TLS: `port 3000 speaks HTTP`. Empty for other ports. */
export async function spokenAt(port: number, asked: AskedPort): Promise<string> {
  const to = { ...asked, host: 'localhost', port, timeoutMs: asked.timeoutMs / 2, isTls: false };
  const plain = await askInHttp(to);
  const { speech } = plain.speech === 'closed' ? await askInTls(to) : plain;
  return speech === 'http' || speech === 'tls' ? `port ${port} speaks ${speech.toUpperCase()}` : '';
}
