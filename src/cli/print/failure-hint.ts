import type { Outcome } from '../../app/outcomes.ts';
import { decidingAttempt, decisive } from './result-line.ts';

/** Hints by the error code of cli.md. Those of a status are below. */
export const HINT_BY_ERROR: Readonly<Record<string, string>> = {
  timeout: 'let the receiver answer first and work later; --timeout waits longer, up to 30s',
  refused: 'check that the receiver runs and the port is right; hooks listen starts one',
  dns: 'check the host name in the URL',
  reset: 'look into the log of the receiver, or of a proxy in front of it',
  protocol: 'check the port: does something other than HTTP listen there?',
  'tls-self-signed': 'name its issuer in the config: delivery: { ca: ./ca.pem }',
  'tls-expired': 'renew the certificate, and check the clocks of both machines',
  'tls-hostname': 'use the name that the certificate is for',
  'tls-untrusted': 'name its issuer in the config: delivery: { ca: ./ca.pem }',
  tls: 'check that the port speaks TLS; http:// does without it',
  redirect: 'give the URL that it leads to: redirects are not followed',
  'http-5xx': 'look into the log of the receiver, which failed; --retry-for tries longer',
};

const SAME_SECRET = 'check that sender and receiver have the same secret, and the Authorization header';

const HINT_BY_STATUS: Readonly<Record<number, string>> = {
  401: SAME_SECRET,
  403: SAME_SECRET,
  404: 'check the path of the URL',
  405: 'check the path of the URL: it must take POST',
  413: 'send less: the receiver takes smaller bodies only',
  429: 'send more slowly (replay --rate), or try longer with --retry-for',
};

/** What a person who has read that a delivery failed should do. */
export function failureHint({ outcome, destinations }: Outcome): string | undefined {
  if (outcome === 'filtered') return 'set a destination to true in its `integrations`, or leave them out';
  const destination = outcome === 'failed' ? decisive(destinations) : undefined;
  const { status = 0, error = '' } = (destination && decidingAttempt(destination)) ?? {};
  return HINT_BY_STATUS[status] ?? HINT_BY_ERROR[error];
}
