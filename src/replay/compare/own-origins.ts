import type { ComparedResponse } from './compared-response.ts';

type ResponseText = Pick<ComparedResponse & { kind: 'response' }, 'headers' | 'body'>;

/** Headers that are computed from the bytes of the body. */
const DIGEST = /^(?:etag|content-md5|(?:content-|repr-)?digest)$/;
const SCHEME = /^https?(?::|%3A)/i;

/**
 * Returns a function that replaces the origins of the receivers in a response by `{origin}`, because each receiver links to
 * itself. If the body has such a link, the function removes the digests of the body from the headers.
 */
export function originMask(urls: readonly string[]): (response: ResponseText) => ResponseText {
  const origins = new RegExp(urls.map(originPattern).join('|'), 'gi');
  const masked = (text: string): string =>
    text.replaceAll(origins, (match) => (SCHEME.test(match) ? '{origin}' : '{host}'));
  return ({ headers, body }) => {
    const maskedBody = masked(body);
    const isLinked = maskedBody !== body;
    const kept = Object.entries(headers).flatMap(([name, value]) => {
      if (value === undefined || (isLinked && DIGEST.test(name))) return [];
      return [[name, typeof value === 'string' ? masked(value) : value.map(masked)] as const];
    });
    return { headers: Object.fromEntries(kept), body: maskedBody };
  };
}

/**
 * Returns a pattern for the origin of a URL, also with escaped slashes as PHP writes JSON, and percent-encoded as in a query.
 * Also matches `HOST:PORT` alone, but not a host name of one word, because that can be any word.
 */
function originPattern(url: string): string {
  const { protocol, host } = new URL(url);
  const scheme = String.raw`(?:${protocol.slice(0, -1)}(?::|%3A)(?:\\?/|%2F){2})`;
  const name = host.replaceAll(/[.[\]]/g, String.raw`\$&`).replaceAll(':', '(?::|%3A)');
  const isOneWord = !/[.:]/.test(host);
  return String.raw`(?<![\w.-])${scheme}${isOneWord ? '' : '?'}${name}(?![\w-]|[.:]\w)`;
}
