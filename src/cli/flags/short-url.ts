import { isLoopbackHost, splitUrls } from '../../url.ts';

/**
 * Expands `3000`, `:3000/path` and `localhost:3000/hook` to a URL. Returns any other text unchanged: another host without a
 * scheme can be a typing error, and messages would go there unencrypted.
 */
export function expandUrl(text: string): string {
  const given = text.trim();
  if (PORT.test(given)) return `http://localhost:${given.replace(':', '')}`;
  const host = HOST.exec(given)?.[1];
  return host !== undefined && isLoopbackHost(host) ? `http://${given}` : text;
}

/** Collects the URLs of a repeated flag. One value can hold several, separated by commas. */
export function collectUrl(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, ...splitUrls(text).map(expandUrl)];
}

const PORT = /^:?\d{1,5}(?:[/?].*)?$/;
const HOST = /^(\[[^\]]+\]|[^\s:/?#@]+)(?::\d{1,5})?(?:[/?].*)?$/;
