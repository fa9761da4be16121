/**
 * The path and query of an http: or https: URL as the request line has them: byte for byte as given, dot segments included. Only what a
 * request target cannot contain (RFC 9112, 3.2.1) is percent-encoded, a stray % included. A URL object would resolve `/a/../b`.
 */
export function requestTarget(url: string): string {
  const { target } = partsOf(url.trim());
  return percentEncoded(target.startsWith('/') ? target : `/${target.replace(/^\\/, '')}`);
}

/** The URL as given, but for what is percent-encoded when it is requested. Adds no path where there is none. */
export function encodedUrl(url: string): string {
  const { origin, target } = partsOf(url);
  return target === '' ? origin : origin + requestTarget(url);
}

// As URL parsers read it: slashes may be back slashes, too many or too few.
const PARTS = /^([^:/\\?#]*:[/\\]*[^/\\?#]*)([^#]*)/;

function partsOf(url: string): { readonly origin: string; readonly target: string } {
  const [, origin = url, target = ''] = PARTS.exec(url) ?? [];
  return { origin, target };
}

/** RFC 3986, 3.3 and 3.4: everything else than pchar, / and ?. */
const ILLEGAL = /%(?![0-9a-f]{2})|[^\w\-.~!$&'()*+,;=:@/?%]+/gi;

function percentEncoded(target: string): string {
  return target.replace(ILLEGAL, (text) =>
    Buffer.from(text).toString('hex').toUpperCase().replace(/../g, '%$&'),
  );
}
