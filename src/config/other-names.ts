import { closest } from '../suggest.ts';

/** Names of settings in other tools, with our names. */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  url: 'webhooks',
  urls: 'webhooks',
  secret: 'sharedSecret',
  secrets: 'sharedSecret',
  size: 'flushAt',
  retries: 'retryFor',
  flushInterval: 'flushAfter',
};

/** The word of `known` that was probably meant; undefined if none is similar. */
export function suggestion(word: string, known: readonly string[]): string | undefined {
  const other = Object.hasOwn(OTHER_NAMES, word) ? OTHER_NAMES[word] : undefined;
  if (other !== undefined && known.includes(other)) return other;
  return closest(word, known);
}
