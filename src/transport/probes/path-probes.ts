import { responseInHttp, type AskedPort } from './port-speech.ts';

/** The response to `OPTIONS` for a path. It shows whether the path has a route, and the POST handler does not run. */
interface PathRoute {
  readonly path: string;
  /** The response in words: `200 (Allow: POST)`, `404`, `closed`. */
  readonly text: string;
  readonly isRoute: boolean;
  /** Whether the route takes POST. Undefined if the response has no Allow header. */
  readonly takesPost: boolean | undefined;
}

/**
 * Sends OPTIONS for the path of the URL and for paths that the user may have meant, and describes the route that was
 * found. A route for the path: `OPTIONS /hook gets 200, unlike a path without a route`. A route that does not take
 * POST: `OPTIONS /hook gets 200 (Allow: GET)`. A route for another path: `OPTIONS /hook/ gets 200, but OPTIONS /hook
 * gets 404`. Empty if no route was found.
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

/** A path with the same response as NO_ROUTE does not count as a route: a server may respond to all paths alike. */
async function routesOf(
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

const NO_ROUTE = '/hooks-finds-no-route-here';

/** Paths that the user may have meant, at most eight. */
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
