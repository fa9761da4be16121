import type { Outcome } from '../../app/outcomes.ts';
import { decidingAttempt, decisive } from './result-line.ts';

/** By the code of cli.md. Those of a status are below. */
export const WAY_OUT_BY_ERROR: Readonly<Record<string, string>> = {
  timeout: 'a receiver should answer first and work later; --timeout waits longer, up to 30s',
  refused: 'check that the receiver is running, and that the port is right hooks listen starts one',
  dns: 'check the host name in the URL',
  reset: "the receiver's own log, or a proxy before it, may say why",
  protocol: 'check that the port speaks HTTP',
  'tls-self-signed': 'name its issuer in the config: delivery: { ca: ./ca.pem }',
  'tls-expired': 'renew the certificate, and check the clocks of both machines',
  'tls-hostname': 'use the name that the certificate is for',
  'tls-untrusted': 'name its issuer in the config: delivery: { ca: ./ca.pem }',
  tls: 'does the port speak TLS? http:// is without it',
  redirect: 'redirects are not followed: give the URL that it leads to',
  'http-5xx': 'the receiver failed: its own log says why; --retry-for tries longer',
};

const BY_STATUS: Readonly<Record<number, string>> = {
  401: 'do sender and receiver have the same secret, and is the Authorization header right?',
  403: 'do sender and receiver have the same secret, and is the Authorization header right?',
  404: 'check the path of the URL',
  405: 'check the path of the URL: it must take POST',
  413: 'the receiver takes smaller bodies only',
  429: 'send more slowly (replay --rate), or try longer with --retry-for',
};

/** The second line of a person who has read that a delivery failed. */
export function wayOut({ outcome, destinations }: Outcome): string | undefined {
  if (outcome === 'filtered') return 'set a destination to true in its `integrations`, or leave them out';
  const destination = outcome === 'failed' ? decisive(destinations) : undefined;
  const { status = 0, error = '' } = (destination && decidingAttempt(destination)) ?? {};
  return BY_STATUS[status] ?? WAY_OUT_BY_ERROR[error];
}
