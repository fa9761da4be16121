import { nearPaths } from '../../suggest.ts';
import { askInHttp, type AskedPort } from './port-speech.ts';

/**
 * Sends OPTIONS, which does not run the POST handler, to the path of the URL and to paths that the user may have meant.
 * Describes the route found: for this path (`OPTIONS /hook gets 200, unlike a path without a route`), or for another one
 * (`OPTIONS /hook/ gets 200, but OPTIONS /hook gets 404`), or for this path without POST (`OPTIONS /hook gets 200
 * (Allow: GET)`). Empty if no route was found.
 */
export async function routesAt({ host, pathname }: URL, asked: AskedPort): Promise<string> {
  const near = nearPaths(pathname);
  const ask = async (path: string): Promise<string> =>
    (await askInHttp(asked, `OPTIONS ${path}`, host)).replace('http ', '');
  const [unknown, own = '', ...others] = await Promise.all([NO_ROUTE, pathname, ...near].map(ask));
  // A server may respond to all paths alike, so a response like that to NO_ROUTE shows no route.
  const isRoute = (text: string): boolean => text !== unknown && /^(?!404|429)[24]\d\d/.test(text);
  const ownText = `OPTIONS ${pathname} gets ${own}`;
  if (isRoute(own) && takesPost(own)) return `${ownText}, unlike a path without a route`;
  const at = others.findIndex((text) => isRoute(text) && takesPost(text));
  if (at !== -1) return `OPTIONS ${near[at]} gets ${others[at]}, but ${ownText}`;
  return isRoute(own) ? ownText : '';
}

function takesPost(text: string): boolean {
  return !text.includes('Allow') || /\bPOST\b/i.test(text);
}

const NO_ROUTE = '/hooks-finds-no-route-here';
