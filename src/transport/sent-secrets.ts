import { isSecretHeader, isSecretParameter, withoutRepeated } from '../redact.ts';
import type { TransportRequest } from './transport.ts';

export type SentRequest = Pick<TransportRequest, 'url' | 'headers'>;

/**
 * A response's body without the secrets that its request carried, in headers and in the query. Receivers like to repeat what they reject ("Cannot
 * POST /hook?token=…"), and what they send back is shown, logged and kept.
 */
export function withoutSent(body: string, sent: SentRequest): string {
  return withoutRepeated(body, [...sentSecrets(sent)]);
}

/** The secrets that a request carries in its headers and in the query. */
export function sentSecrets({ url, headers }: SentRequest): ReadonlySet<string> {
  const secrets = new Set<string>();
  for (let at = 0; at + 1 < headers.length; at += 2) {
    if (!isSecretHeader(headers[at] ?? '')) continue;
    for (const secret of partsOf(headers[at + 1] ?? '')) secrets.add(secret);
  }
  for (const [name, value] of new URL(url).searchParams) {
    if (isSecretParameter(name)) secrets.add(value);
  }
  // As it was sent: there are several ways to encode a value.
  for (const [, name = '', value = ''] of url.matchAll(/[?&]([^=&#]*)=([^&#]*)/g)) {
    if (isSecretParameter(name)) secrets.add(value);
  }
  return secrets;
}

/** The parts of a header's value that are secret: of `Basic …` and `Bearer …` also what follows, and what it stands for. */
function partsOf(value: string): string[] {
  const [, scheme = '', credentials] = /^([a-z]+) +(.+)$/i.exec(value.trim()) ?? [];
  if (credentials === undefined) return [value.trim()];
  if (scheme.toLowerCase() !== 'basic') return [credentials];
  const plain = Buffer.from(credentials, 'base64').toString();
  const colon = plain.indexOf(':');
  // A write key stands before the colon, with nothing behind it.
  return [credentials, plain, plain.slice(0, colon), plain.slice(colon + 1)];
}
