import { responseInHttp, type AskedPort } from './port-speech.ts';

/** The response of a server to `OPTIONS` of a path, to which servers respond by route without running its handler. */
interface PathRoute {
  readonly path: string;
  /** The response: `200 (Allow: POST)`. */
  readonly text: string;
  readonly isRoute: boolean;
  /** Whether the route takes POST. Undefined if the response does not tell. */
  readonly takesPost: boolean | undefined;
}

/**
 * Finds out which paths of a server have a route, that of the URL and those that may be meant, in one of three forms:
 * `OPTIONS /hook gets 200, unlike a path without a route`; without POST, `OPTIONS /hook gets 200 (Allow: GET)`; for another
 * path, `OPTIONS /hook/ gets 200, but OPTIONS /hook gets 404`. Empty if nothing was found.
 */
export async function routesAt({ host, pathname }: URL, asked: AskedPort): Promise<string> {
  const [own, ...others] = await routesOf([pathname, ...pathsNear(pathname)], host, asked);
  if (own === undefined) return '';
  const ownText = `OPTIONS ${own.path} gets ${own.text}`;
  if (own.isRoute && own.takesPost !== false) return `${ownText}, unlike a path without a route`;
  const other = others.find(
    (each) => each.isRoute && (own.isRoute ? each.takesPost : each.takesPost !== false),
  );
  if (other !== undefined) return `OPTIONS ${other.path} gets ${other.text}, but ${ownText}`;
  return own.isRoute ? ownText : '';
}

/**
 * Asks for several paths, and for one without a route: a server that responds to this one alike, as one with CORS does, shows
 * nothing.
 */
export async function routesOf(
  paths: readonly string[],
  host: string,
  asked: AskedPort,
): Promise<readonly PathRoute[]> {
  const ask = (path: string): Promise<string> => responseInHttp(asked, `OPTIONS ${path}`, host);
  const responses = await Promise.all([NO_ROUTE, ...paths].map(ask));
  const [unknown = '', ...texts] = responses.map((text) => text.replace('http ', ''));
  return texts.map((text, index) => ({
    path: paths[index] ?? '',
    text,
    isRoute: text !== unknown && /^(?!404|429)[24]\d\d/.test(text),
    takesPost: text.includes('Allow') ? /\bPOST\b/i.test(text) : undefined,
  }));
}

/** A path for which no server has a route. */
const NO_ROUTE = '/hooks-finds-no-route-here';

/** Paths that may be meant: with or without the last slash, a prefix or a plural, or what a proxy strips. At most eight. */
function pathsNear(path: string): readonly string[] {
  const bare = path.replace(/\/+$/, '');
  if (bare === '') return ['/webhook', '/webhooks', '/hook', '/hooks', '/api/webhook', '/api/webhooks'];
  const near = [
    bare === path ? `${bare}/` : bare,
    bare.replace(/^\/[^/]+(?=\/)/, ''),
    bare.replace(/^.*(?=\/)/, ''),
    `/api${bare}`,
    bare.replace(/^(\/[^/]+)(?=\/)/, '$1$1'),
    bare.endsWith('s') ? bare.slice(0, -1) : `${bare}s`,
    bare.toLowerCase(),
    bare.replace(/[^/]/, (letter) => letter.toUpperCase()),
  ];
  return [...new Set(near)].filter((each) => each !== path);
}
