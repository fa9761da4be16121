import { closest } from '../suggest.ts';

/** What people write who know another tool, or an older name. */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  url: 'webhooks',
  urls: 'webhooks',
  secret: 'sharedSecret',
  secrets: 'sharedSecret',
  size: 'flushAt',
  retries: 'retryFor',
  flushInterval: 'flushAfter',
};

/** The word among `known` that was probably meant, or undefined when none is near. */
export function suggestion(word: string, known: readonly string[]): string | undefined {
  const other = Object.hasOwn(OTHER_NAMES, word) ? OTHER_NAMES[word] : undefined;
  if (other !== undefined && known.includes(other)) return other;
  return closest(word, known);
}
