import { MASK, spellingsOf, withoutRepeated } from '../redact.ts';

/** Returns a received signature as it can be shown. Masks the secrets in it. */
export function shownSignature(received: string, secrets: readonly string[]): string {
  const texts = [received.trim(), received.trim().replace(/^[\w-]+=(?=.)/, '')];
  const isSecret = secrets.flatMap(spellingsOf).some((text) => texts.includes(text));
  return isSecret ? MASK : withoutRepeated(received, secrets);
}
