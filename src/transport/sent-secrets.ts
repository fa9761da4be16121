import { isSecretHeader, isSecretParameter, withoutRepeated } from '../redact.ts';
import type { TransportRequest } from './transport.ts';

export type SentRequest = Pick<TransportRequest, 'url' | 'headers'>;

/**
 * Removes the secrets of a request, from its headers and query, from the body of the response. Receivers often repeat what
 * they reject ("Cannot POST /hook?token=…"), and the body is shown, logged and stored.
 */
export function withoutSent(body: string, sent: SentRequest): string {
  return withoutRepeated(body, [...sentSecrets(sent)]);
}

/** Returns the secrets in the headers and the query of a request. */
export function sentSecrets({ url, headers }: SentRequest): ReadonlySet<string> {
  const secrets = new Set<string>();
  for (let at = 0; at + 1 < headers.length; at += 2) {
    if (!isSecretHeader(headers[at] ?? '')) continue;
    for (const secret of partsOf(headers[at + 1] ?? '')) secrets.add(secret);
  }
  for (const [name, value] of new URL(url).searchParams) {
    if (isSecretParameter(name)) secrets.add(value);
  }
  // The raw query too, since a value can be encoded in several ways.
  for (const [, name = '', value = ''] of url.matchAll(/[?&]([^=&#]*)=([^&#]*)/g)) {
    if (isSecretParameter(name)) secrets.add(value);
  }
  return secrets;
}

/**
 * Returns the secret parts of a header's value. For `Basic …` and `Bearer …`, these are the credentials, and for Basic also
 * the decoded ones.
 */
function partsOf(value: string): string[] {
  const [, scheme = '', credentials] = /^([a-z]+) +(.+)$/i.exec(value.trim()) ?? [];
  if (credentials === undefined) return [value.trim()];
  if (scheme.toLowerCase() !== 'basic') return [credentials];
  const plain = Buffer.from(credentials, 'base64').toString();
  const colon = plain.indexOf(':');
  // A write key is the user name, with an empty password.
  return [credentials, plain, plain.slice(0, colon), plain.slice(colon + 1)];
}
