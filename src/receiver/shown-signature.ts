import { MASK, spellingsOf, withoutRepeated } from '../redact.ts';

/** Returns a received signature with its secrets masked, so that it can be shown. */
export function shownSignature(received: string, secrets: readonly string[]): string {
  const texts = [received.trim(), received.trim().replace(/^[\w-]+=(?=.)/, '')];
  const isSecret = secrets.flatMap(spellingsOf).some((text) => texts.includes(text));
  return isSecret ? MASK : withoutRepeated(received, secrets);
}
