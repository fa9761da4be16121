import type { Sources, WebhookOptions } from '../../engine/options.ts';
import { isSecretHeader, spellingsOf } from '../../redact.ts';

/** Everything in the sources that must never be shown, in each of the forms in which it goes over the wire. */
export function secretsOf(sources: Sources): readonly string[] {
  const secrets = Object.values(sources).flatMap(({ writeKey, destinations }) => [
    ...(writeKey === undefined ? [] : [writeKey, base64(`${writeKey}:`)]),
    ...Object.values(destinations).flatMap(({ sharedSecrets, webhooks }) => [
      ...sharedSecrets,
      ...webhooks.flatMap(ofWebhook),
    ]),
  ]);
  return [...new Set(secrets.flatMap(spellingsOf))];
}

function ofWebhook({ url, headers }: WebhookOptions): readonly string[] {
  const values = Object.entries(headers)
    .filter(([name]) => isSecretHeader(name))
    // `Bearer TOKEN`: a receiver may repeat the token alone.
    .flatMap(([, value]) => [value, value.replace(/^\w+ +/, '')]);
  return [...values, ...ofUserinfo(url)];
}

function ofUserinfo(url: string): readonly string[] {
  if (!URL.canParse(url)) return [];
  const { username, password } = new URL(url);
  if (username === '' && password === '') return [];
  const plain = [decoded(username), decoded(password)];
  return [`${username}:${password}`, password, ...plain.slice(1), base64(plain.join(':'))];
}

/** A stray % stands for itself. */
function decoded(text: string): string {
  return Buffer.from(
    text.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    'latin1',
  ).toString();
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}
