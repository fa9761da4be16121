import { isLoopbackHost, splitUrls } from '../../url.ts';

/**
 * The URL that a person means by `3000`, `:3000/path` or `localhost:3000/hook`. Only a loopback name gets a scheme: what stands
 * for another host may be a typing error, and a message would go there in clear. Any other text is returned as it is.
 */
export function expandUrl(text: string): string {
  const given = text.trim();
  if (PORT.test(given)) return `http://localhost:${given.replace(':', '')}`;
  const host = HOST.exec(given)?.[1];
  return host !== undefined && isLoopbackHost(host) ? `http://${given}` : text;
}

/** Collects the URLs of a repeated flag, which may have several with commas between. */
export function collectUrl(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, ...splitUrls(text).map(expandUrl)];
}

const PORT = /^:?\d{1,5}(?:[/?].*)?$/;
const HOST = /^(\[[^\]]+\]|[^\s:/?#@]+)(?::\d{1,5})?(?:[/?].*)?$/;
