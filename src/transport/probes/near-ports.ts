import { editDistance } from '../../suggest.ts';
import { localPorts, programAt, type LocalPort } from './local-ports.ts';
import { askInHttp, askInTls, type AskedPort } from './port-speech.ts';

const MOST_ASKED = 6;
/** Ports from here on belong to any program that asks for one: only the next one may be meant. */
const FIRST_ANY = 10_000;
/** Ports at which development servers listen, for systems that do not list their ports. */
const USUAL_PORTS = [80, 3000, 3001, 4000, 5000, 8000, 8080, 8888];

/** The other ports of this machine at which a receiver may listen, those with a similar number first. */
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

/** Names a port that speaks HTTP or TLS, with its program. Empty for any other port. */
export async function spokenAt(near: LocalPort, asked: AskedPort): Promise<string> {
  const to = { ...asked, host: hostAt(near), port: near.port, timeoutMs: asked.timeoutMs / 2 };
  const plain = await askInHttp(to);
  const { speech } = plain.speech === 'closed' ? await askInTls(to) : plain;
  return speech === 'http' || speech === 'tls'
    ? `port ${near.port} speaks ${speech.toUpperCase()}${ownerText(near)}`
    : '';
}

export function ownerText(near: LocalPort): string {
  const { text } = programAt(near);
  return text === '' ? '' : ` (${text})`;
}

/** An address that leads to a port of this machine. */
export function hostAt({ address }: LocalPort): string {
  return address === '0.0.0.0' ? '127.0.0.1' : address === '::' ? '::1' : address;
}
