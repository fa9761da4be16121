import { isIP } from 'node:net';
import type { Certificate, DetailedPeerCertificate } from 'node:tls';
import { systemClock } from '../clock.ts';
import type { NetworkError } from './transport.ts';

/** The longest time that a public issuer may give a certificate, in ms (CA/Browser Forum, Baseline Requirements, 6.3.2). */
const PUBLIC_MS = 398 * 86_400_000;
/** Names that no public issuer gives a certificate for: those without a dot, and those of private networks. */
const PRIVATE_NAME = /(?:^|, )DNS:(?:[^.,]+|[^,]+\.(?:localhost|local|internal|lan|test|home\.arpa))(?:,|$)/;

/** Finds the cause of a rejected certificate in the certificate itself: its names, its issuer and its duration. */
export function causeOfCertificate(
  presented: DetailedPeerCertificate,
  host: string | undefined,
  error: NetworkError,
): string | undefined {
  const isUntrusted = error === 'tls-self-signed' || error === 'tls-untrusted';
  if (!isUntrusted) return undefined;
  const { subjectaltname: names = '', issuer, valid_from: from, valid_to: to } = presented;
  if (isForAnother(presented, host)) return 'tls-default';
  if (error === 'tls-self-signed' || /intermediate|issuing/i.test(nameText(issuer))) return undefined;
  const isPrivate = PRIVATE_NAME.test(names) || Date.parse(to) - Date.parse(from) > PUBLIC_MS;
  const isChainNamed = presented.infoAccess?.['CA Issuers - URI'] !== undefined;
  return isPrivate && !isChainNamed ? 'tls-private' : undefined;
}

function isForAnother(presented: DetailedPeerCertificate, host: string | undefined): host is string {
  const checkHost = process.getBuiltinModule('node:tls').checkServerIdentity;
  return host !== undefined && checkHost(host, presented) !== undefined;
}

/** The part of a certificate that explains its rejection: its names, its dates, or its issuer. The caller escapes it. */
export function certificateText(
  certificate: DetailedPeerCertificate,
  code: string,
  host: string | undefined,
): string {
  const names = isForAnother(certificate, host) ? `, which has: ${namesText(certificate, host)}` : '';
  if (/ALTNAME|HOSTNAME/.test(code)) return names;
  if (code === 'CERT_HAS_EXPIRED') return endedText(certificate);
  if (code === 'CERT_NOT_YET_VALID') return `: it begins on ${certificate.valid_from}`;
  return `${names}; its issuer is ${nameText(chainOf(certificate).at(-1)?.issuer ?? {}).slice(0, 200)}`;
}

/** The names of a certificate, and the one that it lacks: an address counts only as `IP:`, even if a `DNS:` is spelled alike. */
function namesText({ subject, subjectaltname }: DetailedPeerCertificate, host: string): string {
  const names = subjectaltname ?? nameText(subject);
  return `${names.slice(0, 200)}, but not ${isIP(host) > 0 ? 'IP' : 'DNS'}:${host}`;
}

/** A certificate and those above it, at most 10. The issuer of a self-signed certificate is the certificate itself. */
function chainOf(certificate: DetailedPeerCertificate): readonly DetailedPeerCertificate[] {
  const chain = [certificate];
  for (let last = certificate; chain.length < 10; chain.push(last)) {
    const above = (last as Partial<DetailedPeerCertificate>).issuerCertificate; // undefined if the server sent no more
    if (above === undefined || above === last) break;
    last = above;
  }
  return chain;
}

const isOver = ({ valid_to: to }: DetailedPeerCertificate): boolean => Date.parse(to) < systemClock.now();

/** Says which certificate has ended: that of the server, or one above it, which the server must renew in its chain. */
function endedText(certificate: DetailedPeerCertificate): string {
  if (isOver(certificate)) return `: it ended on ${certificate.valid_to}`;
  const ended = chainOf(certificate).find(isOver);
  const which =
    ended === undefined
      ? 'one'
      : `${nameText(ended.subject).slice(0, 200)}, which ended on ${ended.valid_to},`;
  return `: not its own, which ends on ${certificate.valid_to}, but ${which} above it in the chain`;
}

/** The name of a subject or issuer, such as `O=Example, CN=Example Root`. */
function nameText(name: Certificate): string {
  const parts = Object.entries(name).map(([key, value]) => `${key}=${String(value)}`);
  return parts.join(', ') || 'not named';
}
