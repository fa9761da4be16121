import { closest } from '../suggest.ts';

/** Maps names of settings in other tools to the names of our settings. */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  url: 'webhooks',
  urls: 'webhooks',
  secret: 'sharedSecret',
  secrets: 'sharedSecret',
  size: 'flushAt',
  retries: 'retryFor',
  flushInterval: 'flushAfter',
};

/** Returns the word of `known` that `word` probably means. Undefined if no word is similar. */
export function suggestion(word: string, known: readonly string[]): string | undefined {
  const other = Object.hasOwn(OTHER_NAMES, word) ? OTHER_NAMES[word] : undefined;
  if (other !== undefined && known.includes(other)) return other;
  return closest(word, known);
}
