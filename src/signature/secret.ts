import { SignatureError } from '../errors.ts';

/** A secret as it was given, by the flag, variable or setting called `origin`. Throws SignatureError when it is empty; never shows it. */
export function readSecret(value: string, origin: string): string {
  if (value !== '') return value;
  throw new SignatureError(`The secret is empty (from ${origin})`, {
    reason: 'empty-secret',
    hint: 'an empty secret would sign nothing: give the one that the other side has, or leave it out to go unsigned',
  });
}

/** The secret of a file: its text without one final newline, which an editor or `echo` puts there. Anything else counts. */
export function readSecretFile(bytes: Uint8Array, origin: string): string {
  return readSecret(decodeSecret(bytes, origin).replace(/\r?\n$/, ''), origin);
}

function decodeSecret(bytes: Uint8Array, origin: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw new SignatureError(`The secret is not valid UTF-8 (from ${origin})`, {
      reason: 'secret-encoding',
      hint: 'a secret is text; if it was made of random bytes, store their hex or base64 spelling and use that on both sides',
      cause,
    });
  }
}
