import { MASK, spellingsOf } from '../redact.ts';

/** Returns a received signature as it can be shown. Masks a signature that is one of the secrets. */
export function shownSignature(received: string, secrets: readonly string[]): string {
  const texts = [received.trim(), received.trim().replace(/^[\w-]+=(?=.)/, '')];
  const isSecret = secrets.flatMap(spellingsOf).some((text) => texts.includes(text));
  return isSecret ? MASK : received;
}
