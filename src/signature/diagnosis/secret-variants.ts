import type { ReasonCode } from './reasons.ts';

/** Another key that the signature may have been computed with. A string stands for its UTF-8. */
export interface SecretVariant {
  readonly code: ReasonCode;
  /** Follows "it would match". Never shows a secret. */
  readonly would: string;
  readonly key: string | Uint8Array;
}

/** A known secret that is not among those to verify with. */
export interface OtherSecret {
  readonly secret: string;
  /** Where it comes from, as `HOOKS_SECRET`. */
  readonly origin: string;
}

/** The common mistakes with one secret, the likeliest first. */
export function* secretVariants(secret: string): Generator<SecretVariant> {
  const trimmed = secret.trim();
  const unquoted = withoutQuotes(trimmed);
  const around = 'around the secret';
  if (trimmed !== secret) {
    yield { code: 'trimmed-secret', would: `without the white space ${around}`, key: trimmed };
  }
  yield { code: 'trimmed-secret', would: 'with a newline at the end of the secret', key: `${secret}\n` };
  yield { code: 'trimmed-secret', would: 'with CRLF at the end of the secret', key: `${secret}\r\n` };
  yield { code: 'trimmed-secret', would: 'with a space at the end of the secret', key: `${secret} ` };
  if (unquoted !== trimmed)
    yield { code: 'quoted-secret', would: `without the quotes ${around}`, key: unquoted };
  yield { code: 'quoted-secret', would: `with double quotes ${around}`, key: `"${secret}"` };
  yield { code: 'quoted-secret', would: `with single quotes ${around}`, key: `'${secret}'` };
  yield* encodedSecrets(secret);
}

function* encodedSecrets(secret: string): Generator<SecretVariant> {
  const code = 'other-encoding';
  const bytes = Buffer.from(secret, 'utf8');
  if (/^(?:[0-9a-f]{2})+$/i.test(secret)) {
    yield { code, would: 'with the bytes that the secret is the hex of', key: Buffer.from(secret, 'hex') };
  }
  if (/^[\w+/-]+={0,2}$/.test(secret)) {
    yield {
      code,
      would: 'with the bytes that the secret is the base64 of',
      key: Buffer.from(secret, 'base64'),
    };
  }
  yield { code, would: 'with the base64 of the secret', key: bytes.toString('base64') };
  yield { code, would: 'with the hex of the secret', key: bytes.toString('hex') };
  yield { code, would: 'with the secret in UTF-16', key: Buffer.from(secret, 'utf16le') };
  yield { code, would: 'with the secret in Latin-1', key: Buffer.from(secret, 'latin1') };
}

/** The secrets of senders whose setting is missing: their language's word for nothing, or the setting's name. */
const PLACEHOLDERS = [
  'undefined',
  'null',
  'None',
  'nil',
  'HOOKS_SECRET',
  '$HOOKS_SECRET',
  '${HOOKS_SECRET}',
  'secret',
  's3cret',
];

/** Other secrets that the sender may use: known ones, an empty one, placeholders. */
export function* otherSecrets(known: readonly OtherSecret[]): Generator<SecretVariant> {
  const code = 'other-secret';
  for (const { secret, origin } of known)
    yield { code, would: `with the secret from ${origin}`, key: secret };
  yield { code, would: "with an empty secret: the sender's is not set", key: '' };
  for (const key of PLACEHOLDERS) {
    yield { code, would: `with the word "${key}" as the secret: the sender's own is not set`, key };
  }
}

function withoutQuotes(text: string): string {
  return /^(["'`])(.*)\1$/s.exec(text)?.[2] ?? text;
}
