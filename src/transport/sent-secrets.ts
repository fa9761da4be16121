import { isSecretHeader, isSecretParameter, withoutRepeated } from '../redact.ts';
import type { TransportRequest, TransportResponse } from './transport.ts';

export type SentRequest = Pick<TransportRequest, 'url' | 'headers'>;

/**
 * Removes from a response body the secrets in the headers and the query of its request. Receivers often repeat a rejected
 * request ("Cannot POST /hook?token=…"), and the body is shown, logged and stored.
 */
export function withoutSent(body: string, sent: SentRequest): string {
  return withoutRepeated(body, [...sentSecrets(sent)]);
}

/** Returns the body and the headers of a response with `mask` applied to each text. */
export function maskedParts(
  { body, headers = {} }: Pick<TransportResponse, 'body' | 'headers'>,
  mask: (text: string) => string,
): Pick<TransportResponse, 'body' | 'headers'> {
  const masked = Object.entries(headers).map(([name, value]) => [name, mask(value)]);
  return { body: body === undefined ? undefined : mask(body), headers: Object.fromEntries(masked) };
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
  // Adds the values of the raw query too, because a value can be encoded in several ways.
  for (const [, name = '', value = ''] of url.matchAll(/[?&]([^=&#]*)=([^&#]*)/g)) {
    if (isSecretParameter(name)) secrets.add(value);
  }
  return secrets;
}

/**
 * Returns the secret parts of a header's value. For `Basic …` and `Bearer …`, the secret parts are the credentials; for
 * Basic, also the decoded user and password.
 */
function partsOf(value: string): string[] {
  const [, scheme = '', credentials] = /^([a-z]+) +(.+)$/i.exec(value.trim()) ?? [];
  if (credentials === undefined) return [value.trim()];
  if (scheme.toLowerCase() !== 'basic') return [credentials];
  const plain = Buffer.from(credentials, 'base64').toString();
  const colon = plain.indexOf(':');
  // All parts are secret: a write key, for example, is the user name, with an empty password.
  return [credentials, plain, plain.slice(0, colon), plain.slice(colon + 1)];
}
