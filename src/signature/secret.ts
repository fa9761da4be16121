import { SignatureError } from '../errors.ts';

/**
 * Returns a secret from the flag, variable or setting `origin`. Throws SignatureError, without the secret, if it is blank.
 */
export function readSecret(value: string, origin: string): string {
  if (!isBlankSecret(value)) return value;
  throw new SignatureError(`The secret is ${value === '' ? 'empty' : 'blank'} (from ${origin})`, {
    reason: 'empty-secret',
    hint: 'give the secret of the other side, or leave it out to send unsigned',
  });
}

/**
 * Whether a secret has only spaces, line breaks and zero-width characters: anyone could guess it. Control characters are not
 * blank, because a binary key can consist of them (RFC 2202, 2).
 */
export function isBlankSecret(secret: string): boolean {
  return /^[\t\r\n\p{Z}\p{Cf}]*$/u.test(secret);
}

/** Describes a blank secret in an error, before a noun: `got an empty one`. */
export function emptyOrBlank(secret: string): string {
  return secret === '' ? 'an empty' : 'a blank';
}

/** Reads a secret from the bytes of a file. Removes one final newline, which editors and `echo` add, and nothing else. */
export function readSecretFile(bytes: Uint8Array, origin: string): string {
  if (isUtf16(bytes)) throw utf16Secret(origin);
  return readSecret(decodeSecret(bytes, origin).replace(/\r?\n$/, ''), origin);
}

/** Detects UTF-16 by its byte order mark, or by a zero in every other byte, which no typed secret has. */
function isUtf16([first, second, third, fourth]: Uint8Array): boolean {
  const isMarked = (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);
  return isMarked || (second === 0 && fourth === 0) || (first === 0 && third === 0);
}

function utf16Secret(origin: string): SignatureError {
  return new SignatureError(`The secret is in UTF-16, as PowerShell writes files (from ${origin})`, {
    reason: 'secret-encoding',
    hint: 'write the file as UTF-8: iconv -f UTF-16 -t UTF-8, or Set-Content -Encoding utf8NoBOM',
  });
}

function decodeSecret(bytes: Uint8Array, origin: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw new SignatureError(`The secret is not valid UTF-8 (from ${origin})`, {
      reason: 'secret-encoding',
      hint: 'store random bytes as hex or base64, and use that text as the secret on both sides',
      cause,
    });
  }
}

/**
 * The name of the variable in a secret that is an unexpanded variable (`$NAME`, `${NAME}`, `%NAME%`); undefined for other
 * secrets.
 */
export function unexpandedName(secret: string): string | undefined {
  const name = /^(?:\$(\w+)|\$\{(?:env:)?(\w+)\}|%(\w+)%|\{\{\s*(\w+)\s*\}\}|\$env:(\w+))$/
    .exec(secret.trim())
    ?.slice(1)
    .find(Boolean);
  return name !== undefined && NAME.test(name) ? name : undefined;
}

/** Matches names of variables in one case, which random secrets are not. */
const NAME = /^(?:[A-Z_][A-Z\d_]*|[a-z_]+)$/;
