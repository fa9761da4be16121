import { SignatureError } from '../errors.ts';

/** Checks a secret from the flag, variable or setting called `origin`. Throws SignatureError when it is empty; never shows it. */
export function readSecret(value: string, origin: string): string {
  if (value !== '') return value;
  throw new SignatureError(`The secret is empty (from ${origin})`, {
    reason: 'empty-secret',
    hint: 'give the secret that the other side has, or leave it out to send unsigned',
  });
}

/** Reads the secret in a file: its text without one final newline, which editors and `echo` add. Keeps everything else. */
export function readSecretFile(bytes: Uint8Array, origin: string): string {
  return readSecret(decodeSecret(bytes, origin).replace(/\r?\n$/, ''), origin);
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
